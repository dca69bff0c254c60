"""Topology as files say it: Slurm's tree, topograph's model, NetQ's list of NVLink nodes.

A forest is legal, and nothing may span its trees. A broken file is reported whole and places nobody.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from fleet.readers.reading import Beside, Context, Gap, Reading, Text
from fleet.readers.slurm_scontrol import expand
from fleet.readers.text import decode, lines, mapping, parse_json, parse_yaml, printable, sequence


@dataclass(slots=True)
class _Tree:
    """Switches by name; `errors` with their lines, in the order of the file."""

    children: dict[str, list[str]] = field(default_factory=dict)
    nodes: dict[str, list[str]] = field(default_factory=dict)
    parent: dict[str, str] = field(default_factory=dict)
    switch_of: dict[str, str] = field(default_factory=dict)
    errors: list[dict[str, Any]] = field(default_factory=list)

    def wrong(self, line: int, kind: str, name: str) -> None:
        self.errors.append({"line": line, "kind": kind, "name": name})

    def reaches(self, start: str, goal: str) -> bool:
        seen: set[str] = set()
        work = [start]
        while work:
            name = work.pop()
            if name == goal:
                return True
            if name not in seen:
                seen.add(name)
                work.extend(self.children.get(name, ()))
        return False

    def below(self, root: str) -> list[str]:
        """The switches of one tree that hold nodes, in the order of the file."""
        return [name for name in self.nodes if self.nodes[name] and self.reaches(root, name)]


def _options(text: str) -> list[tuple[int, dict[str, str]]]:
    rows: list[tuple[int, dict[str, str]]] = []
    for at, raw in lines(text):
        line = raw.partition("#")[0]
        pairs = {key.lower(): value for key, value in re.findall(r"(?<!\w)(\w{1,64})\s{0,8}=\s{0,8}(\S+)", line)}
        if pairs:
            rows.append((at, pairs))
    return rows


def read_slurm_conf(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`topology.conf` of topology/tree."""
    rows = [(at, pairs) for at, pairs in _options(decode(text)) if "switchname" in pairs]
    if not rows:
        reason = "unparseable_line" if decode(text).strip() else "empty_output"
        return Reading(
            "slurm_topology_conf", gaps=(Gap("topology", reason),), more={"legal": False, "placements": None}
        )
    tree = _build(rows)
    if tree.errors:
        return Reading("slurm_topology_conf", more={"legal": False, "errors": tree.errors, "placements": None})
    roots = [name for name in tree.children if name not in tree.parent]
    islands = [[node for switch in tree.below(root) for node in tree.nodes[switch]] for root in roots]
    known = [name for text_ in sequence(context.get("nodes_in_slurm_conf")) for name in expand(str(text_))]
    gaps = [
        Gap(name, "missing_from_report", why="in slurm.conf, on no switch")
        for name in known
        if name not in tree.switch_of
    ]
    more: dict[str, Any] = {
        "switches": len(tree.children),
        "roots": roots,
        "legal": True,
        "errors": [],
        "node_count": len(tree.switch_of),
        "islands": [{"root": root, "nodes": len(found)} for root, found in zip(roots, islands, strict=True)],
        **_examples(tree, roots, islands),
    }
    return Reading("slurm_topology_conf", gaps=tuple(gaps), more=more)


def _build(rows: Sequence[tuple[int, Mapping[str, str]]]) -> _Tree:
    tree = _Tree()
    defined = {name for _, pairs in rows for name in expand(pairs["switchname"])}
    for at, pairs in rows:
        for name in map(printable, expand(pairs["switchname"])):
            if name in tree.children:
                tree.wrong(at, "duplicate_switch", name)
                continue
            tree.children[name] = []
            tree.nodes[name] = []
            if "nodes" in pairs and "switches" in pairs:
                tree.wrong(at, "nodes_and_switches", name)
            _add_children(tree, at, name, expand(pairs.get("switches", "")), defined)
            for node in expand(pairs.get("nodes", "")):
                if node in tree.switch_of:
                    tree.wrong(at, "node_on_two_switches", node)
                else:
                    tree.switch_of[node] = name
                    tree.nodes[name].append(node)
    return tree


def _add_children(tree: _Tree, at: int, name: str, children: Sequence[str], defined: set[str]) -> None:
    for child in children:
        if child not in defined:
            tree.wrong(at, "undefined_switch", child)
        elif tree.reaches(child, name):
            tree.wrong(at, "cycle", child)
        elif child in tree.parent:
            tree.wrong(at, "child_of_two_parents", child)
        else:
            tree.parent[child] = name
            tree.children[name].append(child)


