"""What people and the Pulumi provider write: enrolments, rollouts, holds, approvals, confirmations, releases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from fleet.adapters.ledger_sql.changes import said_of, write_enrolment
from fleet.adapters.ledger_sql.rows import enrolment as enrolment_of
from fleet.adapters.ledger_sql.schema import accepted, approvals, confirmations, enrolments, holds, orders, rollouts
from fleet.adapters.ledger_sql.trail import Said
from fleet.errors import LedgerError
from fleet.model.observation import Enrolment, Hold
from fleet.model.order import Rollout, RolloutState

_OPEN = (RolloutState.PLANNED, RolloutState.RUNNING, RolloutState.PAUSED, RolloutState.HALTED)


def enrolment(connection: Connection, node: str) -> Enrolment | None:
    """What is kept of a node, also where Pulumi has let it go."""
    row = connection.execute(select(enrolments).where(enrolments.c.node == node)).first()
    return enrolment_of(row) if row is not None else None


def by_serial(connection: Connection, serial: str) -> Enrolment | None:
    """The node that carries a serial: one in use rather than a retired one."""
    query = select(enrolments).where(enrolments.c.serial == serial)
    row = connection.execute(query.order_by(enrolments.c.retired, enrolments.c.released).limit(1)).first()
    return enrolment_of(row) if row is not None and serial else None


def enrol(connection: Connection, new: Enrolment) -> tuple[Said, ...]:
    """Enrols a node, or takes up what is known of it. Another serial under the same id is another machine."""
    row = connection.execute(select(enrolments).where(enrolments.c.node == new.node)).first()
    if row is not None and (row.retired or row.released):
        raise LedgerError(
            f"{new.node}: it can't be enrolled", "a retired id never returns", "give the machine a new id"
        )
    other = by_serial(connection, new.serial)
    if other is not None and other.node != new.node and not other.retired:
        raise LedgerError(
            f"{new.node}: it can't be enrolled",
            f"serial {new.serial} is enrolled as {other.node}",
            f"correct the serial in the inventory, or retire {other.node}",
        )
    known = enrolment_of(row) if row is not None else None
    if known is not None and known.serial in ("", new.serial):
        kept = replace(known, serial=new.serial, host_key=new.host_key or known.host_key)
        if new.applied is not None:
            kept = replace(kept, applied=new.applied)
    else:
        kept = new
    if kept == known:
        return ()
    values: dict[str, Any] = {
        "serial": kept.serial,
        "host_key": kept.host_key,
        "applied": kept.applied,
        "served": kept.served,
        "fit_since": kept.fit_since,
        "certificate": kept.certificate,
        "probation_until": kept.probation_until,
        "probation_rung": kept.probation_rung,
        "bad_releases": kept.bad_releases,
    }
    write_enrolment(connection, new.node, values)
    what = "enrolled" if known is None or known.serial != kept.serial else "enrolment changed"
    return (Said(what, new.node, detail=said_of(kept)),)


def released(connection: Connection, node: str) -> tuple[Said, ...]:
    """Pulumi deleted the node: only a retired one with its certificate may go."""
    row = connection.execute(select(enrolments).where(enrolments.c.node == node)).first()
    if row is None or row.released:
        return ()
    if not row.retired or not row.certificate:
        missing = "it is not retired" if not row.retired else "its certificate is missing"
        raise LedgerError(f"{node}: it can't be deleted", missing, f"retire it first: fleet retire {node}")
    write_enrolment(connection, node, {"released": True})
    return (Said("released", node, detail={"certificate": row.certificate}),)


def certify(connection: Connection, node: str, certificate: str) -> tuple[Said, ...]:
    """Notes where a node's certificate of retirement lies."""
    write_enrolment(connection, node, {"certificate": certificate})
    return (Said("certified", node, detail={"certificate": certificate}),)


def open_rollout(connection: Connection, new: Rollout) -> tuple[Said, ...]:
    """Opens a rollout; an open one of the same pool that shares a node with it gives way."""
    said = []
    for row in connection.execute(select(rollouts).where(rollouts.c.pool == new.pool, rollouts.c.state.in_(_OPEN))):
        if row.id == new.id or (row.nodes and new.nodes and not set(row.nodes) & set(new.nodes)):
            continue
        why = f"superseded by {new.id}"
        values = {"state": RolloutState.REFUSED, "why": why, "changed": new.opened}
        connection.execute(update(rollouts).where(rollouts.c.id == row.id).values(**values))
        said.append(Said("rollout moved", why=why, detail={"rollout": row.id, "state": RolloutState.REFUSED}))
    connection.execute(
        insert(rollouts).values(
            id=new.id,
            pool=new.pool,
            release=new.release,
            opened=new.opened,
            state=new.state,
            nodes=new.nodes,
            canaries=new.canaries,
            canaries_named=new.canaries_named,
            passed=new.passed,
            failed=new.failed,
            by=new.by,
            why=new.why,
            resumed=new.resumed,
            plan=new.plan,
            changed=new.changed,
        )
    )
    detail = {"rollout": new.id, **said_of(new, without=("id", "opened", "changed", "by"))}
    return (*said, Said("rollout opened", why=new.why, detail=detail))


