"""ibnetdiscover: links once each, tiers by distance from the hosts, and the tree a scheduler needs.

A port without a peer is no link, whatever width it prints. An adapter with the vendor's default description belongs
to no host. A dump that was cut proves what it holds and nothing by what it lacks.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fleet.readers.reading import Beside, Context, Gap, Problem, Reading, Text
from fleet.readers.text import decode, lines, printable, sequence

_PORT = re.compile(
    r"(CA|SW|RT)\s+(\d+)\s+(\d+)\s+(0x[0-9a-f]+)\s+(\d+x)\s+(\S+)"
    r"(?:\s+-\s+(CA|SW|RT)\s+(\d+)\s+(\d+)\s+(0x[0-9a-f]+)\s+\(\s*'(.*)'\s+-\s+'(.*)'\s*\)|\s+'(.*)')\s*$"
)
_SPEEDS = ("SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR")
_NODE = re.compile(r"(Switch|Ca|Rt)\s+(\d+)\s+\"([^\"]+)\"\s*#\s*\"([^\"]*)\"")
_LINK = re.compile(r"\[(\d+)\](?:\([0-9a-f]+\))?\s+\"([^\"]+)\"\[(\d+)\](?:\([0-9a-f]+\))?\s*#\s*\"([^\"]*)\"")
_DEFAULT = re.compile(r"^(?:MT\d+ |Mellanox|ConnectX|Infiniscale|\s*$)|Mellanox Technologies")


def read_ports(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`ibnetdiscover --ports`."""
    found: dict[frozenset[str], str] = {}
    free: list[str] = []
    problems: list[Problem] = []
    gaps: list[Gap] = []
    width, _, speed = str(context.get("expected_rate", "")).partition(" ")
    for at, line in lines(decode(text)):
        hit = _PORT.match(line)
        if hit is None:
            if line.strip():
                gaps.append(Gap(f"line {at}", "unparseable_line", line=at))
            continue
        if hit.group(7) is None:
            free.append(f"{printable(hit.group(13))}:{hit.group(3)}")
            continue
        one, other = f"{printable(hit.group(11))}:{hit.group(3)}", f"{printable(hit.group(12))}:{hit.group(9)}"
        ends = frozenset((f"{hit.group(4)}:{hit.group(3)}", f"{hit.group(10)}:{hit.group(9)}"))
        if ends in found:
            continue
        found[ends] = f"{one} - {other}"
        if _slower(hit.group(5), hit.group(6), width, speed):
            problems.append(Problem(found[ends], "rate_below_expected", "link", "inspect_cable"))
    if not found and not free:
        gaps = [
            Gap(
                "fabric",
                "empty_output" if not decode(text).strip() else "unparseable_line",
                why="no port in the answer",
            )
        ]
    more = {
        "links": list(found.values()),
        "link_count": len(found),
        "free_ports": free,
        "problems": [problem.as_json() for problem in problems],
    }
    return Reading("ibnetdiscover_ports", gaps=tuple(gaps), more=more)


def _slower(width: str, speed: str, wanted_width: str, wanted_speed: str) -> bool:
    if wanted_speed not in _SPEEDS or speed not in _SPEEDS:
        return False
    narrow = (
        width.rstrip("x").isdigit()
        and wanted_width.rstrip("x").isdigit()
        and int(width.rstrip("x")) < int(wanted_width.rstrip("x"))
    )
    return narrow or _SPEEDS.index(speed) < _SPEEDS.index(wanted_speed)


def _switch_name(description: str) -> str:
    """`MF0;leaf-a:MQM9701/U1` -> leaf-a."""
    found = re.match(r"[^;]*;([^:;]+)[:/]", description)
    return printable(found.group(1) if found else description)


@dataclass(slots=True)
class Fabric:
    """What a dump holds, by GUID."""

    switches: dict[str, str] = field(default_factory=dict)
    adapters: dict[str, str] = field(default_factory=dict)
    links: dict[frozenset[tuple[str, int]], tuple[tuple[str, int], tuple[str, int]]] = field(default_factory=dict)
    printed_adapters: int = 0
    cut: bool = False

    def neighbours(self, guid: str) -> list[str]:
        """GUIDs at the other ends of the links of one node."""
        return [b[0] if a[0] == guid else a[0] for a, b in self.links.values() if guid in (a[0], b[0])]


