"""sinfo: one line per node and partition, in whatever columns the caller asked for.

A node counts once; totals belong to it and cannot differ by partition: what does not fit is a gap, what is
undisputed stays.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fleet.readers.reading import Beside, Context, Gap, Reading, Text
from fleet.readers.slurm_nodes import NodeRecord, Ours, cordon, gpus_of, judged, split_reason
from fleet.readers.slurm_scontrol import expand, nothing, ours_of
from fleet.readers.slurm_states import State, from_sinfo
from fleet.readers.text import absent, decode, lines, mapping, number, parse_json, printable, sequence

# column names of -o, -O, JSON keys and headers -> our names
COLUMNS = {
    "%n": "node",
    "%N": "node",
    "node": "node",
    "nodehost": "node",
    "nodelist": "node",
    "hostnames": "node",
    "nodes_names": "node",
    "%T": "state",
    "%t": "state",
    "state": "state",
    "statelong": "state",
    "statecompact": "state",
    "%C": "cpus_aiot",
    "cpusstate": "cpus_aiot",
    "cpus_aiot": "cpus_aiot",
    "cpus(a/i/o/t)": "cpus_aiot",
    "%c": "cpus",
    "cpus": "cpus",
    "%E": "reason",
    "reason": "reason",
    "%u": "user",
    "%U": "user",
    "user": "user",
    "%R": "partition",
    "%P": "partition",
    "partition": "partition",
    "partitionname": "partition",
    "%G": "gres",
    "gres": "gres",
    "gresused": "gres_used",
    "gres_used": "gres_used",
    "%O": "cpu_load",
    "cpu_load": "cpu_load",
    "cpusload": "cpu_load",
    "%e": "free_mem",
    "free_mem": "free_mem",
    "freemem": "free_mem",
    "%v": "version",
    "version": "version",
    "%D": "nodes",
    "nodes": "nodes",
    "%i": "reservation",
    "reservation": "reservation",
}
_ALL_STATES = "all states, filtered by the reader"


@dataclass(slots=True)
class _Seen:
    """What the lines of one node say, all values of each column."""

    cells: dict[str, list[str]] = field(default_factory=dict)

    def take(self, names: Sequence[str], values: Sequence[str]) -> None:
        for name, value in zip(names, values, strict=False):
            kept = self.cells.setdefault(name, [])
            if value not in kept:
                kept.append(value)

    def first(self, name: str) -> str | None:
        return next((value for value in self.cells.get(name, []) if not absent(value) and value != "(null)"), None)


def _name(column: str) -> str:
    return COLUMNS.get(column.strip(), COLUMNS.get(column.strip().lower(), column.strip().lower()))


def _columns(context: Context, first: str) -> tuple[list[str], bool]:
    """The columns, from the context, from the command's format, or from a header line (then True)."""
    told = [str(column) for column in sequence(context.get("columns"))]
    if told:
        return [_name(column) for column in told], False
    header = [cell.strip() for cell in first.split("|")]
    known = [_name(cell) for cell in header]
    if sum(name in COLUMNS.values() for name in known) >= 2 and "state" in known and re.search(r"\bSTATE\b", first):
        return known, True
    form = re.search(r"-[a-zA-Z]*o\s*['\"]?((?:%[\d.]*[a-zA-Z][^%'\"]?)+)", str(context.get("command", "")))
    letters = re.findall(r"%[\d.]*([a-zA-Z])", form.group(1)) if form else []
    return [_name(f"%{letter}") for letter in letters], False


