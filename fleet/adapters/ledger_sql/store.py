"""The ledger as one object: it implements the ports Ledger, Enrol, People and Lease over one SQLite file.

Any number of threads and processes may use one file. Writers take turns; each transaction is on disk when its method
returns, its entries of the reason trail with it. Where the ledger is an older copy than its anchor says, nothing
begins: `records().observe_only` gives the reason until a person accepts it (`accept_history`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection

from fleet.adapters.ledger_sql import anchor, changes, people, rows, steps, trail
from fleet.adapters.ledger_sql.opening import connect, reading, writing
from fleet.adapters.ledger_sql.trail import Said
from fleet.errors import LedgerError
from fleet.model.ids import NodeId, OrderId, ReleaseId, RolloutId
from fleet.model.observation import Enrolment, Hold, Records
from fleet.model.order import Outcome, Rollout, StepRecord
from fleet.model.plan import Change, Step
from fleet.model.trail import TrailEntry, TrailVerdict

_TOKENS_SPARED = 1_000_000
"""How far tokens jump when an older ledger is accepted: farther than any that its lost part can have given."""


def open_ledger(path: Path, *, anchored_in: Path | None = None, read_only: bool = False) -> SqlLedger:
    """The ledger at `path`, made or migrated where needed. The anchor lies beside it unless said otherwise."""
    return SqlLedger(path, anchored_in=anchored_in, read_only=read_only)


class SqlLedger:
    """Implements Ledger, Enrol, People and Lease. Close it, or use it in a `with`."""

    def __init__(
        self,
        path: Path,
        *,
        anchored_in: Path | None = None,
        read_only: bool = False,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.path = path
        self._anchor = anchored_in or path.with_name("anchor")
        self._read_only = read_only
        self._now = now
        self._turn = threading.Lock()  # threads of one process queue here, not in SQLite's polling
        self._engine = connect(path, read_only=read_only)
        self._anchored_day = ""
        self.observe_only = ""
        try:
            self._look_at_anchor()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> SqlLedger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the file."""
        self._engine.dispose()

    # Ledger

    def records(self) -> Records:
        """What the core reads, from one snapshot."""
        with self._read() as connection:
            return rows.records(connection, self.observe_only)

    def commit(self, changed: Iterable[Change], by: str, at: datetime) -> None:
        """Applies changes with their trail entries: all of them durably, or none."""
        with self._write(at) as connection:
            steps.must_not_have_lost(connection, by)
            said: list[Said] = []
            for change in changed:
                said.extend(changes.apply(connection, change, at))
            trail.append(connection, said, who=by, at=at)

    def begin(self, step: Step, record: StepRecord, by: str) -> int:
        """Writes a step down before it begins; gives its token. Raises NoLease where `by` may not act now."""
        if self.observe_only:
            raise LedgerError(f"{step.node}: {step.verb} can't begin", self.observe_only, _ACCEPT)
        with self._write(record.began) as connection:
            return steps.begin(connection, step, record, by)

    def end(self, step: Step, token: int, outcome: Outcome, at: datetime) -> None:
        """Writes the end of the running step with that token; of another one only the trail is told."""
        with self._write(at) as connection:
            steps.end(connection, step, token, outcome, at)

    def waited(self, order: OrderId, seconds: float) -> None:
        """Adds to an order's honest waiting."""
        with self._write(None) as connection:
            steps.waited(connection, order, seconds)

    def still_ours(self, node: NodeId, token: int) -> bool:
        """Whether the step with that token may still touch the node."""
        with self._read() as connection:
            return steps.still_ours(connection, node, token)

    # Lease

    def take(self, holder: str, at: datetime, ttl_seconds: float) -> bool:
        """Takes the lease where it is free, ours, or its holder went silent. A change of hands is anchored."""
        with self._write(at) as connection:
            before = steps.held_by(connection)
            if not steps.take_lease(connection, holder, at, ttl_seconds):
                return False
        if before != holder and not self.observe_only:
            with self._read() as connection:
                self._drop_anchor(connection, at)
        return True

    def renew(self, holder: str, at: datetime, ttl_seconds: float) -> bool:
        """Keeps the lease; False where it is lost."""
        with self._write(None) as connection:
            return steps.renew_lease(connection, holder, at, ttl_seconds)

    def give(self, holder: str) -> None:
        """Lets the lease go."""
        with self._write(None) as connection:
            steps.give_lease(connection, holder)

    def holder(self) -> str:
        """Who holds the lease, silent or not; empty where nobody does."""
        with self._read() as connection:
            return steps.held_by(connection)

    # Enrol

    def enrolment(self, node: NodeId) -> Enrolment | None:
        """What is kept of a node."""
        with self._read() as connection:
            return people.enrolment(connection, node)

    def by_serial(self, serial: str) -> Enrolment | None:
        """The node that carries a serial."""
        with self._read() as connection:
            return people.by_serial(connection, serial)

    def enrol(self, enrolment: Enrolment, by: str) -> None:
        """Enrols a node, or renews its serial and host key; a retired id is refused."""
        self._say(self._now(), by, lambda connection: people.enrol(connection, enrolment))

    def released(self, node: NodeId, by: str) -> None:
        """Lets Pulumi delete a node that is retired and certified; raises LedgerError for another."""
        self._say(self._now(), by, lambda connection: people.released(connection, node))

    def certify(self, node: NodeId, certificate: str, by: str, at: datetime) -> None:
        """Notes where a node's certificate of retirement lies."""
        self._say(at, by, lambda connection: people.certify(connection, node, certificate))

    # People

    def open_rollout(self, rollout: Rollout, by: str) -> None:
        """Opens a rollout; an open one of the same nodes gives way to it."""
        self._say(rollout.opened, by, lambda connection: people.open_rollout(connection, rollout))

    def resume(self, rollout: RolloutId, by: str, at: datetime) -> None:
        """Lets a halted rollout go on."""
        self._say(at, by, lambda connection: people.resume(connection, rollout, by, at))

    def give_back(self, node: NodeId, by: str, did: str, at: datetime) -> bool:
        """A person has done the rung that only people can do; False where no order waits for them."""
        with self._write(at) as connection:
            said = steps.give_back(connection, node, by, did, at)
            trail.append(connection, said, who=by, at=at)
            return bool(said)

    def hold(self, hold: Hold) -> None:
        """Keeps a person's word."""
        self._say(hold.since, hold.by, lambda connection: people.hold(connection, hold))

    def lift(self, kind: str, nodes: Sequence[NodeId], by: str, reason: str, at: datetime) -> int:
        """Takes words of a kind back: all without `nodes`, else those about these nodes. How many."""
        with self._write(at) as connection:
            count, said = people.lift(connection, kind, nodes, reason, at)
            trail.append(connection, said, who=by, at=at)
            return count

    def confirm(self, node: NodeId, by: str, at: datetime) -> None:
        """Keeps a person's confirmation that a node be retired."""
        self._say(at, by, lambda connection: people.confirm(connection, node, by, at))

    def approve(self, what: str, by: str, signature: str, at: datetime) -> None:
        """Keeps a person's approval of a plan or an order."""
        self._say(at, by, lambda connection: people.approve(connection, what, by, signature, at))

    def note(self, node: NodeId | None, by: str, what: str, why: str, at: datetime) -> None:
        """Adds a line to the trail that changes nothing else."""
        self._say(at, by, lambda _: (Said(what, node or "", why=why),))

    def accept(self, release: ReleaseId, serial: int) -> bool:
        """Whether a release's serial is not behind what was accepted before; remembers it where it is not."""
        with self._write(None) as connection:
            return people.accept(connection, release, serial)

    # The reason trail

    def trail(
        self,
        *,
        node: NodeId | str = "",
        order: OrderId | str = "",
        since: datetime | None = None,
        limit: int | None = None,
    ) -> tuple[TrailEntry, ...]:
        """The newest entries that fit, oldest of them first."""
        with self._read() as connection:
            return trail.entries(connection, node=node, order=order, since=since, limit=limit)

    def verify_trail(self) -> TrailVerdict:
        """Follows the whole chain, and holds it against the anchor; names the first bad entry."""
        with self._read() as connection:
            found = trail.verdict(trail.exported(connection))
            if not found.good:
                return found
            doubt = self._doubt(connection)
        return TrailVerdict(found.entries, found.head, None, doubt) if doubt else found

    def export_trail(self) -> Iterator[dict[str, object]]:
        """Every entry as it was hashed, for a check elsewhere."""
        with self._read() as connection:
            yield from trail.exported(connection)

    def head(self) -> tuple[int, str]:
        """Place and hash of the trail's last entry."""
        with self._read() as connection:
            return trail.head(connection)

    def highest_token(self) -> int:
        """The highest token that this ledger gave; a node that saw a higher one knows a newer ledger."""
        with self._read() as connection:
            return steps.highest_token(connection)

    def accept_history(self, by: str, why: str, at: datetime) -> None:
        """A person takes an older ledger for the true one: told, anchored anew, tokens far above the old."""
        known = anchor.last(self._anchor)
        with self._write(at) as connection:
            lost = self.observe_only
            at_least = max(known.token if known else 0, steps.highest_token(connection)) + _TOKENS_SPARED
            steps.raise_token(connection, at_least)
            said = Said("history accepted", why=why, detail={"doubt": lost, "tokens_above": at_least})
            trail.append(connection, [said], who=by, at=at)
        with self._read() as connection:
            self._drop_anchor(connection, at)
        self.observe_only = ""

    # Inside

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        with reading(self._engine, self.path) as connection:
            yield connection

    @contextmanager
    def _write(self, at: datetime | None) -> Iterator[Connection]:
        if self._read_only:
            raise LedgerError(f"{self.path}: the ledger was opened to be read", "", "run this as its owner")
        with self._turn, writing(self._engine, self.path) as connection:
            if at is not None:
                self._anchor_daily(connection, at)
            yield connection

    def _say(self, at: datetime, by: str, change: Callable[[Connection], Iterable[Said]]) -> None:
        with self._write(at) as connection:
            trail.append(connection, change(connection), who=by, at=at)

    def _look_at_anchor(self) -> None:
        known = anchor.last(self._anchor)
        self._anchored_day = known.day if known else ""
        with self._read() as connection:
            doubt = self._doubt(connection)
        self.observe_only = f"{doubt}; {_ACCEPT}" if doubt else ""

    def _doubt(self, connection: Connection) -> str:
        seq, _ = trail.head(connection)
        return anchor.doubt(anchor.last(self._anchor), seq, lambda place: trail.hash_at(connection, place))

    def _anchor_daily(self, connection: Connection, at: datetime) -> None:
        """Anchors the head that was committed before, once a day and before anything is added to it."""
        day = at.astimezone(UTC).date().isoformat()
        if day > self._anchored_day and not self.observe_only and trail.head(connection)[0]:
            self._drop_anchor(connection, at)

    def _drop_anchor(self, connection: Connection, at: datetime) -> None:
        seq, digest = trail.head(connection)
        day = at.astimezone(UTC).date().isoformat()
        anchor.append(self._anchor, at, anchor.Anchored(seq, digest, day, steps.highest_token(connection)))
        self._anchored_day = max(day, self._anchored_day)


_ACCEPT = "restore the newest ledger, or take this one for true with `fleet trail accept`"
