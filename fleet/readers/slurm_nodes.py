"""One node as Slurm shows it: its record, who holds it, and whether the scheduler's state alone allows a disruptive
verb now.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fleet.readers.slurm_states import OFF, TRANSITIONS, State

_STAMP = re.compile(r"(.*?)\s*\[([^\s@\[\]]+)@(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|Unknown)\]\s*$", re.S)
# texts that slurmctld sets itself, whoever stands as the user
_SCHEDULER = re.compile(
    r"(?:Kill task failed|Not responding|reboot issued|ResumeTimeout reached|"
    r"ResumeProgram|SuspendTimeout|Prolog error|Epilog error|"
    r"Node unexpectedly rebooted|Node is being powered|gres/\w+ count|Low (?:RealMemory|CPUs|TmpDisk|socket)|"
    r"Duplicate jobid|"
    r"batch job complete failure|Job credential|Invalid registration|Reboot ASAP)",
    re.I,
)
_CAPACITY = re.compile(
    r"Insufficient\w*Capacity|MaxSpotInstanceCountExceeded|VcpuLimitExceeded|SpotMaxPriceTooLow|ZonalAlloc|"
    r"ResourcesExhausted|ZONE_RESOURCE_POOL_EXHAUSTED|AllocationFailed|SkuNotAvailable"
)
_ON_NODE = frozenset(
    ("RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING")
)


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """A node of Slurm. `has_work` None: unknown. Text fields are None where Slurm prints none."""

    name: str
    state: State
    has_work: bool | None
    cordoned_by: str
    reason: str | None = None
    reason_user: str | None = None
    reason_at: str | None = None
    order: str | None = None
    comment: str | None = None
    next_state: str | None = None
    reservation: str | None = None
    partitions: tuple[str, ...] = ()
    cpu_alloc: int | None = None
    cpus: int | None = None
    alloc_mem_mib: int | None = None
    gpus: int | None = None
    gpus_used: int | None = None
    boot_time: str | None = None
    version: str | None = None
    jobs: tuple[Mapping[str, Any], ...] | None = None
    whole: bool = True
    held_because: tuple[str, ...] = ()
    limit: str | None = None
    way_out: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def base(self) -> str | None:
        """The base word, None where it is not printed."""
        return self.state.base

    @property
    def flags(self) -> tuple[str, ...]:
        """Sorted, without the base."""
        return tuple(sorted(self.state.flags))

    @property
    def may_be_worked_on(self) -> bool:
        """Whether the scheduler's state alone allows a disruptive verb now."""
        return not self.held_because

    def as_json(self) -> dict[str, Any]:
        """The keys and words of the case files."""
        out: dict[str, Any] = {
            "base": self.base,
            "flags": list(self.flags),
            "has_work": "unknown" if self.has_work is None else self.has_work,
            "may_be_worked_on": self.may_be_worked_on,
            "cordoned_by": self.cordoned_by,
            "reason": self.reason,
        }
        if self.held_because:
            out["held_because"] = list(self.held_because)
        optional = {
            "limit": self.limit,
            "way_out": self.way_out,
            "order": self.order,
            "reason_user": self.reason_user,
            "reason_at": self.reason_at,
            "comment": self.comment,
            "next_state": self.next_state,
            "reservation": self.reservation,
            "gpus": self.gpus,
            "gpus_used": self.gpus_used,
            "alloc_mem_mib": self.alloc_mem_mib,
            "cpus": self.cpus,
            "cpus_allocated": self.cpu_alloc,
            "version": self.version,
        }
        out.update((key, value) for key, value in optional.items() if value is not None)
        if self.partitions:
            out["partitions"] = list(self.partitions)
        if self.jobs is not None:
            out["jobs"] = [dict(job) for job in self.jobs]
        if words := [word for word in self.state.unknown if word]:
            out["unknown_words"] = words
        out.update(_fault(self.state, self.reason))
        out.update(self.extra)
        return out


def split_reason(text: str | None) -> tuple[str | None, str | None, str | None]:
    """Reason, user and time; None where Slurm prints a placeholder."""
    if text is None or text.strip().lower() in ("", "none", "(null)", "unknown", "n/a"):
        return None, None, None
    found = _STAMP.match(text.strip())
    return (found.group(1), found.group(2), found.group(3)) if found else (text.strip(), None, None)


@dataclass(frozen=True, slots=True)
class Ours:
    """How our own cordons and reservations are known."""

    pattern: re.Pattern[str] | None = None
    reservations: frozenset[str] = frozenset()


