"""A rollout, a retirement or any work while it goes on: the picture of now, and what changed since the pass before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from fleet.model.ids import NodeId, Phase
from fleet.render.reasons import MEANINGS, words
from fleet.render.standing import Standing
from fleet.render.status import doing, reason
from fleet.render.text import Line, Span, duration, line, plural, table
from fleet.spec.nodesets import fold

MOST_ROWS = 16


def picture(found: Mapping[NodeId, Standing], at: datetime, seconds: float, width: int) -> list[Line]:
    """Who is worked on, how long, and why the others wait."""
    counts = Counter(each.phase for each in found.values())
    summary = ", ".join(f"{count} {phase}" for phase, count in sorted(counts.items(), key=lambda item: item[0]))
    done = sum(each.applied == each.target and each.order is None and not each.out for each in found.values())
    lines = [line(Span(f"{duration(seconds)}  ", "bold"), f"{done} of {plural(len(found), 'node')} done: {summary}")]
    busy = [each for each in found.values() if each.order is not None or each.verb is not None]
    rows = [(each.node, Span(doing(each), _style(each)), _since(each, at), _towards(each)) for each in busy[:MOST_ROWS]]
    lines.extend(table(("", "", "", ""), rows, width))
    if len(busy) > MOST_ROWS:
        lines.append(line(f"  and {len(busy) - MOST_ROWS} more"))
    lines.extend(table(("", ""), _waiting(found.values()), width))
    return lines


def _towards(each: Standing) -> str:
    if each.verb is None or each.order is None:
        return reason(each)
    back = ", going back" if each.order.reverting else ""
    return f"{each.purpose} to {each.order.release}{back}" if each.order.release else f"{each.purpose}{back}"


def _waiting(found: Iterable[Standing]) -> list[tuple[str, str | Span]]:
    groups: dict[str, list[str]] = {}
    for each in found:
        if each.order is None and each.held is not None:
            groups.setdefault(words(each.held), []).append(each.node)
    return [(fold(nodes), Span(text, "dim")) for text, nodes in groups.items()]


def _style(each: Standing) -> str:
    if each.phase is Phase.AWAITING_HANDS:
        return "bad"
    return "good" if each.verb is not None else "warn"


def _since(each: Standing, at: datetime) -> str:
    return duration((at - each.since).total_seconds()) if each.since is not None else ""


def changes(
    before: Mapping[NodeId, Standing], after: Mapping[NodeId, Standing], concerned: Collection[NodeId], at: datetime
) -> list[Line]:
    """One line per node whose verb, phase or reason is another one than in the pass before."""
    wanted = set(concerned)
    told: dict[tuple[str, str], list[str]] = {}
    for node, each in after.items():
        if node not in wanted or _key(before.get(node)) == _key(each):
            continue
        if each.order is None or each.verb is not None or each.held is not None:  # else it closes in this pass
            told.setdefault(_says(before.get(node), each, at), []).append(node)
    return [line(f"{fold(nodes)}: ", Span(text, style)) for (text, style), nodes in told.items()]


def _key(each: Standing | None) -> tuple[object, ...]:
    if each is None:
        return ()
    reverting = each.order is not None and each.order.reverting
    if each.verb is not None:
        return each.verb, reverting
    return each.phase, each.verb, each.held.reason if each.held is not None else None, reverting


def _says(before: Standing | None, each: Standing, at: datetime) -> tuple[str, str]:
    if each.verb is not None:
        back = ", going back" if each.order is not None and each.order.reverting else ""
        return f"{each.verb} ({each.purpose}{back})", ""
    if each.held is not None:
        since = f" for {_since(each, at)}" if each.order is not None and _since(each, at) else ""
        style = "warn" if MEANINGS[each.held.reason].person else "dim"
        return f"{each.phase}{since}; {words(each.held)}", style
    if before is not None and before.order is not None and each.order is None:
        return f"{each.phase}, on {each.applied}", "good"
    return str(each.phase), ""