def _parse(text: str, context: Context) -> Fabric:
    fabric = Fabric(cut=context.get("exit_status") not in (0, None))
    current: str | None = None
    last = text.count("\n") + 1
    for at, line in lines(text):
        if node := _NODE.match(line):
            current = node.group(3)
            if node.group(1) == "Switch":
                fabric.switches[current] = _switch_name(node.group(4))
            elif node.group(1) == "Ca":
                fabric.printed_adapters += 1
                fabric.adapters[current] = printable(node.group(4))
        elif link := _LINK.match(line):
            if current is None:
                continue
            peer, ends = link.group(2), None
            ends = ((current, int(link.group(1)[:6])), (peer, int(link.group(3)[:6])))
            fabric.links.setdefault(frozenset(ends), ends)
            if peer.startswith("S-"):
                fabric.switches.setdefault(peer, _switch_name(link.group(4))) if not fabric.cut else None
            else:
                fabric.adapters.setdefault(peer, printable(link.group(4)))
        elif line.startswith(("[", "Switch", "Ca")) and at == last:
            fabric.cut = True
    return fabric


def _host(description: str) -> str | None:
    """The host in a node description, None for the vendor's default."""
    return None if _DEFAULT.search(description) or not description.split() else description.split()[0]


def read_topology(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`ibnetdiscover`."""
    decoded = decode(text)
    fabric = _parse(decoded, context)
    wanted = [name for name in sequence(context.get("wanted_nodes")) if isinstance(name, str)]
    if not fabric.switches and not fabric.adapters:
        gap = Gap("fabric", "unparseable_line" if decoded.strip() else "empty_output", why="no node in the answer")
        return Reading(
            "ibnetdiscover_topology", gaps=(gap,), more={"complete": False, "replace_last_good_topology": False}
        )
    hosts = {guid: host for guid, text_ in fabric.adapters.items() if (host := _host(text_)) is not None}
    if fabric.cut:
        return _cut(fabric, hosts, wanted)
    if not fabric.switches:
        return _lonely(fabric, hosts, wanted)
    tiers = _tiers(fabric)
    kinds = ["host" if _is_host(fabric, link) else "switch_to_switch" for link in fabric.links.values()]
    unnamed = [guid for guid in fabric.adapters if guid not in hosts]
    gaps = [
        Gap(name, "missing_from_report", why="wanted, no adapter carries its name")
        for name in wanted
        if name not in hosts.values()
    ]
    gaps += [
        Gap(f"adapter on {_place(fabric, guid)}", "identity_unknown", why="node description not set")
        for guid in unnamed
    ]
    problems = _missing_links(fabric, tiers, context)
    more: dict[str, Any] = {
        "switches": len(fabric.switches),
        "channel_adapters": len(fabric.adapters),
        "link_count": len(fabric.links),
        "link_count_by_kind": {kind: kinds.count(kind) for kind in ("host", "switch_to_switch")},
        "switch_tiers": max(tiers.values(), default=0),
        "unnamed_adapters": len(unnamed),
        "left_out": sorted(set(hosts.values()) - set(wanted)) if wanted else [],
        "complete": True,
        "slurm_tree": _tree(fabric, hosts, wanted or sorted(set(hosts.values())), tiers),
        "problems": [problem.as_json() for problem in problems],
    }
    return Reading("ibnetdiscover_topology", gaps=tuple(gaps), more=more)


def _is_host(fabric: Fabric, link: tuple[tuple[str, int], tuple[str, int]]) -> bool:
    return any(end[0] not in fabric.switches for end in link)


def _cut(fabric: Fabric, hosts: Mapping[str, str], wanted: Sequence[str]) -> Reading:
    seen = sorted(set(hosts.values()) & set(wanted)) if wanted else sorted(set(hosts.values()))
    gaps = [Gap("rest of the fabric", "truncated_line", why="output ends inside a line")]
    gaps += [Gap(name, "not_reported", why="not seen") for name in wanted if name not in seen]
    more = {
        "switches": len(fabric.switches),
        "channel_adapters": fabric.printed_adapters,
        "complete": False,
        "nodes_seen": seen,
        "replace_last_good_topology": False,
    }
    return Reading("ibnetdiscover_topology", gaps=tuple(gaps), more=more)


def _lonely(fabric: Fabric, hosts: Mapping[str, str], wanted: Sequence[str]) -> Reading:
    """A port that sees nobody: an empty topology, and no evidence about the fabric."""
    gaps = [Gap("fabric", "not_reported", why="only the adapter that asked is visible")]
    here = [name for name in wanted if name in hosts.values()] or sorted(set(hosts.values()))
    gaps += [Gap(f"place of {name}", "not_reported", why="no link of its adapter is printed") for name in here]
    gaps += [Gap(name, "missing_from_report", why="not seen") for name in wanted if name not in hosts.values()]
    more = {
        "switches": 0,
        "channel_adapters": len(fabric.adapters),
        "link_count": len(fabric.links),
        "slurm_tree": {"levels": 0, "each_node_once": True, "root": None},
        "errors": [],
        "replace_last_good_topology": False,
        "problems": [],
    }
    return Reading("ibnetdiscover_topology", gaps=tuple(gaps), more=more)


def _tiers(fabric: Fabric) -> dict[str, int]:
    """Tier of each switch: 1 where hosts hang, then one more per step away from them."""
    around = {guid: fabric.neighbours(guid) for guid in fabric.switches}
    tiers = {guid: 1 for guid, peers in around.items() if any(peer not in fabric.switches for peer in peers)}
    edge = list(tiers)
    while edge:
        reached: list[str] = []
        for guid in edge:
            for peer in around[guid]:
                if peer in fabric.switches and peer not in tiers:
                    tiers[peer] = tiers[guid] + 1
                    reached.append(peer)
        edge = reached
    return tiers


def _place(fabric: Fabric, guid: str) -> str:
    for one, other in fabric.links.values():
        for mine, peer in ((one, other), (other, one)):
            if mine[0] == guid and peer[0] in fabric.switches:
                return f"{fabric.switches[peer[0]]} port {peer[1]}"
    return guid


def _missing_links(fabric: Fabric, tiers: Mapping[str, int], context: Context) -> list[Problem]:
    """Leaf and spine pairs with fewer links than are built."""
    expected = context.get("uplinks_per_leaf_and_spine")
    if not isinstance(expected, int):
        return []
    counts: dict[tuple[str, str], int] = {}
    for one, other in fabric.links.values():
        pair = sorted((one[0], other[0]), key=lambda guid: tiers.get(guid, 9))
        if [tiers.get(guid) for guid in pair] == [1, 2]:
            counts[pair[0], pair[1]] = counts.get((pair[0], pair[1]), 0) + 1
    if max(tiers.values(), default=0) == 2:
        for leaf in (guid for guid, tier in tiers.items() if tier == 1):
            for spine in (guid for guid, tier in tiers.items() if tier == 2):
                counts.setdefault((leaf, spine), 0)
    return [
        Problem(
            f"{fabric.switches[leaf]} - {fabric.switches[spine]}",
            "missing_link",
            "link",
            "inspect_cable",
            {"found": count, "expected": expected},
        )
        for (leaf, spine), count in counts.items()
        if count < expected
    ]


def _tree(fabric: Fabric, hosts: Mapping[str, str], wanted: Sequence[str], tiers: Mapping[str, int]) -> dict[str, Any]:
    """Only branches with wanted nodes, each node once, parallel spines folded into one parent."""
    leaves: dict[str, list[str]] = {}
    placed: set[str] = set()
    for guid, host in sorted(hosts.items(), key=lambda pair: fabric.adapters[pair[0]]):
        leaf = next((peer for peer in fabric.neighbours(guid) if tiers.get(peer) == 1), None)
        if host in wanted and host not in placed and leaf is not None:
            leaves.setdefault(leaf, []).append(host)
            placed.add(host)
    named = {guid: sorted(found) for guid, found in sorted(leaves.items(), key=lambda pair: fabric.switches[pair[0]])}
    levels = max(tiers.values(), default=0) if named else 0
    tree: dict[str, Any] = {"levels": levels, "each_node_once": True, "root": None}
    if not named:
        return tree
    if levels < 3:
        tree["root"] = {"leaves": {fabric.switches[guid]: found for guid, found in named.items()}}
        return tree
    pods: list[set[str]] = []
    for guid in named:
        spines = {peer for peer in fabric.neighbours(guid) if tiers.get(peer) == 2}
        joined = [pod for pod in pods if any(spines & _spines(fabric, leaf, tiers) for leaf in pod)]
        merged = {guid}.union(*joined)
        pods = [pod for pod in pods if pod not in joined] + [merged]
    tree["root"] = {
        "pods": [
            {"leaves": {fabric.switches[guid]: found for guid, found in named.items() if guid in pod}}
            for pod in sorted(pods, key=lambda pod: min(fabric.switches[guid] for guid in pod))
        ]
    }
    return tree


def _spines(fabric: Fabric, leaf: str, tiers: Mapping[str, int]) -> set[str]:
    return {peer for peer in fabric.neighbours(leaf) if tiers.get(peer) == 2}
