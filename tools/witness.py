"""A witness who asks only the scheduler: who serves, each second; what became of each job, at the end.

It knows nothing of fleet, so that what it says proves something. One stream out of the lab's controller, no polling.
"""

from __future__ import annotations

import itertools
import re
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from fleet.lab import slurm
from fleet.lab.containers import CONTROLLER_CONTAINER, inside, try_inside

OUT_OF_SERVICE = re.compile(r"DRAIN|DOWN|FAIL|NOT_RESPONDING|UNKNOWN|INVAL|REBOOT|POWER|MAINT|\*")
AT_MOST_S = 3000
FIRST_S = 20
LOOK = (
    'i=0; while [ "$i" -lt "$1" ]; do scontrol --oneliner show node 2>&1; '
    "if q=$(squeue -h -t PD,R -o state=%t 2>/dev/null); then "
    'echo PENDING=$(echo "$q" | grep -c =PD) RUNNING=$(echo "$q" | grep -c =R); fi; '
    "echo END; i=$((i+1)); sleep 1; done"
)


@dataclass(frozen=True, slots=True)
class Look:
    """What the scheduler said at one moment (seconds since the witness began)."""

    at: float
    states: dict[str, str]
    busy: frozenset[str]  # nodes with processors given to jobs
    reasons: dict[str, str]
    pending: int | None  # None: the queue could not be asked
    running: int | None

    def in_service(self, nodes: Sequence[str]) -> int:
        """How many of `nodes` take work."""
        return sum(1 for node in nodes if not OUT_OF_SERVICE.search(self.states.get(node, "UNKNOWN")))


def look_of(lines: Sequence[str], at: float) -> Look:
    """One round of answers, parsed; a scheduler that didn't answer shows no nodes."""
    states, reasons, busy = {}, {}, set()
    counts: dict[str, int | None] = {"PENDING": None, "RUNNING": None}
    for line in lines:
        node = re.match(r"NodeName=(\S+)", line)
        if node:
            name = node.group(1)
            found = re.search(r" State=(\S+)", line)
            states[name] = found.group(1) if found else "UNKNOWN"
            reason = re.search(r" Reason=(.*?)(?: \w+=|$)", line)
            reasons[name] = reason.group(1) if reason else ""
            if not re.search(r" CPUAlloc=0\b", line):
                busy.add(name)
        for word in counts:
            number = re.search(rf"\b{word}=(\d+)", line)
            if number:
                counts[word] = int(number.group(1))
    return Look(at, states, frozenset(busy), reasons, counts["PENDING"], counts["RUNNING"])


