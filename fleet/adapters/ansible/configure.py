"""One run of ansible-runner per verb and batch of nodes, each in a directory of its own that goes afterwards.

The runner's thread only puts events into a queue; whoever called `run` takes them out and reports each node's end as it
is known. A run ends at its time limit or by `cancel`, with every process it started; what went on over on a node goes
on behind the node's own lock, and shows there.
"""

from __future__ import annotations

import json
import logging
import queue
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fleet.adapters.ansible import inventory, outcomes, processes
from fleet.model.ids import NodeId, Verb
from fleet.model.order import Again, Failed, Outcome
from fleet.model.plan import Step
from fleet.model.release import Release
from fleet.model.topology import DeclaredNode

Batch = Sequence[tuple[Step, DeclaredNode, int]]
Ended = Callable[[Step, Outcome], None]

LIMITS: Mapping[Verb, float] = {
    Verb.STAGE: 1900,
    Verb.CONVERGE: 1900,
    Verb.REVERT: 1900,
    Verb.REBOOT: 960,
    Verb.VERIFY: 360,
    Verb.WIPE: 87000,
}
"""Seconds for a whole run: a little more than the wrapper on the node allows its verb."""
DEFAULT_LIMIT = 360.0
LONGEST_SOCKET_DIRECTORY = 60  # ssh's control sockets have room for 104 bytes of path in all

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the playbooks are told beside the step. Each has a default that suits a Slurm node of Debian or Ubuntu."""

    disks: tuple[str, ...] = ("/var/lib/scratch/disk0.img",)
    services: tuple[str, ...] = ("nvidia-persistenced", "nvidia-fabricmanager", "gpuagent", "slurmd")
    revoke_services: tuple[str, ...] = ("slurmd", "munge")
    revoke_files: tuple[str, ...] = (
        "/etc/munge/munge.key",
        "/etc/apt/auth.conf",
        "/etc/apt/auth.conf.d/*",
        "/etc/ssh/*-cert.pub",
        "/root/.ssh/id_*",
    )
    verify_level: str = "standard"
    hottest_celsius: float = 100.0
    limits: Mapping[Verb, float] = field(default_factory=lambda: LIMITS)
    forks: int = 64

    def variables(self, operator_keys: Sequence[str]) -> dict[str, Any]:
        """The same as variables of Ansible."""
        return {
            "fleet_disks": list(self.disks),
            "fleet_services": list(self.services),
            "fleet_revoke_services": list(self.revoke_services),
            "fleet_revoke_files": list(self.revoke_files),
            "fleet_operator_keys": list(operator_keys),
            "fleet_verify_level": self.verify_level,
            "fleet_hottest_celsius": self.hottest_celsius,
        }


class AnsibleConfigure:
    """The port `Configure`. `host_key` gives a node's pinned key, `vendor` whose accelerators it has."""

    def __init__(
        self,
        playbooks: Path,
        *,
        user: str,
        key: Path,
        host_key: Callable[[NodeId], str],
        vendor: Callable[[DeclaredNode], str],
        settings: Settings | None = None,
    ) -> None:
        self._playbooks, self._user, self._key = playbooks.resolve(), user, key.resolve()
        self._host_key, self._vendor, self._settings = host_key, vendor, settings or Settings()
        self._running: dict[str, threading.Event] = {}
        self._lock = threading.Lock()

    def run(self, verb: Verb, steps: Batch, release: Release | None, ended: Ended) -> None:
        """Carry a verb out on a batch of nodes; `ended` is called for each of them once, from this thread."""
        playbook = self._playbooks / f"{verb}.yml"
        if not playbook.exists():
            for step, _, _ in steps:
                ended(step, Failed(f"no playbook carries out {verb} ({playbook})"))
            return
        if verb in (Verb.STAGE, Verb.CONVERGE, Verb.REVERT) and (release is None or release.untrusted):
            why = release.untrusted if release is not None else "no release was named"
            for step, _, _ in steps:
                ended(step, Failed(f"not applied: {why}"))
            return
        reachable = []
        for step, node, token in steps:
            if self._host_key(node.id):
                reachable.append((step, node, token))
            else:
                ended(step, Again(outcomes.LATER, "its host key is not pinned; enrol it with `pulumi up`"))
        if reachable:
            self._play(verb, playbook, reachable, release, ended)

    def cancel(self) -> None:
        """End every run now, with all of its processes. A node without a result is lost, or to be asked again."""
        with self._lock:
            running = dict(self._running)
        for mark, cancelled in running.items():
            cancelled.set()
            processes.end_run(mark)

    def _play(self, verb: Verb, playbook: Path, steps: Batch, release: Release | None, ended: Ended) -> None:
        place = _place_for_sockets()
        processes.sweep(Path(place))
        private = Path(tempfile.mkdtemp(prefix=processes.PREFIX, dir=place))
        processes.sign(private)
        cancelled = threading.Event()
        with self._lock:
            self._running[str(private)] = cancelled
        try:
            self._prepare(private, steps, release)
            run = _Run(private, playbook, self._playbooks, min(len(steps), self._settings.forks), cancelled)
            run.follow(verb, steps, self._settings.limits.get(verb, DEFAULT_LIMIT), ended)
        finally:
            processes.end_run(str(private))
            shutil.rmtree(private, ignore_errors=True)
            with self._lock:
                del self._running[str(private)]

    def _prepare(self, private: Path, steps: Batch, release: Release | None) -> None:
        known_hosts = private / "known_hosts"
        known_hosts.write_text(
            inventory.known_hosts_text({node.address: self._host_key(node.id) for _, node, _ in steps})
        )
        hosts = inventory.inventory(
            steps,
            user=self._user,
            key=self._key,
            known_hosts=known_hosts,
            vendors={node.id: self._vendor(node) for _, node, _ in steps},
            common={**self._settings.variables(self._operator_keys()), **inventory.release_variables(release)},
        )
        (private / "hosts.json").write_text(json.dumps(hosts))

    def _operator_keys(self) -> tuple[str, ...]:
        """The public half of our key, so that revoke knows what to take away last."""
        public = self._key.with_name(self._key.name + ".pub")
        return (" ".join(public.read_text().split()[:2]),) if public.exists() else ()


