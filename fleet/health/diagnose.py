"""Signals become cases: one open case per node, with its causes, worst severity and evidence.

Evidence from before the node was last proven fit is history. While a verb of ours runs that takes devices away (a
driver reload, a reboot, a flash), nothing on that node is judged; a condition that stands when the verb has ended is.
A case without an order closes when its evidence is gone; one whose causes policy lets go by themselves (`recover`)
closes when they have stayed away for so long, counted from the last time they were seen. Between the work on a canary
and the verify that follows it no case opens: verify is the judge of a release.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from fleet.lifecycle.fold import last_index, verified
from fleet.lifecycle.table import BLINDING, DISRUPTIVE
from fleet.model.health import Case, Severity, Signal
from fleet.model.ids import CaseId, Purpose
from fleet.model.observation import Enrolment, NodeSeen, Observed
from fleet.model.order import WorkOrder
from fleet.model.plan import CaseMoved
from fleet.model.policy import Policy
from fleet.model.topology import Declared, DeclaredNode

_RANK = {Severity.WATCH: 0, Severity.DEGRADED: 1, Severity.FATAL: 2}
_MOST_EVIDENCE = 20
_FRESHNESS = timedelta(minutes=1)


def diagnose(declared: Declared, observed: Observed) -> tuple[CaseMoved, ...]:
    """Cases that open, gain evidence or close in this pass."""
    moved: list[CaseMoved] = []
    records = observed.records
    for name, seen in observed.nodes.items():
        case = records.cases.get(name)
        node = declared.nodes.get(name)
        if node is None or (case is None and not seen.signals and not _short(node, seen)):
            continue
        enrolled, order = records.enrolled.get(name), records.orders.get(name)
        if enrolled is None or enrolled.retired or _blinded(order) or (case is None and _on_trial(order)):
            continue
        signals = [signal for signal in _evidence(node, seen, observed) if _counts(signal, order, enrolled)]
        found = _judge(observed, case, signals, seen) or _over(
            observed, case, signals, seen, order, declared.pools[node.pool].policy
        )
        if found is not None:
            moved.append(found)
    return tuple(moved)


def _short(node: DeclaredNode, seen: NodeSeen) -> bool:
    """Whether accelerators are missing: the absence of an error is not health."""
    return seen.accelerators is not None and seen.accelerators < node.accelerators


def _evidence(node: DeclaredNode, seen: NodeSeen, observed: Observed) -> Iterator[Signal]:
    yield from seen.signals
    if _short(node, seen):
        text = f"{seen.accelerators} of {node.accelerators} accelerators answer"
        yield Signal(node.id, "device_missing", Severity.FATAL, observed.at, text=text, source="count")


def _blinded(order: WorkOrder | None) -> bool:
    return order is not None and order.running is not None and order.running.verb in BLINDING


def _on_trial(order: WorkOrder | None) -> bool:
    """Whether a canary's verify is about to judge what the release made of it: then no case opens.

    What a release breaks goes back with the release; what is still broken on the release before is a case.
    """
    if order is None or not order.canary or order.reverting or order.purpose is not Purpose.UPGRADE:
        return False
    return last_index(order, DISRUPTIVE) >= 0 and verified(order) is None


def _counts(signal: Signal, order: WorkOrder | None, enrolled: Enrolment) -> bool:
    """Whether a signal says something about the node as it is now."""
    if enrolled.fit_since is not None and signal.at <= enrolled.fit_since:
        return False
    if signal.standing or order is None:
        return True
    ours = (step for step in order.steps if step.verb in BLINDING)
    return not any(step.began <= signal.at and (step.ended is None or signal.at <= step.ended) for step in ours)


def _judge(observed: Observed, case: Case | None, signals: list[Signal], seen: NodeSeen) -> CaseMoved | None:
    at = observed.at
    if case is not None and not case.open:
        signals = [signal for signal in signals if case.closed is not None and signal.at > case.closed]
        case = None
    known = set(case.causes) if case is not None else set()
    telling = [signal for signal in signals if signal.severity is not Severity.WATCH]
    if not telling:
        return None
    causes = tuple(dict.fromkeys(signal.what for signal in telling))
    worst = max((signal.severity for signal in telling), key=_RANK.__getitem__)
    evidence = tuple(dict.fromkeys(f"{s.at:%Y-%m-%d %H:%M:%S} {s.source}: {s.text or s.what}" for s in telling))
    if case is None:
        name = CaseId(f"case-{seen.id}-{at:%y%m%dT%H%M%S}")
        device = next((signal.device for signal in telling if signal.device), "")
        opened = Case(name, seen.id, causes, worst, at, max(s.at for s in telling), device, evidence[:_MOST_EVIDENCE])
        return CaseMoved(opened, f"{worst}: {', '.join(causes)}")
    fresh = [signal for signal in telling if signal.what not in known or not signal.standing]
    last = max([case.last_seen, *(signal.at for signal in fresh)])
    joined = tuple(dict.fromkeys((*case.evidence, *evidence)))[:_MOST_EVIDENCE]
    grown = replace(
        case,
        causes=tuple(dict.fromkeys((*case.causes, *causes))),
        severity=max(case.severity, worst, key=_RANK.__getitem__),
        last_seen=last,
        evidence=joined if last > case.last_seen else case.evidence,
    )
    return None if grown == case else CaseMoved(grown, "more evidence")


def _over(
    observed: Observed,
    case: Case | None,
    signals: list[Signal],
    seen: NodeSeen,
    order: WorkOrder | None,
    policy: Policy,
) -> CaseMoved | None:
    """Whether an open case is over by itself. What can't be seen doesn't end it."""
    if case is None or not case.open or seen.reachable is not True or case.overruled is not None:
        return None
    present = {signal.what for signal in signals} & set(case.causes)
    if policy.recover and all(cause in policy.recover for cause in case.causes):
        if present:
            stale = observed.at - case.last_seen >= _FRESHNESS
            return CaseMoved(replace(case, last_seen=observed.at), "still there") if stale else None
        quiet = max(policy.recover[cause] for cause in case.causes)
        if observed.at - case.last_seen < quiet:
            return None
        return CaseMoved(replace(case, closed=observed.at), f"gone for {quiet}")
    if present or order is not None:
        return None
    return CaseMoved(replace(case, closed=observed.at), "its evidence is gone, and nothing was done about it")