@dataclass(slots=True)
class Witness:
    """Looks once a second from `with` to its end."""

    looks: list[Look] = field(default_factory=list)
    marks: list[float] = field(default_factory=list)
    _stream: subprocess.Popen[str] | None = None
    _thread: threading.Thread | None = None

    def __enter__(self) -> Witness:
        command = ("podman", "exec", CONTROLLER_CONTAINER, "sh", "-c", LOOK, "look", str(AT_MOST_S))
        self._stream = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self._thread = threading.Thread(target=self._follow, args=(self._stream, time.monotonic()), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.terminate()
            self._stream.wait(10)
        if self._thread is not None:
            self._thread.join(10)

    def _follow(self, stream: subprocess.Popen[str], began: float) -> None:
        lines: list[str] = []
        for line in stream.stdout or ():
            if line.strip() != "END":
                lines.append(line)
                continue
            seen = look_of(lines, time.monotonic() - began)
            lines = []
            self.looks.append(seen)

    @property
    def answered(self) -> list[Look]:
        """The looks at which the scheduler answered."""
        return [look for look in self.looks if look.states]

    def lowest(self, nodes: Sequence[str]) -> int:
        """The fewest of `nodes` that took work at any moment."""
        return min((look.in_service(nodes) for look in self.answered), default=0)

    def drains(self) -> dict[str, bool]:
        """For each node that was closed: whether it had work at the first look that shows it closed."""
        found: dict[str, bool] = {}
        for look in self.answered:
            for node, state in look.states.items():
                if "DRAIN" in state and node not in found:
                    found[node] = node in look.busy
        return found

    def returned(self) -> set[str]:
        """Nodes that were closed and take work again."""
        closed, back = set(), set()
        for look in self.answered:
            for node in look.states:
                if not look.in_service([node]):
                    closed.add(node)
                elif node in closed:
                    back.add(node)
        return back

    def fewest_waiting(self) -> int:
        """The shortest that the queue was between the two marks."""
        between = [look.pending for look in self.answered if self.marks[:1] <= [look.at] <= self.marks[1:2]]
        return min((pending for pending in between if pending is not None), default=0)

    def mark(self) -> None:
        """The time that counts begins, or ends, now."""
        self.marks.append(self.looks[-1].at + 0.001 if self.looks else 0.0)

    def longest_gap(self) -> float:
        """Seconds between two looks that followed each other, at worst."""
        times = [look.at for look in self.answered]
        return max((b - a for a, b in itertools.pairwise(times)), default=0.0)


@dataclass(frozen=True, slots=True)
class JobFigures:
    """Jobs as Slurm counted them: its accounting file says how each ended, its memory how often each began again."""

    submitted: int
    finished: int
    killed: tuple[int, ...]
    requeued: tuple[int, ...]
    open: int


def job_figures(jobs: Sequence[int]) -> JobFigures:
    """What became of `jobs`, from `jobcomp/filetxt` and `Restarts`."""
    wanted = set(jobs)
    records = [record for record in slurm.completions() if record.job in wanted]
    now = [job for job in slurm.jobs() if job.job in wanted]
    finished = {record.job for record in records if record.state == "COMPLETED"}
    requeued = {record.job for record in records if record.state == "PENDING"} | {j.job for j in now if j.restarts}
    killed = {record.job for record in records if record.state not in ("COMPLETED", "PENDING")}
    still = wanted - finished - killed
    return JobFigures(len(wanted), len(finished), tuple(sorted(killed)), tuple(sorted(requeued)), len(still))


# Sizes and lengths in the order in which they are handed in: nodes, accelerators on each, seconds. Several fit on a
# node, so that none is ever without work while others wait.
MIX = ((1, 4, 20), (2, 2, 25), (1, 2, 30), (1, 4, 15), (3, 1, 25), (1, 2, 20), (2, 2, 15), (1, 4, 30))


# A job that ends well, but not before it is let go: so it outlasts the work on other nodes however long that takes.
LONG_JOB = "#!/bin/sh\ni=0\nwhile [ ! -e /tmp/let-go ] && [ $i -lt 900 ]; do sleep 1; i=$((i+1)); done\nexit 0\n"
RETURNED_BEFORE_IT_ENDS = 2


def submit_long(node: str, partition: str) -> int:
    """The id of such a job on a node."""
    inside(f"fleet-lab-{node}", ["rm", "-f", "/tmp/let-go"])
    words = ["setpriv", f"--reuid={slurm.USER}", f"--regid={slurm.USER}", "--init-groups", "--reset-env"]
    words += ["sbatch", "--parsable", "--job-name", "long", "--partition", partition, "--nodelist", node]
    words += ["--gpus-per-node", "1", "--time", "20", "--chdir", "/tmp", "--output", "/dev/null"]
    return int(inside(CONTROLLER_CONTAINER, words, text=LONG_JOB).strip().split(";")[0])


@dataclass(slots=True)
class Load:
    """Real jobs for a pool: one on each node, one on `long_on` that outlasts the work on two nodes, and a queue.

    The queue never runs empty: another job of the mix is handed in whenever the witness sees fewer than `waiting` wait.
    """

    partition: str
    witness: Witness
    long_on: str
    waiting: int = 12  # a node that comes back empty takes several at once
    jobs: list[int] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def begin(self, nodes: Sequence[str]) -> None:
        """Hand in jobs until some must wait, then keep the queue filled until `stop`."""
        self.jobs.append(submit_long(self.long_on, self.partition))
        for node in nodes:
            self.jobs.append(slurm.submit_on(node, partition=self.partition, seconds=FIRST_S, gpus=2, name="first"))
        for _ in range(len(nodes) + self.waiting):
            self._one()
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self._thread.start()
        until = time.monotonic() + 60
        while time.monotonic() < until and not self._queued():
            time.sleep(0.2)

    def _queued(self) -> bool:
        last = self.witness.looks[-1].pending if self.witness.looks else None
        return last is not None and last >= self.waiting

    def stop(self) -> None:
        """Hand in no more, and let the long job end."""
        self._stop.set()
        try_inside(f"fleet-lab-{self.long_on}", ["touch", "/tmp/let-go"])
        if self._thread is not None:
            self._thread.join(30)

    def _one(self) -> None:
        nodes, gpus, seconds = MIX[len(self.jobs) % len(MIX)]
        name = f"{nodes}x{gpus}-{seconds}s"
        self.jobs.append(slurm.submit(partition=self.partition, seconds=seconds, nodes=nodes, gpus=gpus, name=name))

    def _keep(self) -> None:
        last = -1.0
        while not self._stop.wait(0.5):
            looks = self.witness.answered
            if not looks or looks[-1].at <= last:
                continue
            last = looks[-1].at + 1  # what is handed in now shows in the look after the next
            try:
                if len(self.witness.returned()) >= RETURNED_BEFORE_IT_ENDS:
                    inside(f"fleet-lab-{self.long_on}", ["touch", "/tmp/let-go"])
                pending = looks[-1].pending
                for _ in range(self.waiting - pending if pending is not None else 0):
                    self._one()
            except Exception as error:  # noqa: BLE001  # told at the end; the scheduler may be stopped on purpose
                self.trouble.append(str(error))


def wait_for_jobs(jobs: Sequence[int], seconds: float = 120) -> JobFigures:
    """The figures once none of `jobs` is open, or when the time is up."""
    until = time.monotonic() + seconds
    while (figures := job_figures(jobs)).open and time.monotonic() < until:
        time.sleep(1)
    return figures
