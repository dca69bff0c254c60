"""From the `declared` part of a decision scenario to what the core reads. A value that makes no sense raises Misuse."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from fleet.errors import Misuse
from fleet.model.ids import Autonomy, NodeId, PoolId, Purpose, ReleaseId, Verb
from fleet.model.policy import (
    DEFAULT_LADDER,
    Amount,
    AtDeadline,
    BreakerPolicy,
    BurstPolicy,
    DrainPolicy,
    ForeignCordon,
    Gate,
    Policy,
    VerifyPolicy,
    Window,
    WipePolicy,
)
from fleet.model.release import Package, Release
from fleet.model.topology import Declared, DeclaredNode, Disposition, Domain, DomainKind, Pool
from fleet.sim.agenda import moment

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds(text: object) -> float:
    """`1h30m` in seconds."""
    found = re.findall(r"(\d+(?:\.\d+)?)([smhd])", str(text))
    if not found or "".join(number + unit for number, unit in found) != str(text).lstrip("-"):
        raise Misuse(f"the duration {text!r}", "it is not like 90s, 1h30m or 2d")
    total = sum(float(number) * UNITS[unit] for number, unit in found)
    return -total if str(text).startswith("-") else total


def _span(text: object) -> timedelta:
    return timedelta(seconds=seconds(text))


def amount(value: object) -> Amount:
    """A number of nodes or a percentage."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Amount(nodes=value)
    if isinstance(value, str) and re.fullmatch(r"\d+(\.\d+)?%", value):
        return Amount(percent=float(value[:-1]))
    if isinstance(value, Mapping) and len(value) == 1:
        return amount(next(iter(value.values())))
    raise Misuse(f"the amount {value!r}", "it is neither a number of nodes nor a percentage")


def members(pool: Mapping[str, Any]) -> list[NodeId]:
    """The ids of a pool's nodes, in order."""
    nodes = pool["nodes"]
    return [NodeId(f"{nodes.get('prefix', 'n')}{index + 1:02d}") for index in range(int(nodes.get("count", 0)))]


def blocks(ids: Sequence[NodeId], racks: Sequence[str]) -> dict[NodeId, str]:
    """Nodes in equal blocks over racks; the first racks take what is left over."""
    if not racks:
        return {}
    share, left = divmod(len(ids), len(racks))
    found: dict[NodeId, str] = {}
    start = 0
    for index, rack in enumerate(racks):
        size = share + (1 if index < left else 0)
        found.update(dict.fromkeys(ids[start : start + size], rack))
        start += size
    return found


def span(text: str) -> list[str]:
    """`n01..n04` as names; anything else is itself."""
    first, dots, last = text.partition("..")
    if not dots:
        return [text]
    head = first.rstrip("0123456789")
    width = len(first) - len(head)
    return [f"{head}{number:0{width}d}" for number in range(int(first[len(head) :]), int(last[len(head) :]) + 1)]


def named(value: object) -> list[str]:
    """A name, a span or a list of them."""
    if isinstance(value, list):
        return [name for each in value for name in named(each)]
    return [name for part in str(value).split(",") for name in span(part.strip())]


def release(entry: Mapping[str, Any]) -> Release:
    """One entry of `release`. Every part that is not firmware is a package of its own."""
    apart = ("id", "needs", "built_for", "forbids", "irreversible", "unit")
    versions = {part: str(version) for part, version in entry.items() if part not in apart}
    needs = entry.get("needs", [])
    return Release(
        id=ReleaseId(entry["id"]),
        versions=versions,
        needs=tuple(Verb(verb) for verb in ([needs] if isinstance(needs, str) else needs)),
        packages=tuple(
            Package(part, version, sha256="0" * 64, part=part)
            for part, version in versions.items()
            if "firmware" not in part
        ),
        forbids=tuple(Verb(verb) for verb in entry.get("forbids", [])),
        irreversible=tuple(entry.get("irreversible", [])),
        built_for=tuple(entry.get("built_for", [])),
        unit=entry.get("unit", ""),
    )


