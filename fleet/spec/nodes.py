"""nodes.yaml as the model's nodes: blocks written out, overrides laid over them, references looked up."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from fleet.model.ids import NodeId, PoolId, ReleaseId
from fleet.model.plant import Rack
from fleet.model.topology import DeclaredNode, Disposition, Domain, DomainKind
from fleet.spec.files import PoolFile
from fleet.spec.hardware_file import HardwareFile
from fleet.spec.models import Catalogue
from fleet.spec.nodes_file import Each, NodeFile, NodesFile, OverrideFile
from fleet.spec.problems import did_you_mean
from fleet.spec.reading import SiteReading
from fleet.spec.sets import MOST, counted, expand, spread

PART = "nodes"
ACCELERATORS = 8
"""How many a node has of which neither its block nor its model says it."""

_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.:-]{0,252}")
_NUMBERS = re.compile(r"[0-9.]+")
_HTTPS = re.compile(r"https://([A-Za-z0-9.-]+|\[[0-9a-fA-F:.]+\])(:\d{1,5})?(/[A-Za-z0-9._/-]*)?")
_MAC = re.compile(r"(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}")

Made = TypeVar("Made")


@dataclass(slots=True)
class _Row:
    """One node as it is written out; `at` is the place of keys that it stands at, `hardware` what is laid over its
    model."""

    pool: str | None
    rack: str
    at: tuple[object, ...]
    place: str
    serial: str = ""
    address: str = ""
    bmc: str = ""
    mac: str = ""
    slot: int | None = None
    model: str | None = None
    accelerators: int | None = None
    disposition: Disposition | None = Disposition.IN_SERVICE
    release: str | None = None
    nvlink: str | None = None
    hardware: tuple[HardwareFile, ...] = ()


TEXTS = ("serial", "address", "bmc", "mac")


@dataclass(slots=True)
class Known:
    """What nodes may refer to."""

    site: str
    racks: Mapping[str, Rack] | None
    pools: Mapping[str, PoolFile] | None
    releases: Collection[str]
    models: Catalogue
    site_hardware: HardwareFile | None = None
    domains: dict[tuple[DomainKind, str], Domain] = field(default_factory=dict)

    def domain(self, kind: DomainKind, name: str) -> Domain:
        """One object for each domain, however many nodes are in it."""
        return self.domains.setdefault((kind, name), Domain(kind, name))


def nodes(reading: SiteReading, written: NodesFile, known: Known) -> Mapping[NodeId, DeclaredNode]:
    """Every declared node; complete only where no problem was added."""
    rows: dict[str, _Row] = {}
    for block, one in written.nodes.items():
        _write_block(reading, known, rows, block, one)
    for names, override in written.overrides.items():
        _override(reading, known, rows, names, override)
    found = {NodeId(name): _node(known, name, row) for name, row in rows.items()}
    _each_its_own(reading, rows, found)
    return found


def _write_block(reading: SiteReading, known: Known, rows: dict[str, _Row], block: str, one: NodeFile) -> None:
    place = ("nodes", block)
    names = _said(reading, place, lambda: expand(block)) or ()
    _references(reading, known, place, one)
    racks = _said(reading, (*place, "rack"), lambda: expand(one.rack)) or ()
    links = (_said(reading, (*place, "nvlink"), lambda: expand(one.nvlink or "")) or ()) if one.nvlink else ()
    for name in racks:
        if known.racks is not None and name not in known.racks:
            reading.known_in(PART, (*place, "rack"), "rack", name, known.racks)
            racks = ()
    for key in TEXTS:
        listed = getattr(one, key)
        if isinstance(listed, list) and len(listed) != len(names):
            text = f"{block} is {len(names)} nodes, and {key} lists {len(listed)}"
            reading.say(PART, (*place, key), text, f"list {len(names)}")
            return
    if len(rows) + len(names) > MOST:
        reading.say(PART, place, f"more than {MOST} nodes", "split them into several sites")
        return
    in_rack: dict[str, int] = {}
    at = reading.place(PART, place)
    for index, name in enumerate(names):
        if name in rows:
            reading.say(PART, place, f"node {name} is declared twice; first at {rows[name].place}", "declare it once")
            continue
        rack = spread(racks, index, len(names)) if racks else ""
        nth = in_rack[rack] = in_rack.get(rack, -1) + 1
        row = rows[name] = _Row(
            pool=one.pool,
            rack=rack,
            at=place,
            place=at,
            slot=one.slot[nth % len(one.slot)] if isinstance(one.slot, list) else one.slot,
            model=one.model,
            accelerators=one.accelerators,
            disposition=one.disposition,
            release=one.release,
            nvlink=spread(links, index, len(names)) if links else None,
            hardware=(one.hardware,) if one.hardware is not None else (),
        )
        for key in TEXTS:
            setattr(row, key, _own(reading, (*place, key), getattr(one, key), index, name))


def _own(reading: SiteReading, place: tuple[object, ...], text: Each | None, index: int, name: str) -> str:
    """One node's own value: its item of a list, or the text counted up and filled in."""
    if text is None:
        return ""
    key = place[-1]
    value = text[index] if isinstance(text, list) else _said(reading, place, lambda: counted(text, index, name)) or ""
    wrong = _malformed(str(key), value)
    if wrong:
        reading.say(PART, place, f"nodes.{name}.{key}: '{value}' {wrong[0]}", wrong[1])
    return value


