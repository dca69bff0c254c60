"""The composition root: settings -> adapters -> a fleet that commands, the provider and the page work with.

Nothing here decides. Heavy imports happen where a part is built, so that `fleet --help` pays for none of them.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from fleet.errors import FleetError, InventoryError
from fleet.execution.reconcile import Controller, Ports
from fleet.model.ids import NodeId, RolloutId
from fleet.model.topology import Declared
from fleet.model.trail import TrailEntry
from fleet.ports import Clock, Configure, Engine, Enrol, Lease, Ledger, Observe, People, Schedule, Watch

if TYPE_CHECKING:
    from fleet.execution.certify import Certify
    from fleet.spec.access import Access


class History(Protocol):
    """What the ledger tells of the past."""

    def trail(
        self, *, node: str = "", order: str = "", since: datetime | None = None, limit: int | None = None
    ) -> tuple[TrailEntry, ...]: ...
    def resume(self, rollout: RolloutId, by: str, at: datetime) -> None: ...
    def head(self) -> tuple[int, str]: ...
    def give_back(self, node: NodeId, by: str, did: str, at: datetime) -> bool: ...
    def holder(self) -> str: ...


class Store(Ledger, People, Enrol, Lease, History, Protocol):
    """The whole ledger, as the embedded one is."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Where things are. From the environment: FLEET_INVENTORY, FLEET_HOME, FLEET_INTERVAL, FLEET_PATIENCE, FLEET_WORKERS."""

    inventory: Path
    home: Path
    root: Path
    interval: float = 2.0
    workers: int = 16
    patience: float = 600.0  # seconds after which a node that can't be seen or reached needs a person

    @property
    def ledger(self) -> Path:
        """The ledger's file."""
        return self.home / "ledger.db"

    @property
    def stop_file(self) -> Path:
        """While it exists, nothing new starts."""
        return self.home / "stop"

    @property
    def certificates(self) -> Path:
        """Where certificates of retirement are written."""
        return self.home / "certificates"


def settings(inventory: Path | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """The settings of this call: what is given, then the environment, then what lies beneath this directory."""
    from fleet.spec import find_inventory, project_root

    given = os.environ if environ is None else environ
    found = find_inventory(inventory, environ=given)
    root = project_root(found)
    home = Path(given["FLEET_HOME"]) if given.get("FLEET_HOME") else root / ".fleet"
    return Settings(
        inventory=found,
        home=home,
        root=root,
        interval=_number(given, "FLEET_INTERVAL", 2.0),
        patience=_number(given, "FLEET_PATIENCE", 600.0),
        workers=int(_number(given, "FLEET_WORKERS", 16)),
    )


def _number(environ: Mapping[str, str], name: str, otherwise: float) -> float:
    text = environ.get(name, "")
    try:
        found = float(text) if text else otherwise
    except ValueError:
        found = -1.0
    if found <= 0:
        from fleet.errors import Misuse

        raise Misuse(f"{name}={text}", "it is not a number above 0", f"unset it, or set {name}={otherwise:g}")
    return found


@dataclass(slots=True)
class Reloading:
    """The declared state, read again when a file of it changes. A broken edit leaves the last good one in force."""

    inventory: Path
    load: Callable[[Path], Declared]
    problem: str = ""
    _stamp: tuple[tuple[str, int, int], ...] = ()
    _good: Declared | None = None

    def __call__(self) -> Declared:
        """What git declares now; raises InventoryError where nothing good was ever read."""
        stamp = tuple(
            sorted(
                (str(path), path.stat().st_mtime_ns, path.stat().st_size)
                for path in self.inventory.rglob("*")
                if path.is_file()
            )
        )
        if self._good is not None and stamp == self._stamp:
            return self._good
        try:
            self._good, self.problem = self.load(self.inventory), ""
        except InventoryError as error:
            if self._good is None:
                raise
            self.problem = str(error)
        self._stamp = stamp
        return self._good


@dataclass(frozen=True, slots=True)
class Fleet:
    """A fleet ready to be looked at and worked on: what commands are given."""

    settings: Settings
    declared: Callable[[], Declared]
    store: Store
    sources: Sequence[Observe | Schedule]
    schedule: Schedule
    configure: Configure
    engine: Engine
    clock: Clock
    certify: Certify | None = None
    closers: tuple[Callable[[], None], ...] = field(default=())

    def controller(self, watch: Watch | None = None) -> Controller:
        """A controller of this process. Only one of all controllers holds the lease."""
        from fleet.execution.stop_file import UnderStopFile

        ports = Ports(
            sources=self.sources,
            schedule=self.schedule,
            ledger=UnderStopFile(self.store, self.settings.stop_file.exists),
            lease=self.store,
            engine=self.engine,
            clock=self.clock,
            watch=watch,
            certify=self.certify,
        )
        return Controller(self.declared, ports, self.holder)

    @property
    def holder(self) -> str:
        """The name under which this process holds the lease."""
        return f"{socket.gethostname()}:{os.getpid()}:{_born(os.getpid())}"

    def bury_the_dead(self) -> bool:
        """Frees the lease where its holder was a process of this machine that is no more. True where it was."""
        holder = self.store.holder()
        host, _, rest = holder.partition(":")
        pid, _, born = rest.partition(":")
        if host != socket.gethostname() or not pid.isdigit() or _born(int(pid)) == born:
            return False
        self.store.give(holder)
        return True

    def close(self) -> None:
        """Let everything go: the lease, connections, files."""
        for close in self.closers:
            close()

    def __enter__(self) -> Fleet:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_fleet(inventory: Path | None = None) -> Fleet:
    """The fleet of an inventory on its real adapters. The inventory is read first: a mistake in it stops here."""
    from fleet.spec import load, load_access

    found = settings(inventory)
    declared = Reloading(found.inventory, load)
    declared()
    return _assemble(found, declared, load_access(found.inventory))


def open_ledger(found: Settings) -> Store:
    """The ledger alone, for commands that look at nothing else."""
    from fleet.adapters.ledger_sql import open_ledger as opened

    found.home.mkdir(parents=True, exist_ok=True)
    return opened(found.ledger)


def _born(pid: int) -> str:
    """When a process of this machine began, in its kernel's ticks; empty where there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]


def host_keys(store: Enrol) -> Callable[[NodeId], str]:
    """The pinned host key of a node, as the ledger has it; empty for one that isn't enrolled."""

    def key(node: NodeId) -> str:
        enrolled = store.enrolment(node)
        return enrolled.host_key if enrolled is not None else ""

    return key


def _assemble(found: Settings, declared: Reloading, access: Access) -> Fleet:
    raise FleetError("the adapters are not wired yet")
