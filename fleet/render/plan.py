"""One pass's plan in words: steps by verb, changes, and who waits for what."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fleet.model.ids import NodeId
from fleet.model.observation import Observed
from fleet.model.plan import OrderOpened, Plan
from fleet.model.topology import Declared
from fleet.planning.wants import rollouts_by_node
from fleet.render.rollout import held_lines
from fleet.render.status import of_held
from fleet.render.text import Line, Span, line, table, title
from fleet.spec.nodesets import fold


def plan(declared: Declared, observed: Observed, decided: Plan, nodes: Collection[NodeId], *, width: int) -> list[Line]:
    """What `fleet plan` prints."""
    groups: dict[tuple[str, str, str, str], list[str]] = {}
    whys = {change.order: change.why for change in decided.changes if isinstance(change, OrderOpened)}
    for step in decided.steps:
        if step.node in nodes:
            key = (str(step.verb), str(step.purpose), str(step.release or ""), step.why or whys.get(step.order, ""))
            groups.setdefault(key, []).append(step.node)
    rows = [
        (Span(verb, "bold"), fold(names), purpose, release, why)
        for (verb, purpose, release, why), names in groups.items()
    ]
    lines = [title("now")]
    lines += table(("verb", "nodes", "purpose", "release", "why"), rows, width) or [line("  nothing")]
    held = [each for each in decided.held if each.node in nodes]
    rollouts = {rollout.id for rollout in rollouts_by_node(declared, observed).values()}
    lines += held_lines(held, width, next(iter(rollouts)) if len(rollouts) == 1 else "")
    if decided.out:
        lines += [line(""), title("out of service, by domain")]
        lines += table(("", ""), [(domain, str(count)) for domain, count in sorted(decided.out.items())], width)
    lines += [line(f"  note: {note}") for note in decided.notes]
    return lines


def facts(decided: Plan, nodes: Collection[NodeId]) -> Mapping[str, object]:
    """The plan as facts."""
    steps = [
        {
            "node": step.node,
            "verb": step.verb,
            "purpose": step.purpose,
            "release": step.release,
            "order": step.order,
            "force": step.force,
            "why": step.why,
        }
        for step in decided.steps
        if step.node in nodes
    ]
    return {
        "at": decided.at.isoformat(),
        "steps": steps,
        "held": [of_held(each) for each in decided.held if each.node in nodes],
        "out": dict(decided.out),
    }
