"""A retirement ends with its certificate or not at all.

Between the last step of a RETIRE order and its closing, the certificate is written; the closing carries its place, so
that both are one entry of the ledger. A crash in between writes it again. What can't be certified stays open, held
with the reason: no certificate for a wipe that nobody verified.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from fleet.errors import FleetError
from fleet.model.ids import Because, Purpose
from fleet.model.observation import Observed
from fleet.model.order import WorkOrder
from fleet.model.plan import Change, Held, OrderClosed, Plan
from fleet.model.topology import Declared, DeclaredNode

Certify = Callable[[DeclaredNode, WorkOrder, datetime], str]
"""Writes the certificate of a retired node and gives its place; raises FleetError where something is unproven."""


def certified(decided: Plan, declared: Declared, observed: Observed, certify: Certify) -> Plan:
    """The plan with a certificate in each closing retirement; those that can't have one are held instead."""
    changes: list[Change] = []
    held: list[Held] = []
    for change in decided.changes:
        order = observed.records.orders.get(change.node) if isinstance(change, OrderClosed) else None
        if not isinstance(change, OrderClosed) or order is None or order.purpose is not Purpose.RETIRE:
            changes.append(change)
            continue
        try:
            place = certify(declared.nodes[change.node], order, decided.at)
            changes.append(replace(change, certificate=place))
        except FleetError as error:
            held.append(Held(change.node, order.purpose, Because.WIPE_UNPROVEN, (order.id,), str(error)))
    if not held and len(changes) == len(decided.changes) and tuple(changes) == decided.changes:
        return decided
    return replace(decided, held=(*decided.held, *held), changes=tuple(changes))