def _amounts(value: Mapping[str, Any], pool: str) -> dict[str, Amount]:
    found = {}
    for kind, given in value.items():
        if kind == "domains_out":
            continue
        if kind == "pool" and isinstance(given, Mapping) and set(given) - {"nodes", "share"}:
            if pool in given:
                found[kind] = amount(given[pool])
            continue
        found[kind] = amount(given)
    return found


def _drain(value: Mapping[str, Any]) -> DrainPolicy:
    return DrainPolicy(
        deadline=_span(value["deadline"]) if "deadline" in value else None,
        then=AtDeadline(value.get("then", "wait")),
        ask_checkpoint=bool(value.get("ask_checkpoint", False)),
        checkpoint_wait=_span(value["checkpoint_wait"]) if "checkpoint_wait" in value else None,
        stop_services=tuple(value.get("stop_services", [])),
    )


def _breaker(value: Mapping[str, Any]) -> BreakerPolicy:
    ramp = value.get("ramp")
    return BreakerPolicy(
        window=_span(value["window"]),
        share=amount(value.get("share", value.get("nodes"))),
        quiet=_span(value["quiet"]),
        ramp=int(ramp["nodes"]) if isinstance(ramp, Mapping) else ramp,
        ramp_per=_span(ramp["per"]) if isinstance(ramp, Mapping) else None,
        once_per=value.get("once_per", ""),
    )


def _window(value: Mapping[str, Any]) -> Window:
    return Window(
        opens=moment(seconds(value["from"])),
        closes=moment(seconds(value["to"])),
        every=_span(value["every"]) if "every" in value else None,
    )


def _verify(value: Mapping[str, Any]) -> VerifyPolicy:
    return VerifyPolicy(
        tests=tuple(value.get("tests", [])),
        after_relapse=tuple(value.get("after_relapse", [])),
        load=_span(value["load"]) if "load" in value else None,
        unit=value.get("unit", ""),
    )


def _burst(value: Mapping[str, Any]) -> BurstPolicy:
    return BurstPolicy(
        lifetime=_span(value["lifetime"]) if "lifetime" in value else None,
        boot_deadline=_span(value["boot_deadline"]) if "boot_deadline" in value else None,
        types=tuple(value.get("types", [])),
    )


def _canaries(value: Mapping[str, Any], ids: Sequence[NodeId]) -> tuple[int, tuple[NodeId, ...]]:
    """How many canaries, and which where they are named; only those of the pool count for it."""
    nodes = value.get("nodes", 0)
    if isinstance(nodes, int):
        return nodes, ()
    names = tuple(NodeId(name) for name in named(nodes) if name in ids)
    return len(names), names