def _examples(tree: _Tree, roots: Sequence[str], islands: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Pairs that show where a path is and where none is: inside the first island, and over each border."""
    path: list[dict[str, Any]] = []
    span: list[dict[str, Any]] = []
    filled = [island for island in islands if island]
    if filled:
        path.append({"between": [filled[0][0], filled[0][-1]], "exists": True})
        leaves = [tree.nodes[name] for name in tree.below(roots[list(islands).index(filled[0])])]
        if len(leaves) > 1:
            span.append({"nodes": [leaves[0][-1], leaves[1][0]], "allowed": True})
    for one, other in pairwise(filled):
        path.append({"between": [one[0], other[0]], "exists": False})
        span.append({"nodes": [one[-1], other[0]], "allowed": False})
    return {"path": path, "may_span": span}


def read_model(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """topograph's model: blocks of nodes; larger jobs get whole multiples of a block."""
    decoded = decode(text)
    document = mapping(parse_yaml(decoded))
    if not document:
        reason = "unparseable_line" if decoded.strip() else "empty_output"
        return Reading("topology_model", gaps=(Gap("topology", reason),))
    blocks: dict[str, list[str]] = {}
    gaps: list[Gap] = []
    for at, block in enumerate(map(mapping, sequence(document.get("blocks"))), 1):
        names = [name for text_ in sequence(block.get("nodes")) for name in expand(str(text_))]
        labels = mapping(block.get("annotations"))
        domain = next((str(value) for key, value in labels.items() if str(key).endswith("/domain")), None)
        blocks.setdefault(domain or str(block.get("name") or block.get("switch") or f"block {at}"), []).extend(names)
    block_of: dict[str, str] = {}
    for name, nodes in blocks.items():
        for node in nodes:
            if node in block_of and block_of[node] != name:
                gaps.append(Gap(f"block of {node}", "contradictory", why="listed in two blocks"))
            block_of.setdefault(node, name)
    sizes = {len(nodes) for nodes in blocks.values()}
    base = sizes.pop() if len(sizes) == 1 else None
    allowed = [size for size in sequence(context.get("allowed_block_sizes")) if isinstance(size, int) and size > 0]
    if blocks and (base is None or (allowed and base not in allowed)):
        gaps.append(Gap("base block size", "contradictory", why="blocks differ in size, or their size is not allowed"))
    total = len(block_of)
    requests = [
        {"nodes": count, "blocks": None if not base or count > total else -(-count // base)}
        for size in allowed
        for count in (size, size + 1)
    ]
    more = {
        "node_count": total,
        "blocks": {name: len(nodes) for name, nodes in blocks.items()},
        "base_block_size": base,
        "block_of": block_of,
        "requests": requests,
    }
    return Reading("topology_model", gaps=tuple(gaps), more=more)


def read_netq(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """NetQ's NVLink nodes: the domain is DomainUUID; chassis, slot and tray repeat from rack to rack."""
    entries = [mapping(entry) for entry in sequence(parse_json(decode(text)))]
    if not entries:
        reason = "unparseable_line" if decode(text).strip() else "empty_output"
        return Reading("netq_nvlink_nodes", gaps=(Gap("NVLink nodes", reason),), more={"blocks": {}})
    domains: dict[str, list[Any]] = {}
    gpus: set[int] = set()
    for entry in entries:
        domains.setdefault(printable(str(entry.get("Name"))), []).append(entry.get("DomainUUID"))
        gpus.add(len(sequence(entry.get("GpuIDList"))))
    wanted = [name for name in sequence(context.get("wanted_nodes")) if isinstance(name, str)] or sorted(domains)
    blocks: dict[str, list[str]] = {}
    gaps: list[Gap] = []
    for name in wanted:
        found = list(dict.fromkeys(map(str, domains.get(name, []))))
        value = domains.get(name, [None])[0]
        if name not in domains:
            why = "not listed"
        elif len(found) > 1:
            why = "listed in two domains"
        elif not isinstance(value, str) or not value.strip():
            why = "DomainUUID is null" if value is None else "DomainUUID is empty"
        else:
            blocks.setdefault(value, []).append(name)
            continue
        gaps.append(Gap(f"domain of {name}", "contradictory" if "two" in why else "not_reported", why=why))
    more: dict[str, Any] = {
        "blocks": {uuid: sorted(names) for uuid, names in blocks.items()},
        "gpus_per_node": gpus.pop() if len(gpus) == 1 else None,
        "problems": [],
    }
    return Reading("netq_nvlink_nodes", gaps=tuple(gaps), more=more)
