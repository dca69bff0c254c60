"""What each change of a plan does to the tables, and the entry of the reason trail that tells of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any, assert_never

from sqlalchemy import Connection, func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from fleet.adapters.ledger_sql.schema import cases, confirmations, enrolments, orders, rollouts, steps
from fleet.adapters.ledger_sql.trail import Said
from fleet.errors import LedgerError
from fleet.lifecycle.table import LADDER
from fleet.model.health import Case
from fleet.model.ids import Purpose, Verb
from fleet.model.order import Result, RolloutState
from fleet.model.plan import (
    Adopted,
    CaseMoved,
    Change,
    OrderChanged,
    OrderClosed,
    OrderOpened,
    RolloutMoved,
    StepEnded,
)

_TO_SERVICE = frozenset({Purpose.UPGRADE, Purpose.CORRECT, Purpose.ENROL, Purpose.REPAIR})
_MOST_TRIES = 50
_HALTED = frozenset({RolloutState.HALTED, RolloutState.PAUSED})


def apply(connection: Connection, change: Change, at: datetime) -> tuple[Said, ...]:
    """Writes one change; gives the entries for the trail (none where nothing worth telling changed)."""
    match change:
        case OrderOpened():
            return _order_opened(connection, change, at)
        case OrderChanged():
            return _order_changed(connection, change, at)
        case OrderClosed():
            return _order_closed(connection, change, at)
        case RolloutMoved():
            return _rollout_moved(connection, change, at)
        case StepEnded():
            return _step_ended(connection, change, at)
        case CaseMoved():
            return _case_moved(connection, change)
        case Adopted():
            return _adopted(connection, change, at)
        case _:
            assert_never(change)


def said_of(record: Any, *, without: tuple[str, ...] = ()) -> dict[str, object]:
    """The fields of a dataclass that say something, for the trail."""
    left_out = {"why", "order", "node", *without}
    found = {field.name: getattr(record, field.name) for field in fields(record) if field.name not in left_out}
    return {name: value for name, value in found.items() if value not in (None, "", (), False)}


def _order_opened(connection: Connection, change: OrderOpened, at: datetime) -> tuple[Said, ...]:
    busy = connection.execute(
        select(orders.c.id).where(orders.c.node == change.node, orders.c.closed.is_(None))
    ).scalar()
    if busy is not None:
        raise LedgerError(
            f"{change.node}: order {change.order} can't be opened",
            f"order {busy} is open on the node",
            "the next pass decides anew",
        )
    connection.execute(
        insert(orders).values(
            id=change.order,
            node=change.node,
            purpose=change.purpose,
            opened=at,
            moved=at,
            release=change.release,
            rollout=change.rollout,
            case_id=change.case,
            rung=change.rung,
            canary=change.canary,
            confirmed_by=change.confirmed_by,
        )
    )
    return (Said("order opened", change.node, change.order, change.why, said_of(change)),)


def _order_changed(connection: Connection, change: OrderChanged, at: datetime) -> tuple[Said, ...]:
    row = _open_order(connection, change.order)
    named: Mapping[str, Any] = {
        "purpose": change.purpose,
        "release": change.release,
        "rung": change.rung,
        "reverting": change.reverting,
        "case_id": change.case,
        "hands": change.hands,
    }
    values = {name: value for name, value in named.items() if value is not None}
    if values.keys() & {"purpose", "release", "rung", "reverting"}:
        counted = select(func.count()).select_from(steps).where(steps.c.order_id == change.order)
        values |= {"moved": at, "mark": connection.execute(counted).scalar_one()}
    if values:
        connection.execute(update(orders).where(orders.c.id == change.order).values(**values))
    if change.reverting and row.release is not None:
        _mark_bad(connection, row.node, row.release)
    return (Said("order changed", row.node, change.order, change.why, said_of(change)),)


def _order_closed(connection: Connection, change: OrderClosed, at: datetime) -> tuple[Said, ...]:
    row = _open_order(connection, change.order)
    connection.execute(update(orders).where(orders.c.id == change.order).values(closed=at, good=change.good))
    purpose = Purpose(row.purpose)
    if purpose in _TO_SERVICE:
        made_true = _made_true(connection, row, change, at)
        if made_true:
            write_enrolment(connection, row.node, made_true)
    if change.good and purpose is Purpose.RETIRE:
        certificate = {"certificate": change.certificate} if change.certificate else {}
        write_enrolment(connection, row.node, {"retired": True, **certificate})
        connection.execute(confirmations.delete().where(confirmations.c.node == row.node))
    if not change.good and purpose is Purpose.UPGRADE and row.release is not None and not row.reverting:
        _mark_bad(connection, row.node, row.release)
    detail = {"purpose": row.purpose, "release": row.release, "good": change.good}
    detail["certificate"] = change.certificate or None
    said = {name: value for name, value in detail.items() if value is not None}
    return (Said("order closed", row.node, change.order, change.why, said),)


def _made_true(connection: Connection, row: Any, change: OrderClosed, at: datetime) -> dict[str, Any]:
    """What an order that ended says of its node: served, proven, on a release, on probation."""
    values: dict[str, Any] = {"served": True} if change.good else {}
    if _verified(connection, change.order):
        values["fit_since"] = at
    if change.applied is not None:
        values["applied"] = change.applied
    if change.good and change.probation_until is not None:
        kept = connection.execute(select(enrolments.c.tries).where(enrolments.c.node == row.node)).scalar() or ()
        tries = (*kept, *(f"{at.isoformat()} {rung}" for rung in change.rungs))[-_MOST_TRIES:]
        highest = max(change.rungs, key=LADDER.index, default="")
        values |= {"probation_until": change.probation_until, "probation_rung": highest, "tries": tries}
    return values


def _verified(connection: Connection, order: str) -> bool:
    passed = select(steps.c.token).where(
        steps.c.order_id == order, steps.c.verb == Verb.VERIFY, steps.c.result == Result.DONE
    )
    return connection.execute(passed.limit(1)).first() is not None


def _rollout_moved(connection: Connection, change: RolloutMoved, at: datetime) -> tuple[Said, ...]:
    row = connection.execute(select(rollouts).where(rollouts.c.id == change.rollout)).first()
    if row is None:
        raise LedgerError(f"rollout {change.rollout}", "there is no such rollout", "see `fleet rollout list`")
    lists = {"canaries": change.canaries, "passed": change.passed, "failed": change.failed}
    values: dict[str, Any] = {name: value for name, value in lists.items() if value is not None}
    same = row.state == change.state and all(getattr(row, name) == value for name, value in values.items())
    if same and change.why in ("", row.why):
        return ()
    values |= {"state": change.state, "changed": at}
    if change.why:
        values["why"] = change.why
    if change.state is RolloutState.RUNNING and row.state in _HALTED:
        values["resumed"] = row.resumed + 1
    connection.execute(update(rollouts).where(rollouts.c.id == change.rollout).values(**values))
    detail = {**said_of(change), "pool": row.pool, "release": row.release, "before": row.state}
    return (Said("rollout moved", why=change.why, detail=detail),)


def _step_ended(connection: Connection, change: StepEnded, at: datetime) -> tuple[Said, ...]:
    query = select(steps).where(steps.c.order_id == change.order, steps.c.result == Result.RUNNING)
    row = connection.execute(query).first()
    if row is None:
        return ()  # told meanwhile by the one who carried it out
    connection.execute(
        update(steps).where(steps.c.token == row.token).values(ended=at, result=change.result, detail=change.detail)
    )
    detail = {"verb": row.verb, "token": row.token, "result": change.result, "found": "by looking"}
    return (Said("step ended", row.node, change.order, change.detail, detail),)


def _case_moved(connection: Connection, change: CaseMoved) -> tuple[Said, ...]:
    case = change.case
    row = connection.execute(select(cases).where(cases.c.id == case.id)).first()
    values = case_values(case)
    statement = upsert(cases).values(id=case.id, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=[cases.c.id], set_=values))
    if row is None:
        what = "case opened"
    elif case.closed is not None and row.closed is None:
        what = "case closed"
    elif (row.causes, row.severity, row.device, row.closed, row.overruled) != (
        case.causes,
        case.severity,
        case.device,
        case.closed,
        case.overruled,
    ):
        what = "case changed"
    else:
        return ()  # seen again, or more of the same evidence: nothing to tell anew
    detail = said_of(case, without=("id", "last_seen", "opened"))
    return (Said(what, case.node, why=change.why, detail={"case": case.id, **detail}),)


def case_values(case: Case) -> dict[str, Any]:
    """A case as its row, without the id."""
    return {
        "node": case.node,
        "causes": case.causes,
        "severity": case.severity,
        "opened": case.opened,
        "last_seen": case.last_seen,
        "device": case.device,
        "evidence": case.evidence,
        "closed": case.closed,
        "overruled": case.overruled,
    }


def _adopted(connection: Connection, change: Adopted, at: datetime) -> tuple[Said, ...]:
    values = {"applied": change.release, "served": change.served, "fit_since": at}
    write_enrolment(connection, change.node, values)
    return (Said("adopted", change.node, why=change.why, detail=said_of(change)),)


def write_enrolment(connection: Connection, node: str, values: Mapping[str, Any]) -> None:
    """Writes the named columns of a node's enrolment, making the row where there is none."""
    statement = upsert(enrolments).values(node=node, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=[enrolments.c.node], set_=dict(values)))


def _mark_bad(connection: Connection, node: str, release: str) -> None:
    """Notes that a release failed on a node, so that it isn't tried there again and again."""
    known = connection.execute(select(enrolments.c.bad_releases).where(enrolments.c.node == node)).scalar() or ()
    if release not in known:
        write_enrolment(connection, node, {"bad_releases": (*known, release)})


def _open_order(connection: Connection, order: str) -> Any:
    row = connection.execute(select(orders).where(orders.c.id == order, orders.c.closed.is_(None))).first()
    if row is None:
        raise LedgerError(f"order {order}", "it is not open", "see what closed it with `fleet trail show`")
    return row
