"""The tables. Moments are ISO 8601 text in UTC (sortable, and the same bytes in the hash chain); lists are JSON."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    text,
)

HEAD = "0001"
"""The migration that this code needs; a test holds it equal to Alembic's head."""


def moment_text(at: datetime) -> str:
    """A moment as it is stored and hashed: UTC, always with six decimals."""
    if at.tzinfo is None:
        raise ValueError(f"a moment without a time zone: {at!r}")
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def moment(value: str) -> datetime:
    """The inverse of `moment_text`."""
    return datetime.fromisoformat(value)


class Moment(TypeDecorator[datetime]):
    """A UTC moment."""

    impl = String(27)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else moment_text(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        return None if value is None else moment(value)


class Names(TypeDecorator[tuple[str, ...]]):
    """A tuple of names, as JSON."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:  # noqa: ARG002
        return json.dumps(list(value or ()), ensure_ascii=False)

    def process_result_value(self, value: Any, dialect: Dialect) -> tuple[str, ...]:  # noqa: ARG002
        return () if value in (None, "[]") else tuple(json.loads(value))


metadata = MetaData()


def _word(name: str, **options: Any) -> Column[Any]:
    return Column(name, String, nullable=False, server_default="", **options)


def _flag(name: str) -> Column[Any]:
    return Column(name, Boolean, nullable=False, server_default=text("0"))


def _names(name: str) -> Column[Any]:
    return Column(name, Names, nullable=False, server_default="[]")


orders = Table(
    "orders",
    metadata,
    Column("id", String, primary_key=True),
    Column("node", String, nullable=False),
    Column("purpose", String, nullable=False),
    Column("opened", Moment, nullable=False),
    Column("release", String),
    Column("rollout", String),
    Column("case_id", String),
    Column("rung", String),
    _flag("canary"),
    _flag("reverting"),
    _flag("hands"),
    Column("moved", Moment),
    Column("mark", Integer, nullable=False, server_default=text("0")),
    Column("waited_seconds", Float, nullable=False, server_default=text("0")),
    _word("approved_by"),
    _word("confirmed_by"),
    Column("closed", Moment),
    Column("good", Boolean),
)
Index(
    "one_open_order_per_node",
    orders.c.node,
    unique=True,
    sqlite_where=orders.c.closed.is_(None),
    postgresql_where=orders.c.closed.is_(None),
)

steps = Table(
    "steps",
    metadata,
    Column("token", Integer, primary_key=True, autoincrement=False),
    Column("order_id", String, ForeignKey("orders.id"), nullable=False),
    Column("node", String, nullable=False),
    Column("verb", String, nullable=False),
    Column("began", Moment, nullable=False),
    _word("boot"),
    _word("firmware"),
    Column("ended", Moment),
    Column("result", String, nullable=False),
    _word("detail"),
    _word("by"),
)
Index("steps_of_order", steps.c.order_id, steps.c.token)
Index("steps_of_node", steps.c.node, steps.c.token)
Index("steps_by_verb", steps.c.verb, steps.c.began)
Index(
    "one_running_step_per_order",
    steps.c.order_id,
    unique=True,
    sqlite_where=steps.c.result == "running",
    postgresql_where=steps.c.result == "running",
)

rollouts = Table(
    "rollouts",
    metadata,
    Column("id", String, primary_key=True),
    Column("pool", String, nullable=False),
    Column("release", String, nullable=False),
    Column("opened", Moment, nullable=False),
    Column("state", String, nullable=False),
    _names("nodes"),
    _names("canaries"),
    _flag("canaries_named"),
    _names("passed"),
    _names("failed"),
    _word("by"),
    _word("why"),
    Column("resumed", Integer, nullable=False, server_default=text("0")),
    _word("plan"),
    Column("changed", Moment),
)
Index("rollouts_of_pool", rollouts.c.pool, rollouts.c.opened)

cases = Table(
    "cases",
    metadata,
    Column("id", String, primary_key=True),
    Column("node", String, nullable=False),
    _names("causes"),
    Column("severity", String, nullable=False),
    Column("opened", Moment, nullable=False),
    Column("last_seen", Moment, nullable=False),
    _word("device"),
    _names("evidence"),
    Column("closed", Moment),
    Column("overruled", Moment),
)
Index("open_cases", cases.c.node, sqlite_where=cases.c.closed.is_(None), postgresql_where=cases.c.closed.is_(None))

enrolments = Table(
    "enrolments",
    metadata,
    Column("node", String, primary_key=True),
    _word("serial", index=True),
    _word("host_key"),
    Column("applied", String),
    _flag("served"),
    Column("fit_since", Moment),
    _flag("retired"),
    _word("certificate"),
    Column("probation_until", Moment),
    _word("probation_rung"),
    _names("tries"),
    _names("bad_releases"),
    _flag("released"),  # Pulumi deleted it; the id never returns
)

holds = Table(
    "holds",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("kind", String, nullable=False),
    _names("nodes"),
    Column("by", String, nullable=False),
    _word("reason"),
    Column("since", Moment, nullable=False),
    Column("until", Moment),
    Column("lifted", Moment),
)

approvals = Table(
    "approvals",
    metadata,
    Column("what", String, primary_key=True),
    Column("by", String, nullable=False),
    _word("signature"),
    Column("at", Moment, nullable=False),
)

confirmations = Table(
    "confirmations",
    metadata,
    Column("node", String, primary_key=True),
    Column("by", String, nullable=False),
    Column("at", Moment, nullable=False),
)

trail = Table(
    "trail",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("at", String(27), nullable=False),
    Column("who", String, nullable=False),
    _word("node"),
    _word("order_id"),
    Column("what", String, nullable=False),
    _word("why"),
    Column("detail", Text, nullable=False, server_default="{}"),
    Column("previous", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
)
Index("trail_of_node", trail.c.node, trail.c.seq)
Index("trail_of_order", trail.c.order_id, trail.c.seq)

lease = Table(
    "lease",
    metadata,
    Column("name", String, primary_key=True),
    _word("holder"),
    Column("until", Moment, nullable=False),
)

holders = Table(
    "holders", metadata, Column("holder", String, primary_key=True), Column("since", Moment, nullable=False)
)

counters = Table(
    "counters", metadata, Column("name", String, primary_key=True), Column("value", Integer, nullable=False)
)

accepted = Table(
    "accepted",
    metadata,
    Column("release", String, primary_key=True),
    Column("line", String, nullable=False, index=True),
    Column("serial", Integer, nullable=False),
)
