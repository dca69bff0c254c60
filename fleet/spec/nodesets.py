"""Node sets as people write them: `n[01-16]`, `@pool:train`, `@rack:b2`, `@phase:awaiting_hands`, `n*`, `-`.

The grammar is ClusterShell's, with its operators (`,` and, `!` without, `&` in both, `^` in one only). Groups are kinds
of domain, pools and phases. Names that aren't declared are an error that says what comes close.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches

from ClusterShell.NodeSet import NodeSet, NodeSetException, set_std_group_resolver
from ClusterShell.NodeUtils import GroupResolver, GroupResolverError, GroupSource, GroupSourceError

from fleet.errors import Misuse
from fleet.model.ids import NodeId
from fleet.model.topology import Declared

MOST = 200_000
"""The widest range that is expanded; nobody has more nodes, and a slip of the finger shouldn't eat the memory."""

KINDS = ("pool", "rack", "feed", "leaf", "loop", "site")

set_std_group_resolver(GroupResolver())  # groups of this machine's own ClusterShell set-up are none of ours


def resolve(
    texts: Sequence[str],
    declared: Declared,
    phases: Callable[[], Mapping[NodeId, str]] | None = None,
) -> tuple[NodeId, ...]:
    """The declared nodes that the texts name, in the inventory's order; all of them where nothing is named.

    `phases` is called only where `@phase:` is used. Raises Misuse for what can't be read, or is not declared.
    """
    if not texts:
        return tuple(declared.nodes)
    text = ",".join(part for part in texts if part.strip())
    if not text:
        raise Misuse("an empty node set", "it names no node", "name nodes as in n[01-04], @pool:train or @rack:r1")
    for low, high in re.findall(r"(\d+)-(\d+)", text):
        if int(high) - int(low) > MOST:
            raise Misuse(f"the node set {text}", f"{low}-{high} is a range of more than {MOST}", "narrow the range")
    groups = _groups(declared, phases if "@phase" in text else None)
    found = _parse(text, groups)
    unknown = [name for name in found if name not in declared.nodes]
    if unknown:
        raise _unknown(unknown, declared)
    wanted = set(found)
    return tuple(node for node in declared.nodes if node in wanted)


def fold(nodes: Iterable[str]) -> str:
    """Node names as a node set: `n[01-04]`."""
    return str(NodeSet.fromlist(list(nodes)))


def _parse(text: str, groups: Mapping[str, Mapping[str, str]]) -> list[str]:
    resolver = GroupResolver(default_source=GroupSource("pool", dict(groups["pool"])))
    for kind, members in groups.items():
        if kind != "pool":
            resolver.add_source(GroupSource(kind, dict(members)))
    for kind, name in re.findall(r"@(?:(\w+):)?([\w.-]+)", text):
        _must_be_known(kind or "pool", name, groups)
    try:
        return [str(name) for name in NodeSet(text, resolver=resolver)]
    except (NodeSetException, GroupResolverError, GroupSourceError, ValueError) as error:
        raise Misuse(
            f"the node set {text}", str(error), "write n[01-04], @pool:train, @rack:r1 or - for input"
        ) from None


def _must_be_known(kind: str, name: str, groups: Mapping[str, Mapping[str, str]]) -> None:
    if kind not in groups:
        known = ", ".join(f"@{each}:" for each in groups)
        raise Misuse(f"@{kind}:{name}", f"there is no group of kind {kind}", f"kinds are {known} and @phase:")
    if name not in groups[kind]:
        near = get_close_matches(name, list(groups[kind]), 1)
        names = ", ".join(list(groups[kind])[:12]) or "none"
        cause = f"there is no {kind} {name}" if kind != "phase" else f"no node is in phase {name}"
        raise Misuse(f"@{kind}:{name}", cause, f"did you mean @{kind}:{near[0]}?" if near else f"there are: {names}")


def _groups(declared: Declared, phases: Callable[[], Mapping[NodeId, str]] | None) -> dict[str, dict[str, str]]:
    members: dict[str, dict[str, list[str]]] = {kind: {} for kind in KINDS}
    for node in declared.nodes.values():
        for domain in node.domains:
            members.setdefault(domain.kind.value, {}).setdefault(domain.name, []).append(node.id)
        members["pool"].setdefault(node.pool, [])
        if node.id not in members["pool"][node.pool]:
            members["pool"][node.pool].append(node.id)
    if phases is not None:
        members["phase"] = {}
        for name, phase in phases().items():
            members["phase"].setdefault(str(phase), []).append(name)
    return {kind: {name: ",".join(ids) for name, ids in found.items()} for kind, found in members.items()}


def _unknown(names: Sequence[str], declared: Declared) -> Misuse:
    near = get_close_matches(names[0], list(declared.nodes), 1)
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    step = f"did you mean {near[0]}?" if near else f"declared are {fold(declared.nodes)}"
    return Misuse(shown, "not in the inventory", step)
