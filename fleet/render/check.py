"""What `fleet check` found, as an engineer reads it: by file, errors first, each with its sum and its remedy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fleet.errors import Problem as Unread
from fleet.feasibility import Level, Problem
from fleet.feasibility.codes import CodeRow
from fleet.model.topology import Declared
from fleet.render.text import Line, Span, line, paragraph, plural, title

UNREAD = "inventory"
"""The code of what could not even be read."""

_STYLES = {Level.ERROR: "bad", Level.WARNING: "warn", Level.UNKNOWN: "dim"}
_WORDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.UNKNOWN: "not judged"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem with its place taken apart, whether the declaration could be read or not."""

    file: str
    line: int
    level: Level
    code: str
    text: str
    instead: str
    source: str = ""
    sum: str = ""


def findings(problems: Iterable[Problem | Unread]) -> tuple[Finding, ...]:
    """Problems of reading and of judging as one list: by file, then errors before warnings, then by line."""
    found = [_unread(each) if isinstance(each, Unread) else _judged(each) for each in problems]
    ranks = {level: rank for rank, level in enumerate(Level)}
    return tuple(sorted(found, key=lambda each: (each.file, ranks[each.level], each.line, each.code, each.text)))


def _unread(one: Unread) -> Finding:
    return Finding(one.file, one.line, Level.ERROR, UNREAD, one.text, one.instead)


def _judged(one: Problem) -> Finding:
    file, _, number = one.place.rpartition(":")
    place = (file, int(number)) if number.isdigit() else (one.place, 0)
    return Finding(*place, one.level, one.code, one.what, one.instead, one.source, one.sum)


def listing(found: Sequence[Finding], width: int) -> list[Line]:
    """Every finding under its file."""
    lines: list[Line] = []
    file = None
    for each in found:
        if each.file != file:
            if file is not None:
                lines.append(line())
            lines.append(title(each.file))
            file = each.file
        lines.extend(_finding(each, width))
    return lines


def _finding(one: Finding, width: int) -> list[Line]:
    name = one.file.rpartition("/")[2]
    place = f"{name}:{one.line}" if one.line else name
    told = [line("  ", Span(f"{_WORDS[one.level]}", _STYLES[one.level]), f"  {place}  ", Span(one.code, "dim"))]
    told += paragraph(one.text, width, 4)
    if one.sum:
        told += _labelled("sum", one.sum, width)
    if one.instead:
        told += _labelled("mend", one.instead, width)
    if one.source:
        told += _labelled("rule", one.source, width, "dim")
    return told


def _labelled(label: str, text: str, width: int, style: str = "") -> list[Line]:
    first, *rest = paragraph(text, width, 10, style)
    return [line(Span(f"    {label:<4}  ", "dim"), Span(first[0].text.lstrip(), style)), *rest]


def size(declared: Declared) -> str:
    """How much was judged: `64 nodes with 512 accelerators in 2 pools and 16 racks`."""
    boards = sum(node.accelerators for node in declared.nodes.values())
    parts = [plural(len(declared.nodes), "node")]
    parts[0] += f" with {plural(boards, 'accelerator')}" if boards else ""
    pools, racks = plural(len(declared.pools), "pool"), plural(len(declared.plant.racks), "rack")
    more = [plural(len(declared.fabrics), "fabric")] if declared.fabrics else []
    more += [plural(len(declared.releases), "release")]
    return f"{parts[0]} in {pools} and {racks}, {', '.join(more)}"


def verdict(place: str, found: Sequence[Finding], declared: Declared | None) -> Line:
    """The last line: how many of each, or that it is good."""
    counts = {level: sum(each.level is level for each in found) for level in Level}
    told = [f"{counts[Level.ERROR]} errors" if counts[Level.ERROR] != 1 else "1 error"] if counts[Level.ERROR] else []
    told += [plural(counts[Level.WARNING], "warning")] if counts[Level.WARNING] else []
    told += [f"{counts[Level.UNKNOWN]} not judged"] if counts[Level.UNKNOWN] else []
    what = f" ({size(declared)})" if declared is not None else ""
    if counts[Level.ERROR]:
        return line(Span(f"{place}: {', '.join(told)}{what}", "bad"))
    said = f": good, {', '.join(told)}" if told else ": good"
    return line(Span(f"{place}{said}{what}", "good"))


def facts(found: Sequence[Finding], level: Level) -> list[dict[str, object]]:
    """The findings of one level for `--json`."""
    return [
        {
            "file": each.file,
            "line": each.line,
            "code": each.code,
            "level": each.level.value,
            "text": each.text,
            "sum": each.sum,
            "instead": each.instead,
            "source": each.source,
        }
        for each in found
        if each.level is level
    ]


def explained(row: CodeRow, width: int) -> list[Line]:
    """What a code means."""
    lines = [line(Span(row.code, "bold"), f"  {_WORDS[Level(row.level)]}")]
    lines += paragraph(row.says, width, 2)
    lines += _labelled("mend", row.mends, width)
    lines += _labelled("rule", row.source, width, "dim")
    return lines


def code_table(rows: Mapping[str, CodeRow]) -> list[tuple[str, str, str]]:
    """Every code in one line: its name, its level, what it says."""
    return [(row.code, _WORDS[Level(row.level)], row.says) for row in rows.values()]
