"""A rollout in words: the plan before it, the progress of it, the report after it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from fleet.model.ids import NodeId
from fleet.model.order import Rollout
from fleet.model.plan import Held, RolloutPlan
from fleet.render.history import NodeRun
from fleet.render.reasons import shared
from fleet.render.status import of_held
from fleet.render.text import Line, Span, duration, line, paragraph, plural, table, title
from fleet.spec.nodesets import fold


def plan(found: RolloutPlan, *, width: int, earlier: str = "", measured: bool = True) -> list[Line]:
    """What a rollout would do, before anybody says yes."""
    lines = [title(f"{found.release} to pool {found.pool}"), line("")]
    waves = [
        ("canary" if number == 1 and found.canaries else "then", str(len(nodes)), fold(nodes))
        for number, nodes in enumerate(found.waves, 1)
    ]
    if found.already:
        waves.append(("already", str(len(found.already)), fold(found.already)))
    lines.extend(table(("", "nodes", ""), waves, width))
    lines.append(line(""))
    rows: list[tuple[str, Span | str]] = []
    if found.waves:
        rows += [
            ("at most out", f"{found.budget} of the pool at once"),
            ("lowest in service", f"{found.lowest}; the floor is {found.floor}"),
            ("predicted", duration(found.predicted_seconds) + ("" if measured else _UNMEASURED)),
            ("lower bound", f"{duration(found.bound_seconds)}, held back by {found.held_back_by}"),
        ]
    back = "can't go back once applied: " + ", ".join(found.irreversible) if found.irreversible else "all of it"
    rows += [("can be reverted", Span(back, "warn" if found.irreversible else ""))]
    rows += [("earlier", Span(earlier, "warn"))] if earlier else []
    rows += [("plan", found.identity)] if found.identity else []
    lines.extend(table(("", ""), rows, width))
    lines.extend(held_lines(found.held, width))
    if found.refused is not None:
        lines.append(line(""))
        text = f"refused ({found.refused.reason}): {found.refused.text}"
        lines.extend(paragraph(text, width, style="bad"))
    return lines


_UNMEASURED = ", with durations of big machines: none was measured here yet"


def plan_facts(found: RolloutPlan) -> dict[str, object]:
    """The plan as facts."""
    return {
        "pool": found.pool,
        "release": found.release,
        "plan": found.identity,
        "waves": [list(nodes) for nodes in found.waves],
        "canaries": list(found.canaries),
        "already": list(found.already),
        "budget": found.budget,
        "floor": found.floor,
        "lowest": found.lowest,
        "predicted_seconds": round(found.predicted_seconds, 1),
        "bound_seconds": round(found.bound_seconds, 1),
        "held_back_by": found.held_back_by,
        "irreversible": list(found.irreversible),
        "held": [of_held(each) for each in found.held],
        "refused": None
        if found.refused is None
        else {"reason": found.refused.reason, "names": list(found.refused.names), "text": found.refused.text},
    }


def held_lines(held: Iterable[Held], width: int, rollout: str = "") -> list[Line]:
    """Nodes that wait, grouped by what they wait for, each group with what to type next."""
    groups: dict[tuple[str, str], list[str]] = {}
    for each in held:
        groups.setdefault(shared(each, rollout), []).append(each.node)
    if not groups:
        return []
    lines = [line(""), title("held")]
    for (text, step), nodes in groups.items():
        lines.extend(paragraph(f"{fold(nodes)}: {text}", width, indent=2, style="warn"))
        if step:
            lines.append(line("      ", Span(step.replace("{node}", fold(nodes)), "bold")))
    return lines


@dataclass(frozen=True, slots=True)
class Report:
    """How a rollout ended. Seconds are None where nothing was measured."""

    result: str  # done, nothing, halted, held, interrupted
    rollout: Rollout
    runs: Mapping[NodeId, NodeRun]
    shown: Mapping[NodeId, Mapping[str, str]]
    held: Sequence[Held]
    makespan: float | None = None
    bound: float | None = None
    lowest: int | None = None
    floor: int = 0
    troubles: Sequence[str] = ()

    @property
    def steps(self) -> int:
        """Steps taken."""
        return sum(len(run.steps) for run in self.runs.values())


_RESULTS = {
    "done": ("done: every node is on the release", "good"),
    "nothing": ("nothing to do: every node is on the release already", "good"),
    "halted": ("halted", "bad"),
    "held": ("held: what is left waits for people", "warn"),
    "interrupted": ("interrupted; the state is safe", "warn"),
}


def report(found: Report, *, width: int) -> list[Line]:
    """The last word of `fleet upgrade`."""
    text, style = _RESULTS[found.result]
    rollout = found.rollout
    lines = [line(Span(f"{rollout.release} to pool {rollout.pool}: ", "bold"), Span(text, style))]
    if rollout.why and found.result == "halted":
        lines.extend(paragraph(rollout.why, width, indent=2, style="bad"))
    rows = [_row(node, found.runs[node], found.shown.get(node, {}), found.held) for node in sorted(found.runs)]
    if rows:
        lines += [line(""), *table(("node", "took", "of it work", "steps", "shows", ""), rows, width)]
    lines += [line(""), *table(("", ""), list(_figures(found)), width)]
    lines += held_lines(found.held, width, rollout.id)
    if found.result in {"halted", "held", "interrupted"}:
        lines += [line(""), line("go on with: ", Span(again(rollout, found.result), "bold"))]
    return lines


def again(rollout: Rollout, result: str) -> str:
    """What to type to go on."""
    if result == "halted" and rollout.state == "halted":
        return f"fleet rollout resume {rollout.id}   (or abort)"
    if result == "halted" and rollout.state == "reverted":
        return f"fleet rollout resume {rollout.id}   (tries it again), or declare another release"
    if result == "halted" and rollout.state == "paused":
        return f"fleet rollout resume {rollout.id}"
    return f"fleet upgrade --rolling {rollout.pool}"


def _row(node: str, run: NodeRun, shown: Mapping[str, str], held: Sequence[Held]) -> tuple[str | Span, ...]:
    span = (run.opened - run.began).total_seconds() if run.opened and run.began else None
    versions = " ".join(f"{part} {version}" for part, version in shown.items())
    waits = any(each.node == node for each in held)
    if run.good is None:
        end = Span("held" if waits else "open", "warn")
    else:
        end = Span("served again" if run.good else run.why, "good" if run.good else "bad")
    took = duration(span) if span is not None else "-"
    return node, took, duration(run.worked), str(len(run.steps)), versions or "-", end


def _figures(found: Report) -> Iterable[tuple[str, str | Span]]:
    if found.makespan is not None:
        text = duration(found.makespan)
        if found.bound:
            text += f"; no schedule could be under {duration(found.bound)} ({found.makespan / found.bound:.2f} times)"
        yield "makespan", text
    yield "steps", plural(found.steps, "step")
    if found.lowest is not None:
        style = "bad" if found.lowest < found.floor else ""
        yield "lowest in service", Span(f"{found.lowest}; the floor is {found.floor}", style)
    for trouble in dict.fromkeys(found.troubles):
        yield "trouble on the way", Span(trouble, "warn")


def report_facts(found: Report) -> dict[str, object]:
    """The report as facts."""

    def text(at: datetime | None) -> str | None:
        return at.isoformat() if at is not None else None

    nodes = {
        node: {
            "began": text(run.began),
            "served_again": text(run.opened),
            "work_seconds": round(run.worked, 1),
            "good": run.good,
            "why": run.why,
            "steps": [
                {"verb": step.verb, "result": step.result, "seconds": round(step.seconds, 1), "detail": step.detail}
                for step in run.steps
            ],
            "shows": dict(found.shown.get(node, {})),
        }
        for node, run in found.runs.items()
    }
    return {
        "result": found.result,
        "rollout": found.rollout.id,
        "state": found.rollout.state,
        "why": found.rollout.why,
        "pool": found.rollout.pool,
        "release": found.rollout.release,
        "canaries": list(found.rollout.canaries),
        "failed": list(found.rollout.failed),
        "nodes": nodes,
        "steps": found.steps,
        "makespan_seconds": None if found.makespan is None else round(found.makespan, 1),
        "bound_seconds": None if found.bound is None else round(found.bound, 1),
        "lowest": found.lowest,
        "floor": found.floor,
        "held": [of_held(each) for each in found.held],
        "go_on_with": again(found.rollout, found.result) if found.result not in {"done", "nothing"} else "",
    }