def policy(raw: Mapping[str, Any], pool: str, ids: Sequence[NodeId]) -> Policy:
    """The policy of one pool."""
    waves, canary = raw.get("waves", {}), raw.get("canary", {})
    wipe, at_least_one = raw.get("wipe", {}), raw.get("at_least_one", [])
    count, names = _canaries(canary, ids)
    gate = canary.get("gate")
    return Policy(
        name=pool,
        budget=_amounts(raw.get("budget", {}), pool),
        floor=_amounts(raw.get("floor", {}), pool),
        domains_out=dict(raw.get("budget", {}).get("domains_out", {})),
        at_least_one=pool in at_least_one if isinstance(at_least_one, list) else bool(at_least_one),
        wave_sizes=tuple(0 if size == "rest" else int(size) for size in waves.get("sizes", [])),
        listed_order=waves.get("order") == "listed",
        canary=count,
        canary_nodes=names,
        soak=_span(canary.get("soak", "0s")),
        gate=Gate(gate["figure"], amount(gate["worst_drop"])) if gate else None,
        failure_limit=amount(raw["failure_limit"]) if "failure_limit" in raw else None,
        attempts={Verb(verb): int(tries) for verb, tries in raw.get("attempts", {}).items()},
        first_rung={what: Verb(rung) for what, rung in raw.get("first_rung", {}).items()},
        skip={what: tuple(Verb(rung) for rung in rungs) for what, rungs in raw.get("skip", {}).items()},
        probation=_span(raw.get("probation", "0s")),
        repeat=_span(raw.get("repeat", {}).get("within", "0s")),
        recover={what: _span(window) for what, window in raw.get("recover", {}).items()},
        verify=_verify(raw.get("verify", {})),
        drain=_drain(raw.get("drain", {})),
        breaker=_breaker(raw["breaker"]) if "breaker" in raw else None,
        foreign_cordon=ForeignCordon(raw.get("foreign_cordon", "leave")),
        override_until_new_evidence=raw.get("override") == "until_new_evidence",
        windows=tuple(_window(window) for window in raw.get("windows", [])),
        autonomy={Purpose(why): Autonomy(how) for why, how in raw.get("autonomy", {}).items()},
        approval_required=raw.get("approval") == "required",
        confirm_retire=False,
        heartbeat=_span(raw.get("heartbeat", "2m")),
        stuck_after=_span(raw["stuck_after"]) if "stuck_after" in raw else None,
        wipe=WipePolicy(wipe.get("grade", "clear"), _span(wipe["deadline"]) if "deadline" in wipe else None),
        burst=_burst(raw["burst"]) if "burst" in raw else None,
        ladder=tuple(Verb(rung) for rung in raw["ladder"]) if "ladder" in raw else DEFAULT_LADDER,
    )


def _domains(raw: Mapping[str, Any], pool: str, rack: str, node: str) -> tuple[Domain, ...]:
    found = [Domain(DomainKind.POOL, pool)]
    if rack:
        found.append(Domain(DomainKind.RACK, rack))
    for kind, groups in raw.get("domains", {}).items():
        for name, parts in groups.items():
            if rack in parts or node in named(list(parts)):
                found.append(Domain(DomainKind(kind), name))
    return tuple(found)


def declared(raw: Mapping[str, Any], racks_at_first: Mapping[NodeId, str] | None = None) -> Declared:
    """The whole declared fleet. `raw` may carry edits (`nodes.n07.pool`)."""
    releases = {entry["id"]: release(entry) for entry in raw["release"].values()}
    first = raw["release"]["from"]["id"]
    edits: Mapping[str, Any] = raw.get("nodes", {})
    dispositions = {
        NodeId(name): Disposition(how) for where, how in raw.get("disposition", {}).items() for name in named(where)
    }
    parts = ("devices",)
    facts = {name: dict(given) for name, given in raw.get("facts", {}).items()}
    devices = next((int(given[part]) for given in facts.values() for part in parts if part in given), 0)
    pools: dict[PoolId, Pool] = {}
    homes: dict[NodeId, tuple[str, str]] = {}
    for name, pool in raw["pools"].items():
        racks = blocks(members(pool), pool["nodes"].get("racks", []))
        for node in members(pool):
            homes[node] = (edits.get(node, {}).get("pool", name), (racks_at_first or racks).get(node, ""))
    for name, pool in raw["pools"].items():
        ids = [node for node, (home, _) in homes.items() if home == name]
        vendor = "amd" if str(pool["accelerator"]).startswith("MI") else "nvidia"
        pools[PoolId(name)] = Pool(
            id=PoolId(name),
            accelerator=str(pool["accelerator"]),
            vendor=vendor,
            release=ReleaseId(pool.get("release", first)),
            policy=policy(raw.get("policy", {}), name, ids),
            partition=name,
        )
    nodes = {
        node: DeclaredNode(
            id=node,
            pool=PoolId(home),
            serial=f"SN-{node}",
            domains=_domains(raw, home, rack, node),
            accelerators=devices,
            disposition=dispositions.get(node, Disposition.IN_SERVICE),
            rack=rack,
            release=edits.get(node, {}).get("release"),
            confirmed_by=str(raw.get("confirmed", {}).get(node, "")),
        )
        for node, (home, rack) in homes.items()
    }
    return Declared("scenario", nodes, pools, {ReleaseId(key): value for key, value in releases.items()})
