"""The lower bound of a rollout's makespan: no schedule under the same floors can end sooner.

For each stage between gates, begun at the bound `e` of the stage before, the maximum of
(a) max(e, r_i) + w_i over its nodes,
(b) over each domain d and each moment ρ in {e} and the r_i > e: ρ + Σ w_i of members with r_i >= ρ, over s_d,
(c) over each d and each k >= 1 with k*s + 1 <= members: e + the k + 1 shortest of the k*s + 1 longest w_i,
where w_i is what a node's verbs take after its drain (seconds, with its soak), r_i the earliest moment at which it is
free of the work it had at 0 (or its drain's deadline), and s_d the slots that the rollout may use in a domain.
Cost: n log n per domain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from fleet.model.ids import NodeId
from fleet.model.topology import Domain


@dataclass(frozen=True, slots=True)
class Work:
    """What a node costs: `takes` seconds after its drain, not before it is free at `ready` seconds."""

    node: NodeId
    takes: float
    ready: float = 0.0
    domains: tuple[Domain, ...] = ()


@dataclass(frozen=True, slots=True)
class Bound:
    """Seconds from the first permitted cordon, and what holds the end back."""

    seconds: float
    held_back_by: str


def bound(stages: Sequence[Sequence[Work]], slots: Mapping[Domain, int]) -> Bound:
    """The bound of a rollout whose stages follow each other. Domains that limit nothing are not in `slots`."""
    found = Bound(0.0, "nothing to do")
    for stage in stages:
        if stage:
            found = max(_stage(stage, slots, found.seconds), key=lambda b: b.seconds)
    return found


def _stage(stage: Sequence[Work], slots: Mapping[Domain, int], start: float) -> Iterable[Bound]:
    last = max(stage, key=lambda work: max(start, work.ready) + work.takes)
    yield Bound(max(start, last.ready) + last.takes, f"the work on {last.node}")
    members: dict[Domain, list[Work]] = {}
    for work in stage:
        for domain in work.domains:
            if domain in slots:
                members.setdefault(domain, []).append(work)
    for domain, works in members.items():
        free = max(slots[domain], 1)
        by_ready = sorted(works, key=lambda work: -work.ready)
        for work, total in zip(by_ready, accumulate(work.takes for work in by_ready), strict=True):
            if work.ready > start:
                yield Bound(work.ready + total / free, f"the budget of {domain}")
        yield Bound(start + sum(work.takes for work in works) / free, f"the budget of {domain}")
        longest = [0.0, *accumulate(sorted((work.takes for work in works), reverse=True))]
        for k in range(1, (len(works) - 1) // free + 1):
            yield Bound(start + longest[k * free + 1] - longest[k * (free - 1)], f"the budget of {domain}")
