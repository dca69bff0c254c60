"""The lease, and steps under it: who may act, what was begun before it began, and how it ended.

A step's row is committed before the step begins; its token comes from one counter over the whole ledger, so that a
node can refuse whoever comes with a lower one.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import assert_never

from sqlalchemy import Connection, bindparam, insert, or_, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from fleet.adapters.ledger_sql.changes import write_enrolment
from fleet.adapters.ledger_sql.schema import counters, holders, lease, moment_text, orders, steps
from fleet.adapters.ledger_sql.trail import Said, append
from fleet.errors import LedgerError, NoLease
from fleet.model.ids import Verb
from fleet.model.order import Again, Done, Failed, Lost, Outcome, Result, StepRecord
from fleet.model.plan import Step

_ACT = "act"
_TOKEN = "token"

# Statements of the path that each step takes, built once: building them costs as much as running them.
_HOLDER = select(lease.c.holder).where(lease.c.name == _ACT)
_ORDER = select(orders.c.node, orders.c.closed).where(orders.c.id == bindparam("order"))
_RUNNING = select(steps.c.verb, steps.c.token, steps.c.by, steps.c.node).where(
    steps.c.order_id == bindparam("order"), steps.c.result == Result.RUNNING.value
)
_NEWEST = (
    select(steps.c.token, steps.c.result, steps.c.by)
    .where(steps.c.node == bindparam("of_node"))
    .order_by(steps.c.token.desc())
    .limit(1)
)
_BEGIN = insert(steps)
_END = update(steps).where(steps.c.token == bindparam("of_token"))
_BUMP = upsert(counters).values(name=_TOKEN, value=1)
_NEXT_TOKEN = _BUMP.on_conflict_do_update(
    index_elements=[counters.c.name], set_={"value": counters.c.value + 1}
).returning(counters.c.value)


def take_lease(connection: Connection, holder: str, at: datetime, ttl_seconds: float) -> bool:
    """Takes the lease where it is free, ours already, or its holder went silent."""
    row = connection.execute(select(lease).where(lease.c.name == _ACT)).first()
    if row is not None and row.holder not in ("", holder) and row.until > at:
        return False
    until = at + timedelta(seconds=ttl_seconds)
    statement = upsert(lease).values(name=_ACT, holder=holder, until=until)
    connection.execute(statement.on_conflict_do_update(index_elements=[lease.c.name], set_=_held(holder, until)))
    connection.execute(upsert(holders).values(holder=holder, since=at).on_conflict_do_nothing())
    if row is None or row.holder != holder:
        before = row.holder if row is not None else ""
        why = f"{before} was last heard of before {moment_text(row.until)}" if row is not None and before else ""
        append(connection, [Said("lease taken", why=why, detail={"ttl_seconds": ttl_seconds})], who=holder, at=at)
    return True


def held_by(connection: Connection) -> str:
    """Who holds the lease, silent or not; empty where nobody does."""
    return str(connection.execute(_HOLDER).scalar() or "")


def renew_lease(connection: Connection, holder: str, at: datetime, ttl_seconds: float) -> bool:
    """Keeps the lease, unless somebody else has it by now."""
    until = at + timedelta(seconds=ttl_seconds)
    kept = update(lease).where(lease.c.name == _ACT, lease.c.holder == holder)
    return connection.execute(kept.values(until=until)).rowcount == 1


def give_lease(connection: Connection, holder: str) -> None:
    """Lets the lease go at once."""
    connection.execute(update(lease).where(lease.c.name == _ACT, lease.c.holder == holder).values(holder=""))


def must_hold(connection: Connection, holder: str) -> None:
    """Raises NoLease unless this holder has the lease.

    One that ran out and that nobody took is still its holder's: taking it and this check happen in transactions that
    exclude each other, so a slow pass or a clock that jumps does no harm.
    """
    now = held_by(connection)
    if now != holder:
        raise NoLease(
            f"{holder} may not act",
            f"the lease is held by {now or 'nobody'}",
            "end this controller, or let it take the lease",
        )


def must_not_have_lost(connection: Connection, by: str) -> None:
    """Raises NoLease where `by` is a controller that held the lease once and another one holds it now."""
    was = connection.execute(select(holders.c.holder).where(holders.c.holder == by)).first()
    if was is None:
        return  # a person, or a provider
    now = held_by(connection)
    if now not in ("", by):
        raise NoLease(f"{by} may not record", f"{now} has taken over", "end this controller; the other one goes on")


def begin(connection: Connection, step: Step, record: StepRecord, by: str) -> int:
    """Writes the step down and gives its token. Refused without the lease, without an open order, beside another."""
    must_hold(connection, by)
    order = connection.execute(_ORDER, {"order": step.order}).first()
    if order is None or order.closed is not None or order.node != step.node:
        raise LedgerError(
            f"{step.node}: {step.verb} can't begin",
            f"order {step.order} is not open on it",
            "the next pass decides anew",
        )
    running = connection.execute(_RUNNING, {"order": step.order}).first()
    if running is not None:
        raise NoLease(
            f"{step.node}: {step.verb} can't begin",
            f"{running.verb} of order {step.order} (token {running.token}) has no end yet",
            "the next pass looks how it ended",
        )
    token = _next_token(connection)
    connection.execute(
        _BEGIN,
        {
            "token": token,
            "order_id": step.order,
            "node": step.node,
            "verb": step.verb,
            "began": record.began,
            "boot": record.boot,
            "firmware": record.firmware,
            "result": Result.RUNNING,
            "by": by,
        },
    )
    detail = {"verb": step.verb, "token": token, "purpose": step.purpose, "release": step.release}
    if step.force:
        detail["force"] = True
    if record.boot:
        detail["boot"] = record.boot
    if record.firmware:
        detail["firmware"] = record.firmware
    said = Said("step began", step.node, step.order, step.why, detail)
    append(connection, [said], who=by, at=record.began)
    return token


def end(connection: Connection, step: Step, token: int, outcome: Outcome, at: datetime) -> bool:
    """Writes the end of the step that runs under `token`; of any other only the trail is told. Whether it counted."""
    result, text = _told(outcome)
    row = connection.execute(_RUNNING, {"order": step.order}).first()
    shown = dict(outcome.shown) if isinstance(outcome, Done) else {}
    detail: dict[str, object] = {"verb": step.verb, "token": token, "result": result}
    if shown:
        detail["shown"] = shown
    if row is None or row.token != token:
        said = Said("end ignored", step.node, step.order, f"the step had ended already; told now: {text}", detail)
        append(connection, [said], who="", at=at)
        return False
    connection.execute(_END, {"of_token": token, "ended": at, "result": result, "detail": text})
    if shown.get("certificate"):
        write_enrolment(connection, row.node, {"certificate": shown["certificate"]})
    append(connection, [Said("step ended", row.node, step.order, text, detail)], who=row.by, at=at)
    return True


def waited(connection: Connection, order: str, seconds: float) -> None:
    """Adds to the time that an order has waited for work to leave."""
    statement = update(orders).where(orders.c.id == order, orders.c.closed.is_(None))
    connection.execute(statement.values(waited_seconds=orders.c.waited_seconds + seconds))


def still_ours(connection: Connection, node: str, token: int) -> bool:
    """Whether `token` is of the step that runs on the node, is its newest, and its controller still has the lease."""
    row = connection.execute(_NEWEST, {"of_node": node}).first()
    return row is not None and row.token == token and row.result == Result.RUNNING and row.by == held_by(connection)


def raise_token(connection: Connection, at_least: int) -> None:
    """Makes every later token higher than `at_least`."""
    if highest_token(connection) < at_least:
        statement = upsert(counters).values(name=_TOKEN, value=at_least)
        connection.execute(statement.on_conflict_do_update(index_elements=[counters.c.name], set_={"value": at_least}))


def highest_token(connection: Connection) -> int:
    """The highest token that was ever given."""
    return int(connection.execute(select(counters.c.value).where(counters.c.name == _TOKEN)).scalar() or 0)


def give_back(connection: Connection, node: str, by: str, did: str, at: datetime) -> tuple[Said, ...]:
    """Writes a person's work down as the step `rma` of the order that waits for hands, and lets the order go on."""
    waits = or_(orders.c.hands.is_(True), orders.c.rung == Verb.RMA)
    row = connection.execute(select(orders.c.id).where(orders.c.node == node, orders.c.closed.is_(None), waits)).first()
    if row is None:
        return ()
    token = _next_token(connection)
    connection.execute(
        insert(steps).values(
            token=token,
            order_id=row.id,
            node=node,
            verb=Verb.RMA,
            began=at,
            ended=at,
            boot="",
            firmware="",
            result=Result.DONE,
            detail=did,
            by=by,
        )
    )
    connection.execute(update(orders).where(orders.c.id == row.id).values(hands=False))
    return (Said("given back", node, row.id, did, {"verb": Verb.RMA, "token": token, "result": Result.DONE}),)


def _next_token(connection: Connection) -> int:
    return int(connection.execute(_NEXT_TOKEN).scalar_one())


def _held(holder: str, until: datetime) -> dict[str, object]:
    return {"holder": holder, "until": until}


def _told(outcome: Outcome) -> tuple[Result, str]:
    match outcome:
        case Done(detail=detail):
            return Result.DONE, detail
        case Again(why=why):
            return Result.AGAIN, why
        case Failed(why=why):
            return Result.FAILED, why
        case Lost(why=why):
            return Result.LOST, why
        case _:
            assert_never(outcome)
