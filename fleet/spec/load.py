"""`inventory/<site>/` as a Declared: all files are read, all problems are told at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from fleet.errors import InventoryError, Problem
from fleet.model.ids import NodeId, PoolId, ReleaseId
from fleet.model.policy import Policy
from fleet.model.release import Release
from fleet.model.topology import Declared, DeclaredNode, Domain, DomainKind, Pool
from fleet.spec.access import Access, BmcAccess, SchedulerAccess, Secret, SshAccess
from fleet.spec.files import AccessFile, NodeFile, NodesFile, PoliciesFile, PoolsFile, RackFile, RacksFile, SiteFile
from fleet.spec.find import project_root
from fleet.spec.policies import contradictions, policy_of
from fleet.spec.problems import did_you_mean, shaped
from fleet.spec.releases import releases
from fleet.spec.text import Mapped, line_of, parse

Model = TypeVar("Model", bound=BaseModel)

_FILES = ("site.yaml", "racks.yaml", "pools.yaml", "nodes.yaml", "policy.yaml")


def load(path: Path | str, *, today: date | None = None) -> Declared:
    """The whole site; raises InventoryError with every problem. `today` judges the expiry of releases."""
    reading = _Reading(Path(path))
    site = reading.file("site.yaml", SiteFile)
    racks = reading.file("racks.yaml", RacksFile)
    pools = reading.file("pools.yaml", PoolsFile)
    nodes = reading.file("nodes.yaml", NodesFile)
    policies = reading.file("policy.yaml", PoliciesFile)
    found, wrong = releases(reading.directory, today or datetime.now(UTC).date())
    reading.problems.extend(wrong)
    reading.strangers()
    broken = {Path(problem.file).stem for problem in wrong}  # releases that exist, though they can't be read
    known = {*found, *broken}
    if racks is not None:
        _check_racks(reading, racks)
    if policies is not None:
        _check_policies(reading, policies)
    if pools is not None:
        _check_pools(reading, pools, policies, known, found)
    if nodes is not None:
        _check_nodes(reading, nodes, racks, pools, known)
    if reading.problems or site is None or racks is None or pools is None or nodes is None or policies is None:
        raise InventoryError(tuple(reading.problems))
    by_pool = {name: policy_of(one.policy, policies.policies[one.policy], name) for name, one in pools.pools.items()}
    return Declared(
        site=site.site,
        region=site.region,
        nodes={NodeId(name): _node(reading, site.site, name, one, racks) for name, one in nodes.nodes.items()},
        pools=_pools(reading, pools, by_pool),
        releases=found,
    )


def load_access(path: Path | str) -> Access:
    """How the shell reaches what the site declares; raises InventoryError where site.yaml does not say it."""
    reading = _Reading(Path(path))
    site = reading.file("site.yaml", SiteFile)
    if site is not None and site.access is None:
        reading.say("site.yaml", (), "there is no `access`", "add `access: {ssh: ..., scheduler: ..., bmc: ...}`")
    if reading.problems or site is None or site.access is None:
        raise InventoryError(tuple(reading.problems))
    return _access(site.site, site.access, project_root(reading.directory))


@dataclass(slots=True)
class _Reading:
    """The files of one site as they are read, and the problems found so far."""

    directory: Path
    problems: list[Problem] = field(default_factory=list)
    texts: dict[str, Mapped] = field(default_factory=dict)

    def file(self, name: str, model: type[Model]) -> Model | None:
        """One file as its model; None where it can't be used."""
        path = self.directory / name
        try:
            raw = path.read_bytes()
        except OSError as error:
            self.problems.append(Problem(str(path), 0, f"can't be read: {error.strerror}", f"write {name}"))
            return None
        parsed, wrong = parse(raw, str(path))
        self.problems.extend(wrong)
        if parsed is None:
            return None
        self.texts[name] = parsed
        found, wrong = shaped(model, parsed, str(path))
        self.problems.extend(wrong)
        return found

    def say(self, name: str, place: tuple[object, ...], text: str, instead: str = "") -> None:
        """Adds a problem at a path of keys in a file."""
        self.problems.append(Problem(str(self.directory / name), self.line(name, place), text, instead))

    def line(self, name: str, place: tuple[object, ...]) -> int:
        """The line of a path of keys."""
        return line_of(self.texts.get(name), place)

    def strangers(self) -> None:
        """Names YAML files that nobody reads: a mistyped name would else be passed over in silence."""
        for path in sorted((*self.directory.glob("*.yaml"), *self.directory.glob("*.yml"))):
            if path.name not in _FILES:
                text = "this file is not read"
                self.problems.append(Problem(str(path), 0, text, did_you_mean(path.name, _FILES)))


def _check_racks(reading: _Reading, racks: RacksFile) -> None:
    tables = {"feed": racks.feeds, "leaf": racks.leaves, "loop": racks.loops}
    for name, rack in racks.racks.items():
        for kind, table in tables.items():
            _known(reading, "racks.yaml", ("racks", name, kind), kind, getattr(rack, kind), table)


def _check_policies(reading: _Reading, policies: PoliciesFile) -> None:
    for name, written in policies.policies.items():
        for place, text, instead in contradictions(written):
            where = ("policies", name, *(int(part) if part.isdigit() else part for part in place))
            reading.say("policy.yaml", where, f"{name}.{'.'.join(place)}: {text}", instead)


