"""What the tests of the ledger share: one moment, one controller, and an order that is under way."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from fleet.adapters.ledger_sql import SqlLedger, open_ledger
from fleet.model.ids import NodeId, OrderId, Purpose, ReleaseId, Verb
from fleet.model.order import Done, Outcome, StepRecord
from fleet.model.plan import OrderOpened, Step

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HOLDER = "ctl:1"
N1, O1, R2 = NodeId("n1"), OrderId("o1"), ReleaseId("amd-2026.2")
TTL = 30.0


def later(**passed: float) -> datetime:
    return AT + timedelta(**passed)


def opened(directory: Path, *, holder: str = HOLDER) -> SqlLedger:
    """A ledger whose lease is taken."""
    ledger = open_ledger(directory / "ledger.db")
    assert ledger.take(holder, AT, TTL)
    return ledger


def order(ledger: SqlLedger, purpose: Purpose = Purpose.UPGRADE, release: ReleaseId | None = R2) -> None:
    """Order o1 on n1."""
    ledger.commit([OrderOpened(O1, N1, purpose, release, why="because")], HOLDER, AT)


def step(verb: Verb = Verb.CORDON, order: OrderId = O1, node: NodeId = N1) -> Step:
    return Step(order, node, verb, Purpose.UPGRADE, R2)


def walked(ledger: SqlLedger, verb: Verb, outcome: Outcome | None = None) -> int:
    """A step of o1 from its beginning to its end."""
    token = ledger.begin(step(verb), StepRecord(verb, 0, AT, boot="b1"), HOLDER)
    ledger.end(step(verb), token, outcome or Done("did it"), later(minutes=1))
    return token
