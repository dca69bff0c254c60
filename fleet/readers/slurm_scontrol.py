"""`scontrol show node`: one line or many per node, in any release.

Reason, Comment and Extra are free text to the end of their line (or, on one line, to the next known key) and may
hold anything, also `State=IDLE`. So the structured part ends where the first of them begins.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any

from fleet.readers.reading import Beside, Context, Gap, Reading, Text
from fleet.readers.slurm_nodes import NodeRecord, Ours, cordon, gpus_of, judged, ours, split_reason, with_jobs
from fleet.readers.slurm_states import NOTHING_READ, State, from_scontrol
from fleet.readers.text import decode, lines, number, printable, sequence

_PAIR = re.compile(r"(?<!\S)([A-Za-z_]+)=(\S*)")
_FREE = re.compile(r"(?:^|(?<=\s))(Reason|Comment|Extra)=")
_AFTER = re.compile(r" (?=(?:Comment|Extra|InstanceId|InstanceType|ReservationName|Reason|TopologyAddress|Topology)=)")
_HISTOGRAM = re.compile(r"\s*(\d+)\s+(?:State=)?([A-Z_?*#~%$@^!+-]+)\s*$")
_EMPTY = ("", "(null)", "N/A", "n/a", "None", "Unknown")


def read(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`scontrol show node(s)`, with or without `-o`."""
    mine = ours_of(context)
    records, gaps = parse(decode(text), mine)
    return _reading("scontrol_show_node", records, gaps, context)


def ours_of(context: Context) -> Ours:
    """Our pattern and reservations as the context has them."""
    pattern = context.get("our_reason_pattern")
    names = [name for name in sequence(context.get("our_reservations")) if isinstance(name, str)]
    return ours(pattern if isinstance(pattern, str) else None, names)


def read_nodes(
    text: Text, our_reason_pattern: str | None, our_reservations: Collection[str] = ()
) -> dict[str, NodeRecord]:
    """The records by node name, for the scheduler's adapter."""
    return parse(decode(text), ours(our_reason_pattern, our_reservations))[0]


def nothing(kind: str, context: Context, why: str) -> Reading:
    """An answer that shows no node is not the fact that there are none."""
    declared = context.get("declared_nodes")
    what = f"all {declared} nodes" if isinstance(declared, int) else "all nodes"
    return Reading(kind, gaps=(Gap(what, "empty_output", why=why),), more={"nodes": {}, "node_count": None})


def _reading(kind: str, records: dict[str, NodeRecord], gaps: list[Gap], context: Context) -> Reading:
    if not records:
        return nothing(kind, context, "no node in the answer")
    allowed = [name for name, record in records.items() if record.may_be_worked_on]
    more = {
        "node_count": len(records),
        "nodes": {name: record.as_json() for name, record in records.items()},
        "state_allows_work_on": allowed,
        "uncordon_allowed": [name for name in allowed if records[name].cordoned_by == "ours"],
    }
    return Reading(kind, gaps=tuple(gaps), more=more)


def parse(text: str, mine: Ours) -> tuple[dict[str, NodeRecord], list[Gap]]:
    """All records of an output. The last one may be cut; what stands before the cut is not enough to call it empty."""
    blocks: list[list[str]] = []
    for _, line in lines(text):
        if line.startswith("NodeName="):
            blocks.append([line])
        elif blocks and line.strip() and not line.startswith("###"):
            blocks[-1].append(line.strip())
    records: dict[str, NodeRecord] = {}
    gaps: list[Gap] = []
    for at, block in enumerate(blocks):
        structured, free = _fields(block)
        name = printable(structured.get("NodeName", ""))
        cut = at == len(blocks) - 1 and not text.endswith("\n") and "AllocTRES" not in structured
        if name:
            records[name] = _record(name, structured, free, mine, whole=not cut and "State" in structured)
            gaps.extend(_gaps(name, records[name], structured))
    return records, gaps


