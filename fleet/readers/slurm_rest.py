"""slurmrestd and `scontrol --json`: states are lists, numbers are objects, and HTTP 200 can carry errors."""

from collections.abc import Mapping, Sequence
from typing import Any

from fleet.readers.reading import Beside, Context, Gap, Reading, Text
from fleet.readers.slurm_nodes import NodeRecord, Ours, cordon, gpus_of, judged, split_reason
from fleet.readers.slurm_scontrol import nothing, ours_of
from fleet.readers.slurm_states import from_words
from fleet.readers.text import decode, mapping, number, parse_json, printable, sequence


def _set(value: Any) -> int | float | None:
    """The number of `{"set": true, "infinite": false, "number": 21}`, or of a bare number."""
    if isinstance(value, Mapping):
        usable = value.get("set") is True and not value.get("infinite")
        return number(value.get("number")) if usable else None
    return number(value)


def _moment(value: Any) -> int | float | None:
    """Seconds since 1970; 0 stands for none."""
    return _set(value) or None


def _words(value: Any) -> list[str]:
    if isinstance(value, str):
        return value.split("+")
    return [str(word) for word in sequence(value)]


def read(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """A node, or an answer with a list of nodes. Errors in the body outrank the HTTP status."""
    document = parse_json(decode(text))
    if not isinstance(document, Mapping):
        empty = not decode(text).strip()
        return nothing("slurmrestd_nodes", context, "empty answer" if empty else "not a JSON document")
    errors = [mapping(error) for error in sequence(document.get("errors"))]
    if errors:
        declared = context.get("declared_nodes")
        what = f"all {declared} nodes" if isinstance(declared, int) else "all nodes"
        status = context.get("http_status")
        why = f"HTTP {status} with an errors list" if status else "errors in the answer"
        told = [{"error_number": error.get("error_number"), "error": error.get("error")} for error in errors]
        gap = Gap(what, "tool_failed", why=why)
        return Reading("slurmrestd_nodes", gaps=(gap,), more={"nodes": {}, "node_count": None, "errors": told})
    entries = sequence(document.get("nodes")) if "nodes" in document else [document]
    mine = ours_of(context)
    nodes: dict[str, NodeRecord] = {}
    gaps: list[Gap] = []
    for entry in map(mapping, entries):
        name = entry.get("name")
        if isinstance(name, str) and name:
            nodes[printable(name)] = _record(printable(name), entry, mine, gaps)
    if not nodes:
        return nothing("slurmrestd_nodes", context, "no node in the answer")
    more = {"node_count": len(nodes), "nodes": {name: node.as_json() for name, node in nodes.items()}}
    return Reading("slurmrestd_nodes", gaps=tuple(gaps), more=more)


def _record(name: str, entry: Mapping[str, Any], mine: Ours, gaps: list[Gap]) -> NodeRecord:
    state = from_words([*_words(entry.get("state")), *_words(entry.get("state_flags"))])
    if state.unknown:
        gaps.append(Gap(f"state of {name}", "no_matching_rule", why=f"unknown word {printable(state.unknown[0])}"))
    reason, user, at = split_reason(entry.get("reason") if isinstance(entry.get("reason"), str) else None)
    user = user or str(entry.get("reason_set_by_user") or "") or None
    allocated, memory = number(entry.get("alloc_cpus")), number(entry.get("alloc_memory"))
    gpus, used = gpus_of(str(entry.get("gres", ""))), gpus_of(str(entry.get("gres_used", "")))
    work = True if (allocated or memory or used[0]) and not state.unknown else state.has_work
    by, order = cordon(state, reason, user, mine)
    watts = _set(mapping(entry.get("energy")).get("current_watts"))
    if watts == 0 and gpus[0]:
        why = f"0 W of an {gpus[0]}-GPU node: energy plugin not active"
        gaps.append(Gap("power draw", "not_measured", why=why))
    next_state = [word for word in _words(entry.get("next_state_after_reboot")) if word != "INVALID"]
    load = _set(entry.get("cpu_load"))
    extra = {
        "next_state_after_reboot": "+".join(next_state) or None,
        "reason_changed_at": _moment(entry.get("reason_changed_at")),
        "resume_after": _moment(entry.get("resume_after")),
        "watts": watts or None,
        "cpu_load": None if load is None else load / 100,
        "free_mem_mib": _set(entry.get("free_mem")),
    }
    return judged(
        NodeRecord(
            name,
            state,
            work,
            by,
            reason,
            user,
            at,
            order,
            comment=str(entry.get("comment") or "") or None,
            reservation=str(entry.get("reservation") or "") or None,
            partitions=tuple(sorted(str(part) for part in sequence(entry.get("partitions")))),
            cpu_alloc=int(allocated) if allocated is not None else None,
            cpus=int(cpus) if (cpus := number(entry.get("cpus"))) is not None else None,
            alloc_mem_mib=int(memory) if memory is not None else None,
            gpus=gpus[0],
            gpus_used=used[0],
            version=str(entry.get("version") or "") or None,
            extra=extra,
        ),
        mine,
    )