@dataclass(slots=True)
class _Run:
    """One run: the runner in a thread, its events in a queue."""

    private: Path
    playbook: Path
    playbooks: Path
    forks: int
    cancelled: threading.Event
    events: queue.SimpleQueue[tuple[str, Mapping[str, Any]]] = field(default_factory=queue.SimpleQueue)
    error: str = ""

    def follow(self, verb: Verb, steps: Batch, limit: float, ended: Ended) -> None:
        """Report ends as they come; what has none when the run is over is settled by how far it had come."""
        waiting = {str(node.id): step for step, node, _ in steps}
        begun: set[str] = set()
        deadline = time.monotonic() + limit
        thread = threading.Thread(target=self._runner, name=f"ansible {verb}", daemon=True)
        thread.start()
        try:
            while thread.is_alive() or not self.events.empty():
                if time.monotonic() > deadline and not self.cancelled.is_set():
                    self.error = f"no end within {limit:g} s; the run was ended"
                    self.cancelled.set()
                    processes.end_run(str(self.private))
                try:
                    event, data = self.events.get(timeout=0.2)
                except queue.Empty:
                    continue
                if event == "runner_on_start" and data.get("task_action") == outcomes.TASK:
                    begun.add(str(data.get("host")))
                settled = outcomes.outcome_of(verb, event, data)
                if settled is not None and settled[0] in waiting:
                    ended(waiting.pop(settled[0]), settled[1])
            was_cancelled = self.cancelled.is_set()
        finally:
            self.cancelled.set()
            if thread.is_alive():
                processes.end_run(str(self.private))
            thread.join(timeout=30)
        why = self.error or ("cancelled" if was_cancelled else "the run gave no result")
        for host, step in waiting.items():
            ended(step, outcomes.unknown(verb, why) if host in begun else Again(outcomes.LATER, why))

    def _runner(self) -> None:
        try:
            import ansible_runner

            runner = ansible_runner.interface.init_runner(
                private_data_dir=str(self.private),
                project_dir=str(self.playbooks),
                playbook=str(self.playbook),
                inventory=str(self.private / "hosts.json"),
                envvars=inventory.environment(self.private, self.playbooks),
                settings={"pexpect_timeout": 1, "suppress_ansible_output": True},
                forks=self.forks,
                quiet=True,
                event_handler=self._take,
                cancel_callback=self.cancelled.is_set,
            )
            runner.run()
            if runner.rc and not self.cancelled.is_set():
                self.error = _last_line(runner) or f"ansible-playbook: exit {runner.rc}"
        except Exception as error:  # noqa: BLE001 (a thread must hand its error over, whatever it is)
            _log.exception("ansible-runner broke down")
            self.error = f"ansible-runner: {type(error).__name__}: {error}"

    def _take(self, event: Mapping[str, Any]) -> bool:
        """Only hands the event on: an exception here would end the run. False: it isn't kept in a file."""
        self.events.put((str(event.get("event")), event.get("event_data") or {}))
        return False


def _last_line(runner: Any) -> str:
    """The first complaint that a run printed."""
    with runner.stdout as file:
        lines = [line.strip() for line in file if line.strip()]
    errors = [line for line in lines if line.startswith(("ERROR", "[ERROR]", "fatal:"))]
    return str((errors or lines[-1:] or [""])[0])[:300]


def _place_for_sockets() -> str:
    """A directory for temporary files whose path leaves room for the names of ssh's sockets."""
    place = tempfile.gettempdir()
    return place if len(place) <= LONGEST_SOCKET_DIRECTORY - 30 else "/tmp"
