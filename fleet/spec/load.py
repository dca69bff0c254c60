"""`inventory/<site>/` as a Declared: all files are read, all problems are told at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path

from fleet.errors import InventoryError
from fleet.model.economy import Tenant
from fleet.model.ids import PoolId, ReleaseId
from fleet.model.policy import Policy
from fleet.model.release import Release
from fleet.model.topology import Declared, Pool
from fleet.spec.access import Access, BmcAccess, SchedulerAccess, Secret, SshAccess
from fleet.spec.burst import bursts
from fleet.spec.burst_file import BurstsFile
from fleet.spec.economy_file import economy
from fleet.spec.files import AccessFile, PoliciesFile, PoolFile, PoolsFile, SiteFile
from fleet.spec.find import project_root
from fleet.spec.hardware_file import ModelsFile
from fleet.spec.models import catalogue
from fleet.spec.nodes import Known, nodes
from fleet.spec.nodes_file import NodesFile
from fleet.spec.plant import Grid, plant
from fleet.spec.plant_file import RacksFile
from fleet.spec.policies import contradictions, policy_of
from fleet.spec.reading import SiteReading
from fleet.spec.releases import may_sign, releases
from fleet.spec.signature import APPROVAL

PARTS = ("site", "racks", "pools", "nodes", "policy", "models", "fabrics", "storage", "burst")
"""What an inventory is made of: `PART.yaml`, and but for the site every `*.yaml` in `PART/`."""


def load(path: Path | str, *, today: date | None = None) -> Declared:
    """The whole site; raises InventoryError with every problem. `today` judges the expiry of releases."""
    reading = SiteReading(Path(path), PARTS)
    site = reading.part("site", SiteFile)
    models = catalogue(reading, reading.part("models", ModelsFile, optional=True))
    racks = reading.part("racks", RacksFile)
    pools = reading.part("pools", PoolsFile)
    written = reading.part("nodes", NodesFile)
    policies = reading.part("policy", PoliciesFile)
    hires = reading.part("burst", BurstsFile, optional=True)
    today = today or datetime.now(UTC).date()
    found, wrong = releases(reading.directory, today)
    reading.problems.extend(wrong)
    reading.strangers()
    broken = {Path(problem.file).stem for problem in wrong}  # releases that exist, though they can't be read
    known_releases = {*found, *broken}
    building = plant(reading, racks, _grid(site)) if racks is not None else None
    if policies is not None:
        _check_policies(reading, policies)
    if pools is not None:
        _check_pools(reading, pools, policies, known_releases, found, models.machines)
    known = Known(
        site=site.site if site is not None else "",
        racks=building.racks if building is not None else None,
        pools=pools.pools if pools is not None else None,
        releases=known_releases,
        models=models,
        site_hardware=site.hardware if site is not None else None,
    )
    money = economy(reading, site.economy if site is not None else None)
    hired = bursts(reading, hires, pools.pools, money) if hires is not None and pools is not None else {}
    declared_nodes = nodes(reading, written, known) if written is not None else {}
    if reading.problems or site is None or building is None or pools is None or written is None or policies is None:
        raise InventoryError(tuple(reading.problems))
    by_pool = {name: _policy(reading, policies, one.policy, name) for name, one in pools.pools.items()}
    return Declared(
        site=site.site,
        region=site.region,
        nodes=declared_nodes,
        pools=_pools(reading, pools, by_pool),
        releases=found,
        plant=building,
        accelerators=models.boards,
        switch_models=models.switches,
        economy=money,
        bursts=hired,
        approvers=may_sign(reading.directory, APPROVAL, today),
    )


def _policy(reading: SiteReading, policies: PoliciesFile, name: str, pool: str) -> Policy:
    def at(keys: tuple[str, ...]) -> str:
        return reading.place("policy", ("policies", name, *keys))

    return policy_of(name, policies.policies[name], pool, roles=policies.roles, at=at)


def load_access(path: Path | str) -> Access:
    """How the shell reaches what the site declares; raises InventoryError where site.yaml does not say it."""
    reading = SiteReading(Path(path), PARTS)
    site = reading.part("site", SiteFile)
    if site is not None and site.access is None:
        reading.say("site", (), "there is no `access`", "add `access: {ssh: ..., scheduler: ..., bmc: ...}`")
    if reading.problems or site is None or site.access is None:
        raise InventoryError(tuple(reading.problems))
    return _access(site.site, site.access, project_root(reading.directory))


def _grid(site: SiteFile | None) -> Grid:
    return Grid(site.power, site.code, site.next_rack) if site is not None else Grid()


def _check_policies(reading: SiteReading, policies: PoliciesFile) -> None:
    for name, written in policies.policies.items():
        for place, text, instead in contradictions(written):
            where = ("policies", name, *(int(part) if part.isdigit() else part for part in place))
            reading.say("policy", where, f"{name}.{'.'.join(place)}: {text}", instead)


def _check_pools(
    reading: SiteReading,
    pools: PoolsFile,
    policies: PoliciesFile | None,
    known: Iterable[str],
    found: Mapping[ReleaseId, Release],
    machines: Iterable[str],
) -> None:
    for name, pool in pools.pools.items():
        place = ("pools", name)
        reading.known_in("pools", (*place, "release"), "release", pool.release or None, known)
        reading.known_in("pools", (*place, "model"), "model", pool.model, machines)
        if policies is not None:
            reading.known_in("pools", (*place, "policy"), "policy", pool.policy, policies.policies)
        _check_vendor(reading, place, pool, found.get(ReleaseId(pool.release)))


def _check_vendor(reading: SiteReading, place: tuple[str, str], pool: PoolFile, release: Release | None) -> None:
    """Accelerator, vendor and release go together, or none of them is there."""
    said = {"accelerator": pool.accelerator, "vendor": pool.vendor, "release": pool.release}
    if any(said.values()):
        for key in (key for key, value in said.items() if not value):
            reading.say("pools", place, f"pools.{place[1]} has no '{key}'", f"add `{key}: ...`")
    if release is not None and pool.vendor and release.vendor != pool.vendor:
        text = f"pool {place[1]} is {pool.vendor}, and release {pool.release} is for {release.vendor}"
        reading.say("pools", (*place, "release"), text, f"name a release of {pool.vendor}")


def _pools(reading: SiteReading, pools: PoolsFile, policies: Mapping[str, Policy]) -> Mapping[PoolId, Pool]:
    return {
        PoolId(name): Pool(
            id=PoolId(name),
            accelerator=written.accelerator,
            vendor=written.vendor,
            release=ReleaseId(written.release),
            policy=policies[name],
            partition=written.partition or name,
            place=reading.place("pools", ("pools", name)),
            purpose=written.purpose,
            scheduler=written.scheduler,
            tenants=tuple(
                Tenant(tenant, one.quota, one.priority, reading.place("pools", ("pools", name, "tenants", tenant)))
                for tenant, one in written.tenants.items()
            ),
            priority=written.priority,
            data_class=written.data_class,
            regions=tuple(written.regions),
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
