"""A file that stops everything: while it exists, the ledger's records carry a person's `stop` for all nodes.

So a person can stop the fleet where the ledger can't be written, with nothing but `touch`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from fleet.model.ids import NodeId, OrderId
from fleet.model.observation import Hold, Records
from fleet.model.order import Outcome, StepRecord
from fleet.model.plan import Change, Step
from fleet.ports import Ledger


@dataclass(frozen=True, slots=True)
class UnderStopFile:
    """The port Ledger, with a stop in its records while `stopped` says so."""

    inner: Ledger
    stopped: Callable[[], bool]

    def records(self) -> Records:
        """As the ledger says, and the stop file's word."""
        found = self.inner.records()
        if not self.stopped() or any(hold.kind == "stop" and not hold.nodes for hold in found.holds):
            return found
        since = found.last_entry or datetime.fromtimestamp(0, UTC)
        return replace(found, holds=(*found.holds, Hold("stop", (), "the stop file", "a stop file lies there", since)))

    def commit(self, changes: Iterable[Change], by: str, at: datetime) -> None:
        """As the ledger does."""
        self.inner.commit(changes, by, at)

    def begin(self, step: Step, record: StepRecord, by: str) -> int:
        """As the ledger does."""
        return self.inner.begin(step, record, by)

    def end(self, step: Step, token: int, outcome: Outcome, at: datetime) -> None:
        """As the ledger does."""
        self.inner.end(step, token, outcome, at)

    def waited(self, order: OrderId, seconds: float) -> None:
        """As the ledger does."""
        self.inner.waited(order, seconds)

    def still_ours(self, node: NodeId, token: int) -> bool:
        """As the ledger does."""
        return self.inner.still_ours(node, token)
