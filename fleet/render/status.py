"""The fleet at a glance: pools, racks, phases, who eats the budget, and what needs a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import tzinfo

from fleet.model.ids import Because, NodeId, Phase, PoolId
from fleet.model.observation import Observed
from fleet.model.order import RolloutState
from fleet.model.plan import Held
from fleet.model.topology import Declared
from fleet.planning.wants import rollouts_by_node
from fleet.render.reasons import for_person, shared, words
from fleet.render.standing import Standing, of_pools
from fleet.render.text import Line, Span, duration, line, moment, paragraph, plural, table, title
from fleet.spec.nodesets import fold

MOST_RACKS = 24
MOST_ROWS = 40
_STYLES = {Phase.SERVING: "good", Phase.AWAITING_HANDS: "bad", Phase.ENROLLING: "dim", Phase.RETIRED: "dim"}


def status(
    declared: Declared,
    observed: Observed,
    found: Mapping[NodeId, Standing],
    *,
    width: int,
    zone: tzinfo | None = None,
    notes: Sequence[str] = (),
) -> list[Line]:
    """What `fleet status` prints of these standings."""
    lines = [
        line(Span(f"site {declared.site}", "bold"), f"  {moment(observed.at, observed.at, zone)}"),
        *(line(Span(f"  {note}", "warn")) for note in notes),
        *_pools(declared, found.values(), width),
        *_rollouts(declared, observed, found),
        *_racks(found.values(), width),
        *_out(observed, found.values(), width),
        *_people(observed, width, zone),
        *_gaps(observed, width),
    ]
    return [*lines, line(""), *needs_you(declared, observed, found.values(), width)]


def _pools(declared: Declared, found: Iterable[Standing], width: int) -> list[Line]:
    found = list(found)
    retired = Counter(each.pool for each in found if each.phase is Phase.RETIRED)
    rows = []
    whole = Counter(node.pool for node in declared.nodes.values())
    for pool, members in of_pools(found).items():
        policy, size = declared.pools[PoolId(pool)].policy, len(members)
        if size < whole[PoolId(pool)] - retired[pool]:
            continue  # figures of a pool are of all of it
        serving = sum(not each.out for each in members)
        budget, floor = policy.budget.get("pool"), policy.floor.get("pool")
        most = str(budget.as_budget(size, at_least_one=policy.at_least_one)) if budget else "-"
        least = str(floor.as_floor(size)) if floor else "-"
        low = floor is not None and serving < floor.as_floor(size)
        releases = Counter(str(each.applied or "?") for each in members)
        rows.append(
            (
                pool,
                Span(f"{serving}/{size}", "bad" if low else "good" if serving == size else "warn"),
                least,
                f"{size - serving}/{most}",
                str(declared.pools[PoolId(pool)].release),
                ", ".join(f"{count} on {name}" for name, count in releases.most_common()),
            )
        )
    if not rows:
        return []
    return [line(""), *table(("pool", "serve", "floor", "out", "declared", "applied"), rows, width)]


def _rollouts(declared: Declared, observed: Observed, found: Mapping[NodeId, Standing]) -> list[Line]:
    current = {rollout.id: rollout for rollout in rollouts_by_node(declared, observed).values()}
    lines = []
    for rollout in current.values():
        if not any(node in found for node in rollout.nodes):
            continue
        style = "bad" if rollout.state is RolloutState.HALTED else ""
        text = f"{rollout.id}: {rollout.release} to {rollout.pool}, {rollout.state}"
        counts = f"{len(rollout.passed)} of {len(rollout.nodes)} done"
        failed = f", failed {fold(rollout.failed)}" if rollout.failed else ""
        lines.append(line("  ", Span(f"{text}, {counts}{failed}", style)))
    return [line(""), title("rollouts"), *lines] if lines else []


def _racks(found: Iterable[Standing], width: int) -> list[Line]:
    racks: dict[str, list[Standing]] = {}
    for each in found:
        racks.setdefault(each.rack or "-", []).append(each)
    phases = [phase for phase in Phase if any(each.phase is phase for members in racks.values() for each in members)]
    rows: list[tuple[str | Span, ...]] = []
    quiet = [rack for rack, members in racks.items() if all(each.phase is Phase.SERVING for each in members)]
    if len(racks) > MOST_RACKS and quiet:
        count = sum(len(racks.pop(rack)) for rack in quiet)
        rows.append((f"{len(quiet)} racks", Span(str(Phase.SERVING), "good"), str(count), "all of each"))
    for rack, members in sorted(racks.items()):
        for phase in phases:
            names = [each.node for each in members if each.phase is phase]
            if names:
                rows.append((rack, Span(str(phase), _STYLES.get(phase, "warn")), str(len(names)), fold(names)))
                rack = ""
    return [line(""), *table(("rack", "phase", "nodes", ""), rows, width)]


def _out(observed: Observed, found: Iterable[Standing], width: int) -> list[Line]:
    rows = [
        (each.node, each.purpose or "-", doing(each), Span(_lasts(observed, each), "dim"), reason(each))
        for each in found
        if (each.out and each.phase is not Phase.RETIRED) or each.order is not None
    ]
    if not rows:
        return []
    more = len(rows) - MOST_ROWS
    lines = [line(""), title("out of service, or on their way")]
    lines += table(("", "", "", "", ""), rows[:MOST_ROWS], width)
    return [*lines, line(f"  and {more} more: name them, as in fleet status @phase:cordoned")] if more > 0 else lines


def doing(each: Standing) -> str:
    """The verb that runs, or the phase."""
    return str(each.verb) if each.verb is not None else str(each.phase)


def reason(each: Standing) -> str:
    """Why it stands there, in words."""
    if each.held is not None and each.held.reason is not Because.ORDER_OPEN:
        return words(each.held)
    if each.order is not None:
        return str(each.order.id)
    return each.out


def _lasts(observed: Observed, each: Standing) -> str:
    return duration((observed.at - each.since).total_seconds()) if each.since is not None else ""


def _people(observed: Observed, width: int, zone: tzinfo | None) -> list[Line]:
    rows = [
        (
            hold.kind,
            fold(hold.nodes) if hold.nodes else "all",
            hold.by,
            f"since {moment(hold.since, observed.at, zone)}: {hold.reason or 'no reason given'}",
        )
        for hold in observed.records.holds
    ]
    return [line(""), title("people have said"), *table(("", "", "", ""), rows, width)] if rows else []


def _gaps(observed: Observed, width: int) -> list[Line]:
    rows: dict[str, list[str]] = {}
    for seen in observed.nodes.values():
        for gap in seen.gaps:
            rows.setdefault(f"{gap.what}: {gap.why}", []).append(seen.id)
    fleet_wide = [("all", f"{gap.what}: {gap.why}") for gap in observed.gaps]
    cells = [*fleet_wide, *((fold(names), text) for text, names in rows.items())]
    return [line(""), title("could not be seen"), *table(("", ""), cells, width)] if cells else []


def needs(declared: Declared, observed: Observed, found: Iterable[Standing]) -> list[tuple[tuple[str, ...], str, str]]:
    """What only a person can move on: nodes, why, and the command. Nodes with the same need stand together."""
    rollouts = rollouts_by_node(declared, observed)
    needed: dict[tuple[str, str], list[str]] = {}
    for each in found:
        held = each.held
        if held is None or not (for_person(held) or held.reason is Because.OUT_OF_REACH):
            continue
        rollout = rollouts.get(each.node)
        needed.setdefault(shared(held, rollout.id if rollout is not None else ""), []).append(each.node)
    for rollout in rollouts.values():
        if rollout.state is RolloutState.HALTED:
            key = (f"{rollout.id} has halted: {rollout.why}", f"fleet rollout resume {rollout.id}   (or abort)")
            needed.setdefault(key, list(rollout.failed))
    if observed.records.observe_only:
        needed.setdefault((observed.records.observe_only, "fleet trail verify"), [])
    return [(tuple(nodes), text, step.replace("{node}", fold(nodes))) for (text, step), nodes in needed.items()]


def needs_you(declared: Declared, observed: Observed, found: Iterable[Standing], width: int) -> list[Line]:
    """The last part of `fleet status`."""
    needed = needs(declared, observed, list(found))
    if not needed:
        return [line(Span("Needs you", "bold"), ": nothing")]
    lines: list[Line] = [title("Needs you")]
    for nodes, text, step in needed:
        who = f"{fold(nodes)}: " if nodes else ""
        lines.extend(paragraph(f"{who}{text}", width, indent=2, style="warn"))
        if step:
            lines.append(line("      ", Span(step, "bold")))
    return lines


def facts(
    declared: Declared, observed: Observed, found: Mapping[NodeId, Standing], notes: Sequence[str] = ()
) -> dict[str, object]:
    """The same as facts, for `--json`."""
    nodes = {node: of_node(each) for node, each in found.items()}
    needed = [
        {"nodes": list(names), "why": text, "command": step}
        for names, text, step in needs(declared, observed, found.values())
    ]
    pools = {
        pool: {
            "declared": str(declared.pools[PoolId(pool)].release),
            "members": len(members),
            "serving": sum(not each.out for each in members),
        }
        for pool, members in of_pools(found.values()).items()
    }
    return {
        "site": declared.site,
        "at": observed.at.isoformat(),
        "pools": pools,
        "nodes": nodes,
        "needs_you": needed,
        "summary": plural(len(nodes), "node"),
        "notes": list(notes),
    }


def of_node(each: Standing) -> dict[str, object]:
    """One node as facts."""
    return {
        "pool": each.pool,
        "rack": each.rack,
        "phase": str(each.phase),
        "in_service": not each.out,
        "out_because": each.out,
        "applied": each.applied,
        "declared": each.target,
        "purpose": each.purpose,
        "order": each.order.id if each.order is not None else None,
        "verb": each.verb,
        "since": each.since.isoformat() if each.since is not None else None,
        "held": of_held(each.held) if each.held is not None else None,
        "jobs": list(each.work),
        "gaps": list(each.gaps),
    }


def of_held(held: Held) -> dict[str, object]:
    """A hold as facts."""
    return {
        "node": held.node,
        "purpose": held.purpose,
        "reason": held.reason,
        "names": list(held.names),
        "text": held.text,
        "words": words(held),
    }