def read_pipe(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`sinfo -o` with `|` between the fields."""
    rows = [(at, line) for at, line in lines(decode(text)) if line.strip()]
    if not rows:
        return nothing("sinfo_pipe", context, "empty answer")
    names, headed = _columns(context, rows[0][1])
    if not names or "node" not in names:
        return nothing("sinfo_pipe", context, "columns are not known")
    return _nodes("sinfo_pipe", names, ((at, line.split("|")) for at, line in rows[headed:]), context)


def read_columns(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`sinfo -O`: columns of equal width, padded."""
    rows = [(at, line) for at, line in lines(decode(text)) if line.strip()]
    names, headed = _columns(context, rows[0][1] if rows else "")
    if not rows or "node" not in names:
        return nothing("sinfo_columns", context, "empty answer" if not rows else "columns are not known")
    cut = ((at, _cells(line, len(names))) for at, line in rows[headed:])
    return _nodes("sinfo_columns", names, cut, context)


def _cells(line: str, count: int) -> list[str]:
    if "|" in line:
        return line.split("|")
    words = line.split()
    if len(words) == count:
        return words
    width = (len(line) + count - 1) // count
    return [line[at : at + width] for at in range(0, len(line), max(width, 1))]


def read_json_lines(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """One JSON object per line, made by sinfo's own format; the command says which key is which field."""
    form = dict(re.findall(r"\"(\w+)\"\s*:\s*\"?(%[a-zA-Z])", str(context.get("command", ""))))
    guess = {"s": "state", "n": "node", "p": "partition", "l": "cpu_load", "fmem": "free_mem", "cstate": "cpus_aiot"}
    rows: list[tuple[int, list[str]]] = []
    gaps: list[Gap] = []
    names: list[str] = []
    for at, line in lines(decode(text)):
        if not line.strip():
            continue
        entry = mapping(parse_json(line))
        if not entry:
            gaps.append(Gap(f"line {at}", "unparseable_line", line=at, why="not a JSON object"))
            continue
        names = [COLUMNS.get(form.get(key, ""), guess.get(key, key)) for key in entry]
        rows.append((at, [str(value) for value in entry.values()]))
    if not rows:
        return (
            replace(nothing("sinfo_json_lines", context, "empty answer"), gaps=tuple(gaps))
            if gaps
            else nothing("sinfo_json_lines", context, "empty answer")
        )
    reading = _nodes("sinfo_json_lines", names, rows, context)
    return replace(reading, gaps=(*gaps, *reading.gaps))


def _nodes(kind: str, names: Sequence[str], rows: Iterable[tuple[int, list[str]]], context: Context) -> Reading:
    mine = ours_of(context)
    seen: dict[str, _Seen] = {}
    gaps: list[Gap] = []
    default: str | None = None
    for at, raw in rows:
        cells = [cell.strip() for cell in raw]
        if len(cells) < len(names):
            gaps.append(Gap(f"line {at}", "truncated_line", line=at, why="fewer fields than columns"))
            continue
        by_name = dict(zip(names, cells, strict=False))
        starred = [c[:-1] for n, c in zip(names, cells, strict=False) if n == "partition" and c.endswith("*")]
        default = starred[0] if starred else default
        for node in expand(by_name.get("node", "")):
            seen.setdefault(printable(node), _Seen()).take(names, cells)
    if not seen:
        return replace(
            nothing(kind, context, "no node in the answer"), gaps=tuple(gaps) or nothing(kind, context, "").gaps
        )
    nodes: dict[str, NodeRecord] = {name: _merged(name, one, mine, gaps) for name, one in seen.items()}
    free = sum(
        (record.gpus or 0) - (record.gpus_used or 0)
        for record in nodes.values()
        if record.state.usable and record.gpus is not None and record.gpus_used is not None
    )
    more = {
        "node_count": len(nodes),
        "nodes": {name: record.as_json() for name, record in nodes.items()},
        "default_partition": default,
        "unavailable_nodes": sum(record.state.out for record in nodes.values()),
        "free_gpus_for_new_jobs": free,
        "state_allows_work_on": [name for name, record in nodes.items() if record.may_be_worked_on],
    }
    return Reading(kind, gaps=tuple(gaps), more=more)


def _merged(name: str, seen: _Seen, mine: Ours, gaps: list[Gap]) -> NodeRecord:
    state = _state(name, seen, gaps)
    reason, user, at = split_reason(seen.first("reason"))
    user = user or seen.first("user")
    total, allocated = _cpus(name, seen, gaps)
    gpus, extra = _gpus(name, seen, gaps)
    used = gpus_of(seen.first("gres_used"))[0] if seen.first("gres_used") else None
    work = True if allocated and not state.unknown else state.has_work
    by, order = cordon(state, reason, user, mine)
    reserved = bool(state.flags & {"MAINTENANCE", "RESERVED"})
    held = by != "none" or reserved
    unseen = ["reason"] * ("reason" not in seen.cells and by != "none") + ["reservation"] * (
        "reservation" not in seen.cells and reserved
    )
    if held and unseen:
        gaps.append(Gap(f"{' and '.join(unseen)} of {name}", "not_reported", why="not among the columns"))
    extra.update(
        cpus=total,
        cpu_load=number(seen.first("cpu_load")),
        free_mem_mib=number(seen.first("free_mem")),
        version=seen.first("version"),
    )
    return judged(
        NodeRecord(
            name,
            state,
            work,
            by,
            reason,
            user if user != "Unknown" else None,
            at,
            order,
            reservation=seen.first("reservation"),
            partitions=tuple(sorted({value.rstrip("*") for value in seen.cells.get("partition", [])})),
            cpu_alloc=allocated,
            gpus=gpus,
            gpus_used=used,
            extra=extra,
        ),
        mine,
    )


def _state(name: str, seen: _Seen, gaps: list[Gap]) -> State:
    """Long and short form of one state agree; different states in different partitions do not."""
    states = list(dict.fromkeys(from_sinfo(word) for word in seen.cells.get("state", []) if word))
    if len(states) == 1:
        if states[0].unknown:
            gaps.append(
                Gap(f"state of {name}", "no_matching_rule", why=f"unknown word {printable(states[0].unknown[0])}")
            )
        return states[0]
    why = "two states in one answer" if states else "not among the columns"
    gaps.append(Gap(f"state of {name}", "contradictory" if states else "not_reported", why=why))
    return State(None, frozenset(), None, ("",))


def _cpus(name: str, seen: _Seen, gaps: list[Gap]) -> tuple[int | None, int | None]:
    """Total and allocated. The three counts must add up to the fourth, and every partition must tell the same."""
    quads = [
        quad for text in seen.cells.get("cpus_aiot", []) if len(quad := [number(part) for part in text.split("/")]) == 4
    ]
    whole = [[int(part) for part in quad if part is not None] for quad in quads]
    whole = [quad for quad in whole if len(quad) == 4]
    allocated = max((quad[0] for quad in whole), default=None)
    if bad := next((quad for quad in whole if sum(quad[:3]) != quad[3]), None):
        why = f"{bad[0]} + {bad[1]} + {bad[2]} is not {bad[3]}"
        gaps.append(Gap(f"CPU counts of {name}", "contradictory", why=why))
        return None, allocated
    totals = list(dict.fromkeys(quad[3] for quad in whole)) or [
        value for text in seen.cells.get("cpus", []) if isinstance(value := number(text), int)
    ]
    if len(totals) > 1:
        why = f"{totals[0]} in one partition, {totals[1]} in the other"
        gaps.append(Gap(f"CPU count of {name}", "contradictory", why=why))
        return None, allocated
    return (totals[0] if totals else None), allocated


def _gpus(name: str, seen: _Seen, gaps: list[Gap]) -> tuple[int | None, dict[str, Any]]:
    extra: dict[str, Any] = {}
    _, indexes = gpus_of(seen.first("gres_used"))
    if indexes is not None:
        extra["gpu_indexes_used"] = indexes
    if "gres" not in seen.cells:
        return None, extra
    counts = list(dict.fromkeys(gpus_of(text)[0] for text in seen.cells["gres"]))
    if len(counts) > 1:
        why = f"{counts[0]} in one partition, {counts[1]} in the other"
        gaps.append(Gap(f"GPU count of {name}", "contradictory", why=why))
        return None, {**extra, "gpus": None}
    return counts[0], extra


def read_snapshot(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`sinfo --Format=Nodes: ,StateLong: ,Gres: ,GresUsed:`: numbers of nodes by state and GRES."""
    rows: list[tuple[int, State, int, int]] = []
    gaps: list[Gap] = []
    for at, line in lines(decode(text)):
        words = line.split()
        if not words:
            continue
        count = number(words[0])
        if len(words) != 4 or not isinstance(count, int):
            gaps.append(Gap(f"line {at}", "unparseable_line", line=at))
            continue
        state = from_sinfo(words[1])
        rows.append((count, state, gpus_of(words[2])[0] or 0, gpus_of(words[3])[0] or 0))
        if state.has_work is None:
            what = f"jobs on the {words[1]} node" if count == 1 else f"jobs on the {count} {words[1]} nodes"
            why = "the word hides every other flag" if state.hides else f"{printable(words[1])} does not say"
            gaps.append(Gap(what, "not_reported", why=why))
    if not rows:
        return nothing("sinfo_gpu_snapshot", context, "empty answer")
    usable = [row for row in rows if row[1].usable]
    more = {
        "rows": [
            {
                "nodes": count,
                "base": state.base,
                "flags": sorted(state.flags),
                "has_work": "unknown" if state.has_work is None else state.has_work,
                "gpus_per_node": gpus,
                "gpus_used_per_node": used,
            }
            for count, state, gpus, used in rows
        ],
        "nodes_total": sum(count for count, *_ in rows),
        "gpus_configured": sum(count * gpus for count, _, gpus, _ in rows),
        "gpus_used": sum(count * used for count, _, _, used in rows),
        "gpus_on_unusable_nodes": sum(count * gpus for count, state, gpus, _ in rows if not state.usable),
        "gpus_free_on_usable_nodes": sum(count * (gpus - used) for count, _, gpus, used in usable),
        "gpus_free_but_planned": sum(c * (gpus - used) for c, state, gpus, used in usable if "PLANNED" in state.flags),
    }
    return Reading("sinfo_gpu_snapshot", gaps=tuple(gaps), more=more)


def _filter_gap(state: str, why: str) -> Gap:
    word = state.lower().replace("_", " ")
    what = f"nodes with a {word}" if word.startswith("reboot ") else f"nodes in state {word}"
    return Gap(what, "tool_failed", why=why)


def read_stderr(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """What sinfo says instead of an answer. It is about the client or the way to the controller, never about nodes."""
    more: dict[str, Any] = {"filter_supported": "unknown", "nodes": {}, "node_count": None, "retry_with": None}
    bad = re.search(r"Bad state string: \"?([^\"\s]+)", decode(text))
    if bad:
        more.update(filter_supported=False, retry_with=_ALL_STATES)
        return Reading(
            "sinfo_stderr",
            gaps=(_filter_gap(printable(bad.group(1)), "this sinfo does not know the state name"),),
            more=more,
        )
    why = printable(decode(text).strip())[:120] or "empty answer"
    return Reading("sinfo_stderr", gaps=(replace(nothing("", context, why).gaps[0], reason="tool_failed"),), more=more)


def read_default(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """sinfo's default table. `n/a` under a filter may mean no match, or in 25.05 an unknown filter word."""
    wanted = re.search(r"(?:--states[= ]|-t ?)([\w,]+)", str(context.get("command", "")))
    rows = [line.split() for _, line in lines(decode(text)) if line.strip()]
    body = [row for row in rows if row[0] != "PARTITION"]
    full = [(at, [row[5], row[4], row[0]]) for at, row in enumerate(body, 1) if len(row) == 6]
    more: dict[str, Any] = {"filter_supported": "unknown", "nodes": {}, "node_count": None, "retry_with": _ALL_STATES}
    if full:
        reading = _nodes("sinfo_default", ["node", "state", "partition"], full, context)
        known = {"filter_supported": True if wanted else "unknown", "retry_with": None}
        return replace(reading, more={**reading.more, **known})
    if wanted and body:
        why = "an unknown filter word and a filter without a match print the same"
        return Reading("sinfo_default", gaps=(_filter_gap(wanted.group(1), why),), more=more)
    return nothing("sinfo_default", context, "empty answer")


def by_word(word: str) -> Mapping[str, Any]:
    """One of sinfo's words as `fleet explain` shows it."""
    state = from_sinfo(word)
    return {"base": state.base, "flags": sorted(state.flags), "has_work": state.has_work}
