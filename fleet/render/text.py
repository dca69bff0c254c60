"""Lines, spans and tables: text with named styles, and no colour of its own.

A `Line` is a tuple of spans; who prints it turns styles into colours where there is a terminal. Widths are counted in
characters. Durations are said as a person says them, moments in the zone that is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from textwrap import wrap as wrapped


@dataclass(frozen=True, slots=True)
class Span:
    """Text in one style: `bold`, `dim`, `good`, `warn`, `bad`, or none."""

    text: str
    style: str = ""


Line = tuple[Span, ...]
Cell = str | Span


def line(*parts: Cell) -> Line:
    """One line of spans; plain text has no style."""
    return tuple(part if isinstance(part, Span) else Span(part) for part in parts)


def plain(lines: Iterable[Line]) -> str:
    """The lines without styles."""
    return "\n".join("".join(span.text for span in each).rstrip() for each in lines)


def title(text: str) -> Line:
    """A heading."""
    return (Span(text, "bold"),)


def paragraph(text: str, width: int, indent: int = 0, style: str = "") -> list[Line]:
    """Text folded at `width`, indented."""
    room = max(width - indent, 20)
    return [(Span(" " * indent + part, style),) for part in wrapped(text, room) or [""]]


def table(headers: Sequence[str], rows: Iterable[Sequence[Cell]], width: int, *, indent: int = 2) -> list[Line]:
    """Columns as wide as their text; the last one is folded where the whole would be wider than `width`.

    Where not even that fits, a row becomes a block: its first cell, and the others beneath it, a line each.
    """
    cells = [[part if isinstance(part, Span) else Span(part) for part in row] for row in rows]
    if not cells:
        return []
    widths = [max(len(head), *(len(row[i].text) for row in cells)) for i, head in enumerate(headers)]
    before = indent + sum(widths[:-1]) + 2 * (len(widths) - 1)
    if before + 16 > width and len(headers) > 2:
        return _stacked(headers, cells, width, indent)
    last = max(width - before, 16)
    widths[-1] = max(min(widths[-1], last), 1)
    found = [_row([Span(head, "dim") for head in headers], widths, indent)] if any(headers) else []
    for row in cells:
        parts = wrapped(row[-1].text, widths[-1]) or [""]
        found.append(_row([*row[:-1], Span(parts[0], row[-1].style)], widths, indent))
        found.extend((Span(" " * before), Span(part, row[-1].style)) for part in parts[1:])
    return found


def _stacked(headers: Sequence[str], rows: Sequence[Sequence[Span]], width: int, indent: int) -> list[Line]:
    size = max(len(head) for head in headers[1:])
    found: list[Line] = []
    for first, *rest in rows:
        found.append((Span(" " * indent), first))
        for head, cell in zip(headers[1:], rest, strict=True):
            before = Span(" " * (indent + 2) + head.ljust(size) + ("  " if size else ""), "dim")
            for part in wrapped(cell.text, max(width - len(before.text), 16)):
                found.append((before, Span(part, cell.style)))
                before = Span(" " * len(before.text))
    return found


def _row(cells: Sequence[Span], widths: Sequence[int], indent: int) -> Line:
    spans = [Span(" " * indent)] if indent else []
    for place, (cell, size) in enumerate(zip(cells, widths, strict=True)):
        spans.append(cell)
        if place < len(cells) - 1:
            spans.append(Span(" " * (size - len(cell.text) + 2)))
    return tuple(spans)


def duration(seconds: float) -> str:
    """`42 s`, `4 min 10 s`, `2 h 05 min`, `3 d 4 h`."""
    if seconds == float("inf"):
        return "never"
    whole = max(round(seconds), 0)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"


def moment(at: datetime, now: datetime, zone: tzinfo | None = None) -> str:
    """The time of day, with the date where it isn't today's."""
    there, today = at.astimezone(zone or at.tzinfo), now.astimezone(zone or at.tzinfo)
    return f"{there:%H:%M:%S}" if there.date() == today.date() else f"{there:%Y-%m-%d %H:%M:%S}"


def plural(count: int, what: str, many: str = "") -> str:
    """`1 node`, `3 nodes`."""
    return f"{count} {what if count == 1 else many or what + 's'}"