def resume(connection: Connection, rollout: str, by: str, at: datetime) -> tuple[Said, ...]:
    """Lets a halted or paused rollout go on; what failed may be tried again."""
    row = connection.execute(select(rollouts).where(rollouts.c.id == rollout)).first()
    if row is None:
        raise LedgerError(f"rollout {rollout}", "there is no such rollout", "see `fleet rollout list`")
    values = {"state": RolloutState.RUNNING, "failed": (), "resumed": row.resumed + 1, "changed": at}
    connection.execute(update(rollouts).where(rollouts.c.id == rollout).values(**values, why=f"resumed by {by}"))
    return (Said("rollout resumed", detail={"rollout": rollout, "before": row.state, "failed": row.failed}),)


def hold(connection: Connection, new: Hold) -> tuple[Said, ...]:
    """Keeps a person's word."""
    values = {"kind": new.kind, "nodes": new.nodes, "by": new.by, "reason": new.reason}
    connection.execute(insert(holds).values(**values, since=new.since, until=new.until))
    detail: dict[str, object] = {"kind": new.kind}
    if new.until is not None:
        detail["until"] = new.until.isoformat()
    return tuple(Said("hold", node, why=new.reason, detail=detail) for node in new.nodes or ("",))


def lift(connection: Connection, kind: str, nodes: Sequence[str], reason: str, at: datetime) -> tuple[int, list[Said]]:
    """Takes words of a kind back: all of them without `nodes`, else what they say of these nodes. How many."""
    count, asked = 0, frozenset(nodes)
    for row in connection.execute(select(holds).where(holds.c.kind == kind, holds.c.lifted.is_(None))).all():
        if asked and not asked & set(row.nodes):
            continue
        left = tuple(node for node in row.nodes if node not in asked) if asked else ()
        values: dict[str, Any] = {"nodes": left} if left else {"lifted": at}
        connection.execute(update(holds).where(holds.c.seq == row.seq).values(**values))
        count += 1
    if not count:
        return 0, []
    return count, [Said("lifted", node, why=reason, detail={"kind": kind}) for node in nodes or ("",)]


def confirm(connection: Connection, node: str, by: str, at: datetime) -> tuple[Said, ...]:
    """A person confirmed the retirement of a node."""
    statement = upsert(confirmations).values(node=node, by=by, at=at)
    connection.execute(
        statement.on_conflict_do_update(index_elements=[confirmations.c.node], set_={"by": by, "at": at})
    )
    return (Said("confirmed", node),)


def approve(connection: Connection, what: str, by: str, signature: str, at: datetime) -> tuple[Said, ...]:
    """A person approved a plan or an order; the signature is kept beside it."""
    values = {"by": by, "signature": signature, "at": at}
    statement = upsert(approvals).values(what=what, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=[approvals.c.what], set_=values))
    row = connection.execute(select(orders.c.node).where(orders.c.id == what)).first()
    if row is not None:
        connection.execute(update(orders).where(orders.c.id == what).values(approved_by=by))
    node, order = (row.node, what) if row is not None else ("", "")
    return (Said("approved", node, order, detail={"approved": what, "signature": signature}),)


def accept(connection: Connection, release: str, serial: int) -> bool:
    """Whether a signed manifest may be believed: never an older one under the same id, nor an old one new to us.

    A release that was accepted once stays acceptable, so that a pool can go back to it.
    """
    row = connection.execute(select(accepted).where(accepted.c.release == release)).first()
    if row is not None and serial <= row.serial:
        return bool(serial == row.serial)
    line = line_of(release)
    if row is None:
        highest = connection.execute(
            select(accepted.c.serial).where(accepted.c.line == line).order_by(accepted.c.serial.desc()).limit(1)
        ).scalar()
        if highest is not None and serial < highest:
            return False
    statement = upsert(accepted).values(release=release, line=line, serial=serial)
    connection.execute(statement.on_conflict_do_update(index_elements=[accepted.c.release], set_={"serial": serial}))
    return True


def line_of(release: str) -> str:
    """The line a release belongs to: what stands before its first number (`amd` of `amd-2026.1`)."""
    found = re.match(r"(.*?)[-_.]?\d", release)
    return found.group(1) if found else release
