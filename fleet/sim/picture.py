"""A roll as text: nodes over time where they fit on a screen, nodes out over time where they don't, and a summary."""

from __future__ import annotations

from collections.abc import Sequence

from fleet.model.ids import NodeId
from fleet.render.text import Line, Span, duration, line, plural, title
from fleet.sim.roll import Rolled

ROWS = 24
HEIGHT = 8
STYLES = {".": "dim", "d": "warn", "w": "warn", "x": "bad", "v": "good"}
LEGEND = ". serves  d emptied  c converges  f flashes  r boots  v verifies  w waits  x gone"


def picture(rolled: Rolled, width: int) -> list[Line]:
    """The roll over time."""
    if not rolled.picture:
        return []
    columns = max(width - 14, 20)
    looks = _columns(rolled, columns)
    if len(rolled.nodes) <= ROWS:
        lines = [_row(node, [look[node] for look in looks]) for node in rolled.nodes]
        lines.append((Span(f"  {LEGEND}", "dim"),))
    else:
        lines = _chart(rolled, looks)
    scale = f"{'':10}0{duration(rolled.seconds):>{max(len(looks) - 1, 1)}}"
    return [*lines[:-1], line(scale), lines[-1]]


def _columns(rolled: Rolled, columns: int) -> list[dict[NodeId, str]]:
    """The picture that was taken last before each column's moment."""
    taken = rolled.picture
    end = max(rolled.seconds, taken[-1][0], 1.0)
    count = min(columns, max(len(taken), 2))
    found, place = [], 0
    for column in range(count):
        moment = end * (column + 0.5) / count
        while place + 1 < len(taken) and taken[place + 1][0] <= moment:
            place += 1
        found.append(taken[place][1])
    return found


def _row(node: NodeId, letters: Sequence[str]) -> Line:
    spans, start = [Span(f"  {node:<8}")], 0
    for index in range(1, len(letters) + 1):
        if index == len(letters) or letters[index] != letters[start]:
            spans.append(Span("".join(letters[start:index]), STYLES.get(letters[start], "")))
            start = index
    return tuple(spans)


def _chart(rolled: Rolled, looks: Sequence[dict[NodeId, str]]) -> list[Line]:
    """How many nodes are out, against the budget."""
    out = [sum(letter != "." for letter in look.values()) for look in looks]
    most = max(max(out), min(rolled.plan.budget, len(rolled.nodes)), 1)
    lines = []
    height = min(HEIGHT, most)
    for level in range(height, 0, -1):
        least = most * (level - 0.5) / height
        mark = f"{most:>6} |" if level == height else f"{'':6} |"
        lines.append(line(f"  {mark} " + "".join("#" if count >= least else " " for count in out)))
    lines.append((Span(f"  nodes out of service; the budget allows {rolled.plan.budget}", "dim"),))
    return lines


def summary(rolled: Rolled) -> list[Line]:
    """What became of it, in figures."""
    ask, plan = rolled.ask, rolled.plan
    if plan.refused is not None:
        return [line(Span("refused ", "bad"), f"{plan.refused.reason}: {plan.refused.text}")]
    count = len(rolled.nodes)
    good = rolled.ended_well
    state = Span(str(rolled.state), "good" if good else "bad")
    known = good and rolled.bound_seconds > 0 and not ask.crash  # steps that are done again are in the bound's costs
    ratio = f" ({rolled.seconds / rolled.bound_seconds:.2f} times the lower bound)" if known else ""
    jobs = rolled.jobs
    lines = [
        title(f"{plural(count, 'simulated node')} of pool {ask.pool} to {ask.release}, seed {ask.seed}"),
        line("  rollout    ", state, f" after {duration(rolled.seconds)} of simulated time{ratio}"),
        line(f"  release    on {rolled.on_release} of {count} nodes, {rolled.in_service} in service"),
        line(
            f"  capacity   lowest {rolled.lowest} in service after {duration(rolled.lowest_at)}; floor {plan.floor},"
            f" budget {plan.budget}"
        ),
        line(
            f"  jobs       {sum(jobs[state] for state in ('finished', 'running', 'queued', 'failed'))} submitted,"
            f" {jobs['finished']} finished, {jobs['killed']} killed, {jobs['requeued']} requeued"
        ),
        line(
            f"  steps      {sum(rolled.steps.values())} in {plural(rolled.passes, 'pass', 'passes')};"
            f" no node rebooted more than {plural(rolled.most_reboots, 'time')}"
        ),
    ]
    if rolled.crashes:
        lines.append(line(f"  crashes    the controller died {plural(rolled.crashes, 'time')} and went on"))
    for text in rolled.broken[:5]:
        lines.append(line(Span("  BROKEN     ", "bad"), text))
    for held in rolled.held[:5]:
        lines.append(line(Span("  held       ", "warn"), f"{held.node}: {held.reason} {held.text}"))
    return lines
