"""Rows of the ledger as the model's values; what is closed stays in the tables and out of `Records`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, func, or_, select

from fleet.adapters.ledger_sql.schema import (
    approvals,
    cases,
    confirmations,
    enrolments,
    holds,
    orders,
    rollouts,
    steps,
)
from fleet.adapters.ledger_sql.steps import highest_token
from fleet.adapters.ledger_sql.trail import last_moment
from fleet.model.health import Case, Severity
from fleet.model.ids import CaseId, NodeId, OrderId, PoolId, Purpose, ReleaseId, RolloutId, Verb
from fleet.model.observation import Enrolment, Hold, Records
from fleet.model.order import Result, Rollout, RolloutState, StepRecord, WorkOrder

_ENDED = (RolloutState.DONE, RolloutState.REVERTED, RolloutState.REFUSED)
_REMEMBERED = timedelta(days=2)
"""How long a closed case counts for the breaker; longer than any `window` and `quiet` that make sense."""


def records(connection: Connection, observe_only: str = "") -> Records:
    """The ledger's part of what is observed, from one snapshot."""
    now = last_moment(connection)
    quarantined: tuple[Any, ...] = ()
    if now is not None:
        recent = select(cases.c.opened, cases.c.node).where(
            cases.c.closed.is_not(None), cases.c.severity != Severity.WATCH, cases.c.opened >= now - _REMEMBERED
        )
        quarantined = tuple((row.opened, NodeId(row.node)) for row in connection.execute(recent))
    return Records(
        orders=_orders(connection),
        rollouts=_rollouts(connection),
        cases={
            NodeId(row.node): case(row)
            for row in connection.execute(select(cases).where(cases.c.closed.is_(None)).order_by(cases.c.opened))
        },
        enrolled={
            NodeId(row.node): enrolment(row)
            for row in connection.execute(select(enrolments).where(enrolments.c.released.is_(False)))
        },
        holds=tuple(
            hold(row) for row in connection.execute(select(holds).where(holds.c.lifted.is_(None)).order_by(holds.c.seq))
        ),
        approvals={row.what: row.by for row in connection.execute(select(approvals.c.what, approvals.c.by))},
        confirmations={
            NodeId(row.node): row.by for row in connection.execute(select(confirmations.c.node, confirmations.c.by))
        },
        last_entry=now,
        token=highest_token(connection),
        observe_only=observe_only,
        quarantined_at=quarantined,
    )


def _orders(connection: Connection) -> Mapping[NodeId, WorkOrder]:
    history: dict[str, list[StepRecord]] = defaultdict(list)
    joined = (
        select(steps)
        .join(orders, steps.c.order_id == orders.c.id)
        .where(orders.c.closed.is_(None))
        .order_by(steps.c.token)
    )
    for row in connection.execute(joined):
        history[row.order_id].append(step(row))
    found = connection.execute(select(orders).where(orders.c.closed.is_(None)))
    return {NodeId(row.node): order(row, tuple(history.get(row.id, ()))) for row in found}


def _rollouts(connection: Connection) -> Mapping[RolloutId, Rollout]:
    """Those that have not ended, and the last one of each pool."""
    newest = (
        select(rollouts.c.id, func.row_number().over(partition_by=rollouts.c.pool, order_by=_NEWEST).label("place"))
    ).subquery()
    query = (
        select(rollouts)
        .join(newest, rollouts.c.id == newest.c.id)
        .where(or_(rollouts.c.state.not_in(_ENDED), newest.c.place == 1))
        .order_by(rollouts.c.opened, rollouts.c.id)
    )
    return {RolloutId(row.id): rollout(row) for row in connection.execute(query)}


_NEWEST = (rollouts.c.opened.desc(), rollouts.c.id.desc())


def order(row: Any, history: tuple[StepRecord, ...]) -> WorkOrder:
    """One row of `orders` with its steps."""
    return WorkOrder(
        id=OrderId(row.id),
        node=NodeId(row.node),
        purpose=Purpose(row.purpose),
        opened=row.opened,
        release=ReleaseId(row.release) if row.release is not None else None,
        rollout=RolloutId(row.rollout) if row.rollout is not None else None,
        case=CaseId(row.case_id) if row.case_id is not None else None,
        rung=Verb(row.rung) if row.rung is not None else None,
        canary=row.canary,
        reverting=row.reverting,
        steps=history,
        moved=row.moved,
        waited=timedelta(seconds=row.waited_seconds),
        approved_by=row.approved_by,
        confirmed_by=row.confirmed_by,
        mark=row.mark,
        hands=row.hands,
    )


def step(row: Any) -> StepRecord:
    """One row of `steps`."""
    return StepRecord(
        verb=Verb(row.verb),
        token=row.token,
        began=row.began,
        boot=row.boot,
        firmware=row.firmware,
        ended=row.ended,
        result=Result(row.result),
        detail=row.detail,
    )


def rollout(row: Any) -> Rollout:
    """One row of `rollouts`."""
    return Rollout(
        id=RolloutId(row.id),
        pool=PoolId(row.pool),
        release=ReleaseId(row.release),
        opened=row.opened,
        state=RolloutState(row.state),
        nodes=tuple(map(NodeId, row.nodes)),
        canaries=tuple(map(NodeId, row.canaries)),
        canaries_named=row.canaries_named,
        passed=tuple(map(NodeId, row.passed)),
        failed=tuple(map(NodeId, row.failed)),
        by=row.by,
        why=row.why,
        resumed=row.resumed,
        plan=row.plan,
        changed=row.changed,
    )


def case(row: Any) -> Case:
    """One row of `cases`."""
    return Case(
        id=CaseId(row.id),
        node=NodeId(row.node),
        causes=row.causes,
        severity=Severity(row.severity),
        opened=row.opened,
        last_seen=row.last_seen,
        device=row.device,
        evidence=row.evidence,
        closed=row.closed,
        overruled=row.overruled,
    )


def enrolment(row: Any) -> Enrolment:
    """One row of `enrolments`."""
    return Enrolment(
        node=NodeId(row.node),
        serial=row.serial,
        host_key=row.host_key,
        applied=ReleaseId(row.applied) if row.applied is not None else None,
        served=row.served,
        fit_since=row.fit_since,
        retired=row.retired,
        certificate=row.certificate,
        probation_until=row.probation_until,
        probation_rung=row.probation_rung,
        tries=tuple(_try(text) for text in row.tries),
        bad_releases=tuple(map(ReleaseId, row.bad_releases)),
    )


def _try(text: str) -> tuple[datetime, str]:
    moment, _, rung = text.partition(" ")
    return datetime.fromisoformat(moment), rung


def hold(row: Any) -> Hold:
    """One row of `holds`."""
    return Hold(
        kind=row.kind,
        nodes=tuple(map(NodeId, row.nodes)),
        by=row.by,
        reason=row.reason,
        since=row.since,
        until=row.until,
    )
