"""One node, or one pool, explained to somebody who was woken up: where it stands, why, since when, what to type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo

from fleet.model.ids import NodeId, Phase
from fleet.model.observation import Observed
from fleet.model.topology import Declared
from fleet.model.trail import TrailEntry
from fleet.planning.wants import rollouts_by_node
from fleet.render.history import sentence
from fleet.render.reasons import next_step, words
from fleet.render.standing import Standing
from fleet.render.status import of_node
from fleet.render.text import Cell, Line, Span, duration, line, moment, table, title
from fleet.spec.nodesets import fold

PHASES: Mapping[Phase, str] = {
    Phase.ENROLLING: "it has not served yet",
    Phase.SERVING: "it is in service",
    Phase.CORDONED: "no new work comes to it; what runs there may end",
    Phase.DRAINED: "it is closed and empty",
    Phase.CONVERGING: "it is being brought to its release",
    Phase.REPAIRING: "a remedy is being tried on it",
    Phase.VERIFYING: "it must prove that it is fit before it serves",
    Phase.SOAKING: "it is a canary that is being watched",
    Phase.AWAITING_HANDS: "it waits for a person to work on it",
    Phase.RETIRING: "it is being retired",
    Phase.RETIRED: "it is retired and will not return",
}


def node_lines(
    declared: Declared,
    observed: Observed,
    each: Standing,
    trail: Sequence[TrailEntry],
    *,
    width: int,
    zone: tzinfo | None,
    blank: bool = False,
) -> list[Line]:
    """What `fleet why NODE` prints."""
    lines = [line("")] if blank else []
    style = "good" if each.phase is Phase.SERVING else "warn"
    lines.append(line(Span(f"{each.node} is {each.phase}", "bold"), ": ", Span(PHASES[each.phase], style)))
    lines += table(("", ""), _facts(declared, observed, each, zone), width)
    lines += [line(""), title("how it came to this")]
    rows = [(moment(e.at, observed.at, zone), e.who.split(":")[0] or "fleet", sentence(e)) for e in trail]
    return lines + (table(("", "", ""), rows, width) or [line("  the trail holds nothing about it")])


def _facts(declared: Declared, observed: Observed, each: Standing, zone: tzinfo | None) -> list[tuple[str, Cell]]:
    seen, node = observed.nodes.get(each.node), declared.nodes[each.node]
    rows: list[tuple[str, Cell]] = [("declared", f"{node.disposition} in {each.pool}, rack {each.rack}, {each.target}")]
    if each.out and each.phase is not Phase.RETIRED:
        rows.append(("out of service", each.out))
    if each.order is not None:
        age = duration((observed.at - each.order.opened).total_seconds())
        rows.append(("work order", f"{each.order.id}: {each.order.purpose}, open for {age}"))
    if each.verb is not None:
        since = f" since {moment(each.since, observed.at, zone)}" if each.since is not None and each.order else ""
        rows.append(("now", f"{each.verb}{since}"))
    if each.held is not None:
        rows.append(("waits", Span(words(each.held), "warn")))
        rollout = rollouts_by_node(declared, observed).get(each.node)
        step = next_step(each.held, rollout.id if rollout is not None else "")
        rows += [("to go on", Span(step, "bold"))] if step else []
    case = observed.records.cases.get(each.node)
    if case is not None:
        rows.append(
            (
                "case",
                Span(
                    f"{case.severity}: {', '.join(case.causes)} since {moment(case.opened, observed.at, zone)}", "bad"
                ),
            )
        )
        rows += [("evidence", text) for text in case.evidence[-3:]]
    if each.work:
        rows.append(("jobs on it", ", ".join(each.work)))
    if seen is not None:
        shown = ", ".join(f"{part} {version}" for part, version in seen.shown.items())
        rows += [("it shows", shown)] if shown else []
        rows += [("could not see", Span(f"{gap.what}: {gap.why}", "warn")) for gap in seen.gaps]
    rows.append(("applied", str(each.applied or "nothing that is known")))
    enrolled = observed.records.enrolled.get(each.node)
    if enrolled is not None and enrolled.certificate:
        rows.append(("certificate", enrolled.certificate))
    return rows


def pool_lines(
    observed: Observed, found: Mapping[NodeId, Standing], pool: str, *, width: int, blank: bool
) -> list[Line]:
    """What `fleet why POOL` prints: who is where, and what holds the pool up."""
    members = [each for each in found.values() if each.pool == pool]
    serving = [each for each in members if not each.out]
    lines = [line("")] if blank else []
    lines.append(title(f"pool {pool}: {len(serving)} of {len(members)} serve"))
    phases: dict[str, list[str]] = {}
    waits: dict[str, list[str]] = {}
    for each in members:
        phases.setdefault(str(each.phase), []).append(each.node)
        if each.held is not None:
            waits.setdefault(words(each.held), []).append(each.node)
        elif each.out and each.order is None:
            waits.setdefault(f"out: {each.out}", []).append(each.node)
    lines += table(("", ""), [(phase, fold(nodes)) for phase, nodes in phases.items()], width)
    for rollout in observed.records.rollouts.values():
        if rollout.pool == pool:
            text = (
                f"{rollout.id} of {rollout.release}: {rollout.state}, {len(rollout.passed)}/{len(rollout.nodes)} done"
            )
            lines += table(("", ""), [("rollout", f"{text}; {rollout.why}")], width)
    if waits:
        lines += [line(""), title("what it waits for")]
        lines += table(("", ""), [(fold(nodes), text) for text, nodes in waits.items()], width)
    return lines


def facts(
    declared: Declared,
    observed: Observed,
    found: Mapping[NodeId, Standing],
    nodes: Sequence[NodeId],
    pools: Sequence[str],
    trails: Mapping[NodeId, Sequence[TrailEntry]],
) -> dict[str, object]:
    """The same as facts."""
    return {
        "at": observed.at.isoformat(),
        "pools": {
            pool: {each.node: of_node(each) for each in found.values() if each.pool == pool}
            for pool in pools
            if pool in declared.pools
        },
        "nodes": {
            node: {
                **of_node(found[node]),
                "trail": [
                    {
                        "seq": entry.seq,
                        "at": entry.at.isoformat(),
                        "who": entry.who,
                        "order": entry.order,
                        "what": entry.what,
                        "why": entry.why,
                        "words": sentence(entry),
                        "detail": dict(entry.detail),
                    }
                    for entry in trails[node]
                ],
            }
            for node in nodes
        },
    }
