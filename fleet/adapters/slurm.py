"""Slurm by `scontrol` and `squeue`, as the port `Schedule`.

A node has one slot for a reason, which a drain overwrites and a resume erases. So we look first, write into the slot
only when it is free, put our claim into the node's Comment when it isn't, and look again after every change. `undrain`
opens, not `resume`, which would also call a dead node alive. An answer that says nothing is a gap, never an idle node.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from fleet.errors import FleetError, Unavailable
from fleet.model.health import Gap
from fleet.model.ids import FLEET, NodeId, OrderId
from fleet.model.observation import Cordon, Job, NodeSeen
from fleet.model.order import Again, Done, Failed, Outcome
from fleet.model.topology import DeclaredNode
from fleet.readers.slurm import NodeRecord, expand, read_scontrol_nodes

Run = Callable[[Sequence[str], float], tuple[int | None, str, str]]
"""Runs an argument vector where Slurm's commands are: exit code (None: no end in time), both outputs."""

OURS = r"fleet:(?P<order>\S+)"
_CLAIM = re.compile(r"fleet:(?P<order>\S+) ?(?P<text>.*?)(?: \| (?P<theirs>.*))?$")
_PERSON = re.compile(r"(?P<who>[A-Za-z_][\w.@-]*): ")
_UP_AFTER = timedelta(seconds=5)
_LATER = timedelta(seconds=15)
_LONGEST = 240
_QUEUE = "%i|%T|%u|%e|%N"
_DEAD_BASES = frozenset(("DOWN", "UNKNOWN", "FUTURE", "ERROR"))