def _malformed(key: str, value: str) -> tuple[str, str] | None:
    """What is wrong with an address, and what to write."""
    match key:
        case "address":
            good = _HOST.fullmatch(value) and _is_address(value)
            return None if good else ("can't stand here", "write an address or a host name")
        case "bmc":
            found = _HTTPS.fullmatch(value)
            good = found is not None and _is_address(found.group(1).strip("[]"))
            return None if good else ("can't stand here", "write `https://` and the BMC's address, with no user in it")
        case "mac":
            return None if _MAC.fullmatch(value) else ("is no MAC address", "write 02:00:00:00:00:01")
    return None


def _is_address(text: str) -> bool:
    """Whether a text that looks like an IP address is one; a name is taken as it is."""
    if not (_NUMBERS.fullmatch(text) or ":" in text):
        return True
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _references(reading: SiteReading, known: Known, place: tuple[object, ...], one: NodeFile | OverrideFile) -> None:
    if known.pools is not None:
        reading.known_in(PART, (*place, "pool"), "pool", one.pool, known.pools)
    reading.known_in(PART, (*place, "release"), "release", one.release, known.releases)
    if one.model is not None and one.model not in known.models.machines:
        text = f"{place[-1]}: there is no model '{one.model}'"
        reading.say(PART, (*place, "model"), text, did_you_mean(one.model, list(known.models.machines)))


def _override(reading: SiteReading, known: Known, rows: dict[str, _Row], names: str, one: OverrideFile) -> None:
    place = ("overrides", names)
    _references(reading, known, place, one)
    if known.racks is not None:
        reading.known_in(PART, (*place, "rack"), "rack", one.rack, known.racks)
    for index, name in enumerate(_said(reading, place, lambda: expand(names)) or ()):
        row = rows.get(name)
        if row is None:
            reading.say(PART, place, f"there is no node '{name}' to override", did_you_mean(name, list(rows)))
            continue
        for key in one.model_fields_set - {"hardware"}:
            value = getattr(one, key)
            if key in TEXTS:
                value = _own(reading, (*place, key), value, index, name)
            setattr(row, key, value)
        if one.hardware is not None:
            row.hardware = (*row.hardware, one.hardware)
        if one.model_fields_set - {"hardware"}:
            row.place, row.at = reading.place(PART, place), place


def _node(known: Known, name: str, row: _Row) -> DeclaredNode:
    pool = known.pools.get(row.pool or "") if known.pools is not None else None
    named = row.model or (pool.model if pool is not None else None)
    model = known.models.machine(named, pool.node if pool is not None else None, known.site_hardware, *row.hardware)
    count = row.accelerators
    if count is None:
        count = model.accelerators if model is not None and named is not None else ACCELERATORS
    return DeclaredNode(
        id=NodeId(name),
        pool=PoolId(row.pool or ""),
        serial=row.serial,
        domains=tuple(_domains(known, row)),
        address=row.address,
        bmc=row.bmc,
        accelerators=count,
        disposition=row.disposition or Disposition.IN_SERVICE,
        rack=row.rack,
        slot=row.slot,
        release=ReleaseId(row.release) if row.release else None,
        place=row.place,
        model=model,
        mac=row.mac,
    )


def _domains(known: Known, row: _Row) -> Iterator[Domain]:
    yield known.domain(DomainKind.POOL, row.pool or "")
    if row.rack:
        yield known.domain(DomainKind.RACK, row.rack)
    rack = known.racks.get(row.rack) if known.racks is not None else None
    if rack is not None:
        for feed in rack.feeds:
            yield known.domain(DomainKind.FEED, feed)
        if rack.loop:
            yield known.domain(DomainKind.LOOP, rack.loop)
        if rack.leaf:
            yield known.domain(DomainKind.LEAF, rack.leaf)
    if row.nvlink:
        yield known.domain(DomainKind.NVLINK, row.nvlink)
    yield known.domain(DomainKind.SITE, known.site)


def _each_its_own(reading: SiteReading, rows: Mapping[str, _Row], found: Mapping[NodeId, DeclaredNode]) -> None:
    """Serials, addresses and BMCs that two nodes have; slots are a matter of space (feasibility)."""
    unique: dict[tuple[str, object], str] = {}
    told: set[tuple[object, object]] = set()
    for name, node in found.items():
        values: list[tuple[str, object]] = [
            ("serial", node.serial),
            ("address", node.address.lower()),
            ("bmc", node.bmc.lower().rstrip("/")),
        ]
        if node.mac:
            values.append(("mac", node.mac.lower()))
        for what, value in values:
            first = unique.setdefault((what, value), name)
            place = (*rows[name].at, what)
            if first == name or (place, first) in told:
                continue
            told.add((place, first))
            reading.say(PART, place, f"{name} and {first} both have {what} {value}", "each node has its own")


def _said(reading: SiteReading, place: tuple[object, ...], make: Callable[[], Made]) -> Made | None:
    """A value, or None with the reason told where its text makes no sense."""
    try:
        return make()
    except ValueError as error:
        what, _, instead = str(error).partition("; ")
        reading.say(PART, place, what, instead)
        return None
