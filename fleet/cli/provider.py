"""The console script `pulumi-resource-fleet`: Pulumi's plugin, which the engine starts and nobody else.

The adapters are put together here, on first use: a start, a preview and a Check of what is unchanged import none.
"""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Callable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from fleet.model.ids import NodeId
from fleet.model.observation import Enrolment
from fleet.provider.properties import Properties
from fleet.provider.resource import Ports
from fleet.provider.settings import Settings

if TYPE_CHECKING:
    from fleet.adapters.ledger_sql import SqlLedger


class LedgerOnDemand:
    """The port Enrol over a ledger that is made by the first enrolment, not by the first question."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open = cache(self._opened)

    def enrolment(self, node: NodeId) -> Enrolment | None:
        """What is kept of a node; nothing where there is no ledger yet."""
        return self._open().enrolment(node) if self._path.exists() else None

    def by_serial(self, serial: str) -> Enrolment | None:
        """The node that carries a serial; none where there is no ledger yet."""
        return self._open().by_serial(serial) if self._path.exists() else None

    def enrol(self, enrolment: Enrolment, by: str) -> None:
        """Enrols a node."""
        self._open().enrol(enrolment, by)

    def released(self, node: NodeId, by: str) -> None:
        """Notes that Pulumi deleted a retired node."""
        self._open().released(node, by)

    def busy(self, node: NodeId) -> str:
        """The open order on a node, or nothing."""
        if not self._path.exists():
            return ""
        order = self._open().records().orders.get(node)
        return order.id if order is not None else ""

    def _opened(self) -> SqlLedger:
        from fleet.adapters.ledger_sql import open_ledger

        return open_ledger(self._path)


def open_ports(settings: Settings) -> Ports:
    """The real world, as the inventory's access part says it is reached."""
    from fleet.adapters.clock import SystemClock
    from fleet.adapters.paramiko_ssh import SshIdentity, SshPool, scan_host_key
    from fleet.adapters.redfish import RedfishPower
    from fleet.spec import load_access

    access = load_access(settings.inventory)
    ledger = LedgerOnDemand(settings.ledger(access.root))

    def pinned(node: NodeId) -> str:
        enrolment = ledger.enrolment(node)
        return enrolment.host_key if enrolment is not None else ""

    return Ports(
        enrol=ledger,
        power=RedfishPower(access.bmc.user, access.bmc.password.read, ca=access.bmc.ca),
        identity=SshIdentity(SshPool(user=access.ssh.user, key=access.ssh.key), pinned, scan=scan_host_key),
        clock=SystemClock(),
        busy=ledger.busy,
        declared=declared_inputs(settings),
        by=f"pulumi ({getpass.getuser()})",
    )


def declared_inputs(settings: Settings) -> Callable[[NodeId], Properties | None]:
    """How `pulumi import` finds the inputs of a node: in the inventory."""

    def look_up(node: NodeId) -> Properties | None:
        from fleet.provider.node import inputs_of
        from fleet.spec import load, load_access

        declared = load(settings.inventory)
        found = declared.nodes.get(node)
        if found is None:
            return None
        secret = load_access(settings.inventory).bmc.password.reference
        return inputs_of(found, declared.site, secret.replace("{node}", node))

    return look_up


def main() -> int:
    """Serves the engine."""
    from fleet.provider.server import serve

    code = serve(open_ports, metadata.version("fleet"))
    sys.stdout.flush()
    os._exit(code)  # a thread may still wait for a BMC; the engine is gone, and what it did is found by looking
