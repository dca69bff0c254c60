"""The composition root: settings -> adapters -> a fleet that commands, the provider and the page work with.

Nothing here decides. Heavy imports happen where a part is built, so that `fleet --help` pays for none of them.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from fleet.errors import FleetError, InventoryError, Misuse
from fleet.execution.reconcile import Controller, Ports
from fleet.model.ids import NodeId, ReleaseId, RolloutId
from fleet.model.topology import Declared
from fleet.model.trail import TrailEntry
from fleet.ports import Clock, Configure, Engine, Enrol, Lease, Ledger, Observe, People, Schedule, Watch

if TYPE_CHECKING:
    from fleet.adapters.paramiko_ssh import SshPool
    from fleet.execution.certify import Certify
    from fleet.model.order import WorkOrder
    from fleet.model.topology import DeclaredNode
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
    def accept(self, release: ReleaseId, serial: int) -> bool: ...  # never behind one that was accepted
    def close(self) -> None: ...
    def __enter__(self) -> Store: ...
    def __exit__(self, *_: object) -> None: ...


class Store(Ledger, People, Enrol, Lease, History, Protocol):
    """The whole ledger, as the embedded one is."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Where things are. From the environment: FLEET_INVENTORY, _HOME, _INTERVAL, _PATIENCE, _WORKERS."""

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
    def playbooks(self) -> Path:
        """The playbooks that carry verbs out: the project's own, else those that came with the product."""
        mine = self.root / "playbooks"
        return mine if mine.is_dir() else Path(__file__).resolve().parent.parent / "playbooks"

    @property
    def signers(self) -> Path:
        """Who signed this fleet's certificates, as an allowed_signers file."""
        return self.home / "certificates.signers"

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

    def notes(self) -> tuple[str, ...]:
        """What a person should know of the fleet as a whole: a broken edit, who else acts."""
        problem = getattr(self.declared, "problem", "")
        return (f"the last good inventory is in force: {problem}",) if problem else ()

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

    try:
        found.home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Misuse(f"{found.home}", error.strerror or str(error), "set FLEET_HOME to a directory of yours") from error
    return opened(found.ledger)


def _born(pid: int) -> str:
    """When a process of this machine began, in its kernel's ticks; empty where there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]


KEYS_HOLD_SECONDS = 5.0
"""For how long pinned keys are taken from memory: a look at 10,000 nodes reads the ledger once, not 10,000 times."""


def host_keys(store: Ledger, clock: Clock) -> Callable[[NodeId], str]:
    """The pinned host key of a node, as the ledger has it; empty for one that isn't enrolled."""
    lock = threading.Lock()
    read_at, keys = float("-inf"), dict[NodeId, str]()

    def key(node: NodeId) -> str:
        nonlocal read_at, keys
        with lock:
            if clock.monotonic() - read_at > KEYS_HOLD_SECONDS:
                keys = {name: enrolled.host_key for name, enrolled in store.records().enrolled.items()}
                read_at = clock.monotonic()
            return keys.get(node, "")

    return key


def _assemble(found: Settings, declared: Reloading, access: Access) -> Fleet:
    from fleet.adapters.ansible import AnsibleConfigure
    from fleet.adapters.clock import SystemClock
    from fleet.adapters.paramiko_ssh import SshObserve, SshPool
    from fleet.adapters.redfish import RedfishPower
    from fleet.execution.apply import Hands
    from fleet.execution.engine import LocalEngine
    from fleet.spec.releases import doubt

    logging.getLogger("paramiko").setLevel(logging.CRITICAL)  # what it says comes back as an outcome or a gap
    store = open_ledger(found)
    clock = SystemClock()
    keys = host_keys(store, clock)
    pool = SshPool(user=access.ssh.user, key=access.ssh.key)
    packages = sorted({p.name for release in declared().releases.values() for p in release.packages})
    power = RedfishPower(access.bmc.user, access.bmc.password.read, ca=access.bmc.ca)
    schedule = _scheduler(access, pool)
    configure = AnsibleConfigure(
        found.playbooks,
        user=access.ssh.user,
        key=access.ssh.key,
        host_key=keys,
        vendor=lambda node: declared().pools[node.pool].vendor,
    )
    hands = Hands(
        schedule, configure, power, store, doubt=lambda one: doubt(one, found.inventory, datetime.now(UTC).date())
    )
    engine = LocalEngine(hands, declared, found.workers)
    return Fleet(
        settings=found,
        declared=declared,
        store=store,
        sources=(SshObserve(pool, keys, packages=packages), power, schedule),
        schedule=schedule,
        configure=configure,
        engine=engine,
        clock=clock,
        certify=_certifier(found, store),
        closers=(engine.stop, pool.close, store.close),
    )


def _scheduler(access: Access, pool: SshPool) -> Schedule:
    """The scheduler's commands, run where the inventory says: here, or over SSH on its machine."""
    from fleet.adapters.paramiko_ssh import Target, known_host_key, runner
    from fleet.adapters.slurm import SlurmSchedule, run_here

    if access.scheduler.kind != "slurm":
        raise Misuse(f"scheduler {access.scheduler.kind}", "only slurm is known", "write kind: slurm in site.yaml")
    address = access.scheduler.address
    if not address:
        return SlurmSchedule(run_here)

    def target() -> Target:  # read anew: who brings the machine up again changes its key
        return Target("scheduler", address, known_host_key(access.ssh.known_hosts, address), access.ssh.port)

    return SlurmSchedule(runner(pool, target))


def _certifier(found: Settings, store: Store) -> Certify:
    """Writes certificates of retirement, signed with this controller's own key."""
    from fleet.adapters.ssh_signatures.certificates import contents, write

    def certify(node: DeclaredNode, order: WorkOrder, at: datetime) -> str:
        said = contents(node, order, store.trail(order=order.id), store.head(), at)
        path = write(said, signing_key(found), found.certificates)
        return str(path.relative_to(found.root) if path.is_relative_to(found.root) else path.resolve())

    return certify


def signing_key(found: Settings) -> Path:
    """The key of this controller for certificates; made at first use, its public half beside it and in `signers`."""
    key = found.home / "keys" / "certificates"
    if key.exists():
        return key
    import subprocess

    key.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    name = f"fleet@{socket.gethostname()}"
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(key)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FleetError(f"{key}: no key for certificates", done.stderr.strip(), "install openssh-client")
    public = key.with_name("certificates.pub").read_text(encoding="utf-8").split()
    found.signers.write_text(f'{name} namespaces="fleet-certificate" {public[0]} {public[1]}\n', encoding="utf-8")
    return key