def _fields(block: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Key and value pairs, and the free texts."""
    structured: dict[str, str] = {}
    free: dict[str, str] = {}
    for line in block:
        rest = line
        begins = _FREE.search(line)
        if begins:
            rest = line[: begins.start()]
            texts = _AFTER.split(line[begins.start() :]) if len(block) == 1 else [line[begins.start() :]]
            for at, part in enumerate(_rejoin(texts)):
                key, _, value = part.partition("=")
                (free if at == 0 or key in ("Reason", "Comment", "Extra") else structured).setdefault(
                    key, value.strip()
                )
        for key, value in _PAIR.findall(re.sub(r"(?<!\S)OS=.*?(?= RealMemory=|$)", "", rest)):
            structured.setdefault(key, value)
    return structured, free


def _rejoin(parts: list[str]) -> list[str]:
    """On one line a reason ends at its `[user@time]`: what was split off before that belongs to it."""
    if not parts[0].startswith("Reason="):
        return parts
    for at in range(len(parts)):
        joined = " ".join(parts[: at + 1])
        if split_reason(joined)[1] is not None:
            return [joined, *parts[at + 1 :]]
    return parts


def _clean(value: str | None) -> str | None:
    return None if value is None or value in _EMPTY else printable(value)


def _whole_number(value: str | None) -> int | None:
    found = number(value) if value is not None else None
    return found if isinstance(found, int) else None


def _record(name: str, pairs: dict[str, str], free: dict[str, str], mine: Ours, *, whole: bool) -> NodeRecord:
    state = from_scontrol(pairs["State"]) if whole and pairs.get("State") else NOTHING_READ
    reason, user, at = split_reason(free.get("Reason"))
    cpu_alloc, alloc_mem = _whole_number(pairs.get("CPUAlloc")), _whole_number(pairs.get("AllocMem"))
    tres = pairs.get("AllocTRES", "")
    work = state.has_work
    if not state.unknown and (cpu_alloc or alloc_mem or re.search(r"(?:cpu|gres/gpu)=[1-9]", tres)):
        work = True
    by, order = cordon(state, reason, user, mine)
    used = re.search(r"gres/gpu=(\d+)", tres)
    cleaned = None if reason is None else printable(reason)
    return judged(
        NodeRecord(
            name,
            state,
            work,
            by,
            cleaned,
            user,
            at,
            order,
            comment=_clean(free.get("Comment")),
            next_state=_clean(pairs.get("NextState")),
            reservation=_clean(pairs.get("ReservationName")),
            partitions=tuple(sorted(filter(None, (_clean(pairs.get("Partitions")) or "").split(",")))),
            cpu_alloc=cpu_alloc,
            cpus=_whole_number(pairs.get("CPUTot")),
            alloc_mem_mib=alloc_mem,
            gpus=gpus_of(pairs["Gres"])[0] if "Gres" in pairs else None,
            gpus_used=(int(used.group(1)[:6]) if used else 0) if "AllocTRES" in pairs else None,
            boot_time=_clean(pairs.get("BootTime")),
            version=_clean(pairs.get("Version")),
            whole=whole,
        ),
        mine,
    )


def _gaps(name: str, record: NodeRecord, pairs: dict[str, str]) -> list[Gap]:
    if not record.whole:
        where = "State=" if list(pairs)[-1:] == ["State"] else "the record"
        return [Gap(name, "truncated_line", why=f"output ends inside {where}")]
    if not record.state.unknown:
        return []
    word = record.state.unknown[0]
    if word == "?":
        why = "flag bit without a name"
    else:
        why = f"unknown {'base ' if record.base is None and not record.state.flags else ''}word {printable(word)}"
    return [Gap(f"state of {name}", "no_matching_rule", why=why)]


def read_histogram(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """Counted states (`... | sort | uniq -c`): sums by sets of flags, never by parts of the text."""
    counted: list[tuple[int, str, State]] = []
    gaps: list[Gap] = []
    for at, line in lines(decode(text)):
        if found := _HISTOGRAM.match(line):
            counted.append((int(found.group(1)[:9]), found.group(2), from_scontrol(found.group(2))))
        elif line.strip():
            gaps.append(Gap(f"line {at}", "unparseable_line", line=at))
    if not counted:
        return nothing("scontrol_state_histogram", context, "no counted state in the answer")
    for count, word, state in counted:
        if state.unknown:
            gaps.append(Gap(f"state of {count} nodes", "no_matching_rule", why=f"unknown word in {printable(word)}"))
    total = sum(count for count, _, _ in counted)
    out = sum(count for count, _, state in counted if state.out)
    more: dict[str, Any] = {
        "total": total,
        "with_work": sum(count for count, _, state in counted if state.has_work is True),
        "work_unknown": sum(count for count, _, state in counted if state.has_work is None),
        "out_of_service": out,
        "draining_with_work": sum(c for c, _, s in counted if "DRAIN" in s.flags and s.has_work is True),
        "drained_and_empty": {w: c for c, w, s in counted if "DRAIN" in s.flags and s.has_work is False},
        "idle_in_reservation": sum(
            c for c, _, s in counted if s.base == "IDLE" and not s.out and s.flags & {"RESERVED", "MAINTENANCE"}
        ),
        "idle_and_open": sum(c for c, _, s in counted if s.base == "IDLE" and s.usable and s.has_work is False),
        "registration_failed": sum(c for c, _, s in counted if "INVALID_REG" in s.flags),
        "unavailable_percent": round(100 * out / total, 2) if total else None,
    }
    return Reading("scontrol_state_histogram", gaps=tuple(gaps), more=more)


def read_with_queue(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """Outputs of scontrol and squeue under lines `### command`: what the books call empty may hold a suspended job."""
    mine = ours_of(context)
    parts = re.split(r"(?m)^### ?(.*)$", decode(text))
    nodes = ""
    queue: list[dict[str, Any]] | None = None
    for command, body in zip(parts[1::2], parts[2::2], strict=False):
        if "squeue" in command:
            queue = [*(queue or []), *_jobs(command, body)]
        elif "scontrol" in command:
            nodes += body.lstrip("\n")
    records, gaps = parse(nodes, mine)
    if queue is not None:
        for name, record in records.items():
            here = [{"id": job["id"], "state": job["state"]} for job in queue if name in job["nodes"]]
            records[name] = with_jobs(record, here, mine)
    else:
        gaps.append(Gap("queue", "not_reported", why="no squeue output"))
    return _reading("scontrol_and_squeue", records, gaps, context)


def _jobs(command: str, body: str) -> list[dict[str, Any]]:
    """Jobs by the columns that the command names (`-o "%i|%T|%u|%N"`)."""
    form = re.search(r"-o ['\"]?([^'\"]+)", command)
    columns = [cell.strip().lstrip("%.0123456789") for cell in (form.group(1) if form else "%i|%T|%u|%N").split("|")]
    jobs: list[dict[str, Any]] = []
    for _, line in lines(body):
        cells = dict(zip(columns, (cell.strip() for cell in line.split("|")), strict=False))
        if cells.get("i") and cells.get("T"):
            ident = cells["i"]
            value = int(ident[:12]) if ident.isdigit() else printable(ident)
            jobs.append({"id": value, "state": printable(cells["T"]), "nodes": expand(cells.get("N", ""))})
    return jobs


def expand(text: str, limit: int = 100_000) -> list[str]:
    """`a[01-03,7],b` -> its names, at most `limit` of them."""
    names: list[str] = []
    for part in re.findall(r"[^,\[]+(?:\[[^\]]*\][^,\[]*)*", text.strip()):
        grown = [""]
        for literal, inside in re.findall(r"([^\[\]]+)|\[([^\]]*)\]", part.strip()):
            choices = [literal] if literal else _ranges(inside, limit)
            grown = [head + tail for head in grown for tail in choices][:limit]
        names.extend(name for name in grown if name)
        if len(names) >= limit:
            return names[:limit]
    return names


def _ranges(text: str, limit: int) -> list[str]:
    out: list[str] = []
    for part in text.split(","):
        low, _, high = part.strip().partition("-")
        if not high:
            out.append(low)
        elif low.isdigit() and high.isdigit() and len(high) < 10 and int(high) - int(low) < limit:
            out.extend(str(value).zfill(len(low)) for value in range(int(low), int(high) + 1))
    return out