def ours(pattern: str | None, reservations: Collection[str] = ()) -> Ours:
    """A pattern that does not compile knows nothing as ours."""
    try:
        compiled = re.compile(pattern) if pattern else None
    except re.error:
        compiled = None
    return Ours(compiled, frozenset(reservations))


def cordon(state: State, reason: str | None, user: str | None, mine: Ours) -> tuple[str, str | None]:
    """Who holds the node, and our order if it is ours. Ownership needs our pattern at the very start of the reason."""
    if state.unknown and "DRAIN" not in state.flags:
        return "unknown", None
    if "DRAIN" not in state.flags and state.base != "DOWN" and "FAIL" not in state.flags:
        return "none", None
    if reason is None:
        return "unknown", None
    if mine.pattern and (found := mine.pattern.match(reason)):
        return "ours", found.groupdict().get("order")
    if user == "slurm" or _SCHEDULER.match(reason):
        return "scheduler", None
    return "foreign", None


def judged(record: NodeRecord, mine: Ours, *, queue_read: bool = False) -> NodeRecord:
    """The record with what holds it, in the order of the words' list, and the ways left open."""
    flags, work, base = record.state.flags, record.has_work, record.base
    if record.state.unknown or not record.whole:
        return replace(record, has_work=None, held_because=("state_unknown", "work_unknown"))
    moving = bool(flags & TRANSITIONS)
    silent = "NOT_RESPONDING" in flags and work is not False and not moving
    stuck = base == "DOWN" and "COMPLETING" in flags and work is None
    reserved = flags & {"MAINTENANCE", "RESERVED"} and record.reservation not in mine.reservations
    open_ = "DRAIN" not in flags and (base != "DOWN" or "INVALID_REG" in flags)
    unread = base == "DOWN" and "DRAIN" not in flags and not moving and not flags & ({"NOT_RESPONDING"} | OFF)
    held = (
        ("has_work", work is True),
        ("work_unknown", work is None),
        ("not_drained", open_ and base != "FUTURE"),
        ("transition", moving),
        ("not_responding", silent),
        ("foreign_reservation", bool(reserved)),
        ("queue_not_read", unread and not queue_read),
    )
    because = tuple(word for word, holds in held if holds)
    limit = "bmc_only" if not because and flags & ({"NOT_RESPONDING"} | OFF) else None
    return replace(record, held_because=because, limit=limit, way_out="fence" if silent or stuck else None)


def with_jobs(record: NodeRecord, jobs: Collection[Mapping[str, Any]], mine: Ours) -> NodeRecord:
    """The record once the queue was read: a suspended job keeps its processes, which only the queue shows."""
    present = any(str(job.get("state")) in _ON_NODE for job in jobs)
    work = True if present else record.has_work
    if not present and work is None and not record.state.unknown and record.base == "DOWN":
        work = None
    return judged(replace(record, jobs=tuple(jobs), has_work=work), mine, queue_read=True)


def _fault(state: State, reason: str | None) -> dict[str, Any]:
    """Whether the state speaks of a fault, where it does: capacity that a cloud lacks is none, a reboot is none."""
    if reason and _CAPACITY.search(reason):
        return {"fault": False, "cause": "cloud_capacity"}
    if "INVALID_REG" in state.flags:
        return {"fault": True}
    if state.flags & {"REBOOT_ISSUED", "REBOOT_REQUESTED"}:
        return {"fault": False}
    return {}


def gpus_of(gres: str | None) -> tuple[int | None, list[int] | None]:
    """`gpu:h100:8(S:0-1)` -> 8; `gpu:h100:3(IDX:0,2,7)` -> 3 and its indexes; no GRES is 0, nothing printed is None."""
    if gres is None or gres.strip().upper() in ("N/A", "UNKNOWN"):
        return None, None
    total, indexes = 0, None
    for found in re.finditer(r"\bgpu(?::[\w.-]+)?:(\d+)(?:\(([^)]*)\))?", gres):
        total += int(found.group(1)[:6])
        if found.group(2) and found.group(2).startswith("IDX:") and found.group(2) != "IDX:N/A":
            indexes = (indexes or []) + _span(found.group(2)[4:])
    return total, indexes


def _span(text: str) -> list[int]:
    out: list[int] = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        if low.isdigit() and (high or low).isdigit() and len(low) < 5 and len(high) < 5:
            out.extend(range(int(low), int(high or low) + 1))
    return out
