"""Looks at nodes over SSH, side by side: one probe per node. What can't be seen is a gap, never an exception."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from fleet.adapters.paramiko_ssh.pool import SshPool, Target
from fleet.errors import Unavailable
from fleet.model.health import Gap
from fleet.model.ids import NodeId
from fleet.model.observation import NodeSeen
from fleet.model.topology import DeclaredNode
from fleet.readers import probe
from fleet.readers.probe import Carried

HostKey = Callable[[NodeId], str]
"""The pinned host key of a node, `type base64`; empty if it was never enrolled."""


def target_of(node: DeclaredNode, host_key: HostKey) -> Target:
    """A declared node as something to reach."""
    return Target(node.id, node.address, host_key(node.id))


@dataclass(frozen=True, slots=True)
class _Told:
    """What a node's tools said, and when (monotonic seconds)."""

    at: float
    mark: tuple[object, ...]
    outcomes: Mapping[str, Any]


def _mark(document: Mapping[str, Any]) -> tuple[object, ...]:
    """What changes when a step of ours has worked on a node: its boot, the token that it saw, its lock."""
    lock = document.get("lock") or {}
    return document.get("boot"), document.get("token"), lock.get("order", "") if isinstance(lock, Mapping) else lock


class SshObserve:
    """The port `Observe` over SSH. `packages` are the names whose installed versions are asked for."""

    def __init__(
        self,
        pool: SshPool,
        host_key: HostKey,
        *,
        packages: Sequence[str] = (),
        tool_seconds: float = 20.0,
        tools_every: float = 6.0,
        kernel_lines: int = 4000,
        workers: int = 32,
    ) -> None:
        self._pool, self._host_key, self._packages = pool, host_key, tuple(packages)
        self._tool_seconds, self._kernel_lines, self._workers = tool_seconds, kernel_lines, workers
        self._carried: dict[NodeId, Carried] = {}
        self._tools_every = tools_every
        self._told: dict[NodeId, _Told] = {}
        self._lock = threading.Lock()

    def look(self, nodes: Sequence[DeclaredNode]) -> Mapping[NodeId, NodeSeen]:
        """Each node as its probe saw it, within the tools' time limit and some seconds for the connection."""
        if not nodes:
            return {}
        with ThreadPoolExecutor(min(self._workers, len(nodes)), "look") as threads:
            return {seen.id: seen for seen in threads.map(self._one, nodes)}

    def _one(self, node: DeclaredNode) -> NodeSeen:
        try:
            target = target_of(node, self._host_key)
            carried = self._carried.get(node.id, Carried())
            told = self._fresh(node.id)
            document = self._ask(target, carried, told)
            moved = (
                bool(carried.boot) and document["boot"] != carried.boot
            )  # cursor and tools are of a boot that is gone
            if moved or (told is not None and _mark(document) != told.mark):
                document = self._ask(target, Carried() if moved else carried, None)
            seen, after = probe.read(node.id, document, carried)
            self._keep(node, document, seen)
        except Unavailable as error:
            return NodeSeen(node.id, reachable=False, gaps=(Gap("ssh", f"{error.cause or error}"),))
        except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
            why = f"the probe's answer can't be read: {type(error).__name__}: {error}"
            return NodeSeen(node.id, reachable=True, gaps=(Gap("probe", why),))
        with self._lock:
            self._carried[node.id] = after
        return seen

    def _fresh(self, node: NodeId) -> _Told | None:
        """What the vendor's tools said a moment ago: they cost more than all the rest of a look."""
        told = self._told.get(node)
        return told if told is not None and time.monotonic() - told.at < self._tools_every else None

    def _keep(self, node: DeclaredNode, document: Mapping[str, Any], seen: NodeSeen) -> None:
        """Only what is whole and well is kept: what is wrong is asked again at every look."""
        known = self._told.get(node.id)
        if known is not None and known.outcomes is document.get("tools"):
            return
        well = seen.accelerators == node.accelerators and not seen.lock and not seen.gaps and not seen.signals
        if well:
            self._told[node.id] = _Told(time.monotonic(), _mark(document), document["tools"])
        else:
            self._told.pop(node.id, None)

    def _ask(self, target: Target, carried: Carried, told: _Told | None) -> dict[str, Any]:
        request = {
            "packages": self._packages,
            "since": carried.cursor,
            "limit": self._tool_seconds,
            "lines": self._kernel_lines,
            "tools": told is None,
        }
        answer = dict(self._pool.call(target, "probe", request, limit=self._tool_seconds + 10))
        return answer if told is None else {**answer, "tools": told.outcomes}


class SshIdentity:
    """The port `Identity`: who a machine is, before it is trusted and after.

    Until a node is enrolled it is reached with the key that it showed when it was scanned by this very object.
    """

    def __init__(self, pool: SshPool, host_key: HostKey, *, scan: Callable[[str], str], port: int = 22) -> None:
        self._pool, self._pinned, self._scan, self._port = pool, host_key, scan, port
        self._shown: dict[NodeId, str] = {}

    def host_key(self, node: DeclaredNode) -> str:
        """The key that answers at the node's address now, whoever that is; to be compared, or pinned."""
        key = self._scan(node.address)
        self._shown[node.id] = key
        return key

    def serial(self, node: DeclaredNode) -> str:
        """The serial number as the node's own board says; Unavailable if it says none."""
        serial = self._seen(node).serial
        if not serial:
            raise Unavailable(node.id, "its board names no serial number", "compare it with what the BMC says")
        return serial

    def boot(self, node: DeclaredNode) -> str:
        """The identity of the running boot."""
        return self._seen(node).boot

    def _seen(self, node: DeclaredNode) -> NodeSeen:
        target = Target(node.id, node.address, self._key(node), self._port)
        request = {"packages": [], "since": "", "limit": 5, "lines": 1, "tools": False}
        return probe.read(node.id, self._pool.call(target, "probe", request, limit=15), Carried())[0]

    def _key(self, node: DeclaredNode) -> str:
        return self._pinned(node.id) or self._shown.get(node.id) or self.host_key(node)