def run_here(argv: Sequence[str], limit: float) -> tuple[int | None, str, str]:
    """A runner for a controller that is a submit host itself."""
    try:
        done = subprocess.run(
            list(argv), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return None, "", ""
    except OSError as error:
        return 127, "", f"{argv[0]}: {error.strerror}"
    return done.returncode, done.stdout, done.stderr


@dataclass(frozen=True, slots=True)
class _Slot:
    """Who claims a node, by its reason and its comment."""

    record: NodeRecord
    closed: bool  # drained, failing, or put down by somebody
    by: str  # "", fleet, or the owner of a foreign reason
    claim: str  # our claim in the comment, empty if there is none
    theirs: str  # what the comment holds beside it


class SlurmSchedule:
    """The port `Schedule`. `machines` are users and prefixes of reasons that are programs, not people."""

    def __init__(
        self, run: Run, *, machines: Collection[str] = ("slurm", "NHC", "nhc", "healthcheck"), seconds: float = 20.0
    ) -> None:
        self._run, self._machines, self._seconds = run, frozenset(machines), seconds

    def look(self, nodes: Sequence[DeclaredNode]) -> Mapping[NodeId, NodeSeen]:
        """Cordons, work and registration of each node; a gap where Slurm says nothing that can be used."""
        try:
            records = self._records()
        except FleetError as error:
            gap = Gap("scheduler", error.cause or error.thing)
            return {node.id: NodeSeen(node.id, gaps=(gap,)) for node in nodes}
        try:
            jobs: dict[NodeId, list[Job]] | None = self._jobs()
            missing: tuple[Gap, ...] = ()
        except FleetError as error:
            jobs, missing = None, (Gap("queue", error.cause or error.thing),)
        return {node.id: self._seen(node.id, records.get(node.id), jobs, missing) for node in nodes}

    def cordon(self, node: NodeId, order: OrderId, reason: str) -> Outcome:
        """Close it in our name: in the reason if that is free, else in the comment beside the foreign one."""
        claim = _text(f"{FLEET}:{order} {reason}")

        def change(slot: _Slot) -> Outcome | None:
            if slot.closed and slot.by == FLEET:
                return Done(f"was cordoned: {slot.record.reason}")
            if slot.closed and slot.by:
                if slot.claim:
                    return Done(f"was claimed beside {slot.by}")
                self._update(node, f"comment={_joined(claim, slot.theirs)}")
            else:
                self._update(node, "state=drain", f"reason={claim}")
            return None

        return self._changed(node, change, lambda slot: slot.closed and (slot.by == FLEET or bool(slot.claim)))

    def uncordon(self, node: NodeId, order: OrderId) -> Outcome:  # noqa: ARG002 (the port's: any of our cordons is ours)
        """Open it if it is ours alone; beside a foreign reason only our claim goes."""

        def change(slot: _Slot) -> Outcome | None:
            if slot.claim:
                self._update(node, f"comment={slot.theirs}")
            if not slot.closed:
                return None if slot.claim else Done("was open")
            if slot.by != FLEET:
                return None if slot.claim else Done(f"{slot.by} holds it, not we")
            if "NOT_RESPONDING" in slot.record.flags:
                return Again(_UP_AFTER, "its slurmd doesn't answer yet")
            self._update(node, "state=resume" if slot.record.base == "DOWN" else "state=undrain")
            return None

        return self._changed(node, change, lambda slot: not slot.claim and (not slot.closed or slot.by != FLEET))

    def cordon_as(self, node: NodeId, person: str, reason: str) -> Outcome:
        """Close it in a person's name. Our own claim moves into the comment; another person's is left alone."""

        def change(slot: _Slot) -> Outcome | None:
            if slot.closed and slot.by == person:
                return Done(f"was cordoned: {slot.record.reason}")
            if slot.closed and slot.by not in ("", FLEET):
                return Failed(f"{slot.by} holds it already: {slot.record.reason}")
            if slot.closed and slot.by == FLEET:
                self._update(node, f"comment={_joined(slot.record.reason or FLEET + ':?', slot.theirs)}")
            self._update(node, "state=drain", f"reason={_text(f'{person}: {reason}')}")
            return None

        return self._changed(node, change, lambda slot: slot.closed and slot.by == person)

    def uncordon_as(self, node: NodeId, person: str) -> Outcome:
        """Take a person's own cordon back. If we claim it too, the node stays closed in our name."""

        def change(slot: _Slot) -> Outcome | None:
            if not slot.closed:
                return Done("was open")
            if slot.by != person:
                return Failed(f"{slot.by or 'somebody unnamed'} holds it, not {person}: {slot.record.reason}")
            if slot.claim:
                self._update(node, "state=drain", f"reason={slot.claim}")
                self._update(node, f"comment={slot.theirs}")
            elif "NOT_RESPONDING" in slot.record.flags:
                return Again(_UP_AFTER, "its slurmd doesn't answer")
            else:
                self._update(node, "state=resume" if slot.record.base == "DOWN" else "state=undrain")
            return None

        return self._changed(node, change, lambda slot: not slot.closed or slot.by != person)

    def requeue(self, node: NodeId, order: OrderId) -> Outcome:  # noqa: ARG002 (the port's)
        """Put the node's jobs back into the queue; only on a node that is closed, or they would come back to it."""
        try:
            if not self._slot(node).closed:
                return Failed("it takes new work; jobs put back now would return to it")
            jobs = self._jobs().get(node, [])
            for job in jobs:
                self._command("scontrol", "requeue", job.id)
        except FleetError as error:
            return Failed(f"{error}")
        return Done(f"{len(jobs)} jobs put back: {', '.join(job.id for job in jobs)}" if jobs else "no jobs")

    def _changed(
        self, node: NodeId, change: Callable[[_Slot], Outcome | None], holds: Callable[[_Slot], bool]
    ) -> Outcome:
        """Look, change, look again. What the second look doesn't show did not happen."""
        try:
            outcome = change(self._slot(node))
            if outcome is not None:
                return outcome
            slot = self._slot(node)
        except FleetError as error:
            return Again(_LATER, f"{error}")
        state = "+".join((slot.record.base or "?", *slot.record.flags))
        if holds(slot):
            return Done(f"{state} {slot.record.reason or ''}".strip())
        return Again(_UP_AFTER, f"Slurm took the change and shows {state}, {slot.record.reason or 'no reason'}")

    def _seen(
        self, node: NodeId, record: NodeRecord | None, jobs: Mapping[NodeId, list[Job]] | None, gaps: tuple[Gap, ...]
    ) -> NodeSeen:
        if record is None:
            return NodeSeen(node, gaps=(*gaps, Gap("scheduler", "Slurm doesn't know the node")))
        if record.state.unknown or not record.whole:
            why = "its record is cut off" if not record.whole else f"unknown state {'+'.join(record.state.unknown)}"
            return NodeSeen(node, gaps=(*gaps, Gap("scheduler", why)))
        work = tuple(jobs.get(node, ())) if jobs is not None else ()
        has_work = True if work else record.has_work
        if jobs is None and has_work is False:
            has_work = None  # the books call a node with a suspended job empty; only the queue would show it
        up = record.base not in _DEAD_BASES and not {"NOT_RESPONDING", "INVALID_REG"} & set(record.flags)
        return NodeSeen(
            node, cordons=self._cordons(self._slot_of(record)), scheduler_up=up, has_work=has_work, work=work, gaps=gaps
        )

    def _cordons(self, slot: _Slot) -> tuple[Cordon, ...]:
        found = []
        if slot.closed and slot.by:
            machine = slot.by in self._machines or slot.record.cordoned_by == "scheduler" or slot.by == FLEET
            found.append(Cordon(slot.by, slot.record.reason or "", slot.record.reason_at or "", machine))
        if slot.closed and slot.claim and slot.by != FLEET:
            found.append(Cordon(FLEET, slot.claim, "", by_machine=True))
        return tuple(found)

    def _slot(self, node: NodeId) -> _Slot:
        record = self._records(node).get(node)
        if record is None or record.state.unknown or not record.whole:
            raise Unavailable(f"node {node} in Slurm", "its state can't be read", f"scontrol show node {node}")
        return self._slot_of(record)

    def _slot_of(self, record: NodeRecord) -> _Slot:
        comment = _CLAIM.match(record.comment or "")
        claim = f"{FLEET}:{comment['order']} {comment['text']}".strip() if comment else ""
        theirs = (comment["theirs"] or "") if comment else (record.comment or "")
        put_down = record.base == "DOWN" and record.cordoned_by == "foreign"
        closed = bool({"DRAIN", "FAIL"} & set(record.flags)) or put_down
        return _Slot(record, closed, self._owner(record) if closed else "", claim, theirs)

    def _owner(self, record: NodeRecord) -> str:
        if record.cordoned_by == "ours":
            return FLEET
        named = _PERSON.match(record.reason or "")
        if named and record.reason_user in (None, "root", "slurm"):
            return named["who"]
        return record.reason_user or "unknown"

    def _records(self, *only: str) -> dict[str, NodeRecord]:
        text = self._command("scontrol", "show", "node", *only, "--oneliner")
        records = read_scontrol_nodes(text, OURS)
        if not records:
            raise Unavailable("scontrol show node", "it shows no node", "look at the Slurm controller")
        return records

    def _jobs(self) -> dict[NodeId, list[Job]]:
        """Jobs that hold a node, by node. Times are asked for in UTC."""
        text = self._command("env", "TZ=UTC", "squeue", "--noheader", "--all", f"--format={_QUEUE}")
        found: dict[NodeId, list[Job]] = {}
        for line in text.splitlines():
            cells = line.strip().split("|", 4)
            if len(cells) != 5 or cells[1] == "PENDING":
                continue
            nodes = tuple(NodeId(name) for name in expand(cells[4]))
            job = Job(cells[0], nodes, _ends(cells[3]), cells[2])
            for node in nodes:
                found.setdefault(node, []).append(job)
        return found

    def _update(self, node: NodeId, *settings: str) -> None:
        self._command("scontrol", "update", f"nodename={node}", *settings)

    def _command(self, *argv: str) -> str:
        """What it printed. An error behind exit 0 is one too."""
        rc, out, err = self._run(argv, self._seconds)
        shown = " ".join(word for word in argv[:3] if "=" not in word)
        if rc is None:
            raise Unavailable(shown, f"no answer in {self._seconds:g} s", "look at the Slurm controller")
        errors = [line for line in err.splitlines() if "error" in line.lower()]
        if rc != 0 or errors:
            said = errors or err.strip().splitlines() or out.strip().splitlines() or [f"exit {rc}"]
            raise Unavailable(shown, said[0].strip()[:200], "look at the Slurm controller")
        return out


def _text(text: str) -> str:
    """One line of bounded length without the mark that parts our claim from a foreign comment."""
    return " ".join(text.replace("|", "/").split())[:_LONGEST]


def _joined(claim: str, theirs: str) -> str:
    return f"{_text(claim)} | {theirs}" if theirs else _text(claim)


def _ends(text: str) -> datetime | None:
    """The end of a job as squeue prints it; None for one without a limit."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return None