def _check_pools(
    reading: _Reading,
    pools: PoolsFile,
    policies: PoliciesFile | None,
    known: Iterable[str],
    found: Mapping[ReleaseId, Release],
) -> None:
    for name, pool in pools.pools.items():
        place = ("pools", name)
        _known(reading, "pools.yaml", (*place, "release"), "release", pool.release, known)
        if policies is not None:
            _known(reading, "pools.yaml", (*place, "policy"), "policy", pool.policy, policies.policies)
        release = found.get(ReleaseId(pool.release))
        if release is not None and release.vendor != pool.vendor:
            text = f"pool {name} is {pool.vendor}, and release {pool.release} is for {release.vendor}"
            reading.say("pools.yaml", (*place, "release"), text, f"name a release of {pool.vendor}")


def _check_nodes(
    reading: _Reading, nodes: NodesFile, racks: RacksFile | None, pools: PoolsFile | None, known: Iterable[str]
) -> None:
    unique: dict[tuple[str, object], str] = {}
    for name, node in nodes.nodes.items():
        place = ("nodes", name)
        if pools is not None:
            _known(reading, "nodes.yaml", (*place, "pool"), "pool", node.pool, pools.pools)
        if racks is not None:
            _known(reading, "nodes.yaml", (*place, "rack"), "rack", node.rack, racks.racks)
            rack = racks.racks.get(node.rack)
            if rack is not None and node.slot is not None and node.slot > rack.units:
                text = f"{name} stands in slot {node.slot}, and rack {node.rack} has {rack.units} units"
                reading.say("nodes.yaml", (*place, "slot"), text, "correct the slot or the rack's units")
        _known(reading, "nodes.yaml", (*place, "release"), "release", node.release, known)
        for what, value in _must_differ(node):
            first = unique.setdefault((what, value), name)
            if first != name:
                shown = f"slot {node.slot} of rack {node.rack}" if what == "slot" else f"{what} {value}"
                text = f"{name} and {first} both have {shown}"
                reading.say("nodes.yaml", (*place, what), text, "each node has its own")


def _must_differ(node: NodeFile) -> tuple[tuple[str, object], ...]:
    found: tuple[tuple[str, object], ...] = (
        ("serial", node.serial),
        ("address", node.address.lower()),
        ("bmc", node.bmc.lower().rstrip("/")),
    )
    return found if node.slot is None else (*found, ("slot", (node.rack, node.slot)))


def _known(
    reading: _Reading, file: str, place: tuple[str, ...], kind: str, name: str | None, table: Iterable[str]
) -> None:
    names = table if isinstance(table, Mapping | set) else tuple(table)
    if name is not None and name not in names:
        owner = place[-2]
        reading.say(file, place, f"{owner}: there is no {kind} '{name}'", did_you_mean(name, list(names)))


def _node(reading: _Reading, site: str, name: str, written: NodeFile, racks: RacksFile) -> DeclaredNode:
    return DeclaredNode(
        id=NodeId(name),
        pool=PoolId(written.pool),
        serial=written.serial,
        domains=_domains(site, written, racks.racks[written.rack]),
        address=written.address,
        bmc=written.bmc,
        accelerators=written.accelerators,
        disposition=written.disposition,
        rack=written.rack,
        slot=written.slot,
        release=ReleaseId(written.release) if written.release is not None else None,
        place=f"{reading.directory / 'nodes.yaml'}:{reading.line('nodes.yaml', ('nodes', name))}",
    )


def _domains(site: str, node: NodeFile, rack: RackFile) -> tuple[Domain, ...]:
    named: tuple[tuple[DomainKind, str | None], ...] = (
        (DomainKind.POOL, node.pool),
        (DomainKind.RACK, node.rack),
        (DomainKind.FEED, rack.feed),
        (DomainKind.LOOP, rack.loop),
        (DomainKind.LEAF, rack.leaf),
        (DomainKind.NVLINK, node.nvlink),
        (DomainKind.SITE, site),
    )
    return tuple(Domain(kind, name) for kind, name in named if name is not None)


def _pools(reading: _Reading, pools: PoolsFile, policies: Mapping[str, Policy]) -> Mapping[PoolId, Pool]:
    return {
        PoolId(name): Pool(
            id=PoolId(name),
            accelerator=written.accelerator,
            vendor=written.vendor,
            release=ReleaseId(written.release),
            policy=policies[name],
            partition=written.partition or name,
            place=f"{reading.directory / 'pools.yaml'}:{reading.line('pools.yaml', ('pools', name))}",
        )
        for name, written in pools.pools.items()
    }


def _access(site: str, written: AccessFile, root: Path) -> Access:
    ssh, bmc = written.ssh, written.bmc
    return Access(
        site=site,
        root=root,
        ssh=SshAccess(ssh.user, root / ssh.key, root / ssh.known_hosts, ssh.port),
        scheduler=SchedulerAccess(written.scheduler.kind, written.scheduler.address),
        bmc=BmcAccess(bmc.user, Secret(bmc.password, root), root / bmc.ca if bmc.ca is not None else None),
    )
