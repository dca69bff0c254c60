"""The first ledger: work, rollouts, cases, nodes, people's words, the lease, and the reason trail with its triggers."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Makes every table of a new ledger."""
    _orders_and_steps()
    _rollouts_and_cases()
    _nodes_and_people()
    _reason_trail()
    for event in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER trail_refuses_{event.lower()} BEFORE {event} ON trail "
            "BEGIN SELECT RAISE(ABORT, 'the reason trail is append-only'); END"
        )


def _orders_and_steps() -> None:
    op.create_table(
        "orders",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("node", sa.String(), nullable=False),
        sa.Column("purpose", sa.String(), nullable=False),
        sa.Column("opened", sa.String(27), nullable=False),
        sa.Column("release", sa.String(), nullable=True),
        sa.Column("rollout", sa.String(), nullable=True),
        sa.Column("case_id", sa.String(), nullable=True),
        sa.Column("rung", sa.String(), nullable=True),
        sa.Column("canary", sa.Boolean(), server_default=sa.text("0"), nullable=False),
        sa.Column("reverting", sa.Boolean(), server_default=sa.text("0"), nullable=False),
        sa.Column("hands", sa.Boolean(), server_default=sa.text("0"), nullable=False),
        sa.Column("moved", sa.String(27), nullable=True),
        sa.Column("mark", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("waited_seconds", sa.Float(), server_default=sa.text("0"), nullable=False),
        sa.Column("approved_by", sa.String(), server_default="", nullable=False),
        sa.Column("confirmed_by", sa.String(), server_default="", nullable=False),
        sa.Column("closed", sa.String(27), nullable=True),
        sa.Column("good", sa.Boolean(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "one_open_order_per_node",
        "orders",
        ["node"],
        unique=True,
        sqlite_where=sa.text("closed IS NULL"),
        postgresql_where=sa.text("closed IS NULL"),
    )
    op.create_table(
        "steps",
        sa.Column("token", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("order_id", sa.String(), nullable=False),
        sa.Column("node", sa.String(), nullable=False),
        sa.Column("verb", sa.String(), nullable=False),
        sa.Column("began", sa.String(27), nullable=False),
        sa.Column("boot", sa.String(), server_default="", nullable=False),
        sa.Column("firmware", sa.String(), server_default="", nullable=False),
        sa.Column("ended", sa.String(27), nullable=True),
        sa.Column("result", sa.String(), nullable=False),
        sa.Column("detail", sa.String(), server_default="", nullable=False),
        sa.Column("by", sa.String(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(
            ["order_id"],
            ["orders.id"],
        ),
        sa.PrimaryKeyConstraint("token"),
    )
    op.create_index(
        "one_running_step_per_order",
        "steps",
        ["order_id"],
        unique=True,
        sqlite_where=sa.text("result = 'running'"),
        postgresql_where=sa.text("result = 'running'"),
    )
    op.create_index("steps_by_verb", "steps", ["verb", "began"], unique=False)
    op.create_index("steps_of_node", "steps", ["node", "token"], unique=False)
    op.create_index("steps_of_order", "steps", ["order_id", "token"], unique=False)
    op.create_table(
        "lease",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("holder", sa.String(), server_default="", nullable=False),
        sa.Column("until", sa.String(27), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "holders",
        sa.Column("holder", sa.String(), nullable=False),
        sa.Column("since", sa.String(27), nullable=False),
        sa.PrimaryKeyConstraint("holder"),
    )
    op.create_table(
        "counters",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("value", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )


def _rollouts_and_cases() -> None:
    op.create_table(
        "rollouts",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("pool", sa.String(), nullable=False),
        sa.Column("release", sa.String(), nullable=False),
        sa.Column("opened", sa.String(27), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("nodes", sa.Text(), server_default="[]", nullable=False),
        sa.Column("canaries", sa.Text(), server_default="[]", nullable=False),
        sa.Column("canaries_named", sa.Boolean(), server_default=sa.text("0"), nullable=False),
        sa.Column("passed", sa.Text(), server_default="[]", nullable=False),
        sa.Column("failed", sa.Text(), server_default="[]", nullable=False),
        sa.Column("by", sa.String(), server_default="", nullable=False),
        sa.Column("why", sa.String(), server_default="", nullable=False),
        sa.Column("resumed", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("plan", sa.String(), server_default="", nullable=False),
        sa.Column("changed", sa.String(27), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("rollouts_of_pool", "rollouts", ["pool", "opened"], unique=False)
    op.create_table(
        "cases",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("node", sa.String(), nullable=False),
        sa.Column("causes", sa.Text(), server_default="[]", nullable=False),
        sa.Column("severity", sa.String(), nullable=False),
        sa.Column("opened", sa.String(27), nullable=False),
        sa.Column("last_seen", sa.String(27), nullable=False),
        sa.Column("device", sa.String(), server_default="", nullable=False),
        sa.Column("evidence", sa.Text(), server_default="[]", nullable=False),
        sa.Column("closed", sa.String(27), nullable=True),
        sa.Column("overruled", sa.String(27), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "open_cases",
        "cases",
        ["node"],
        unique=False,
        sqlite_where=sa.text("closed IS NULL"),
        postgresql_where=sa.text("closed IS NULL"),
    )


def _nodes_and_people() -> None:
    op.create_table(
        "enrolments",
        sa.Column("node", sa.String(), nullable=False),
        sa.Column("serial", sa.String(), server_default="", nullable=False),
        sa.Column("host_key", sa.String(), server_default="", nullable=False),
        sa.Column("applied", sa.String(), nullable=True),
        sa.Column("served", sa.Boolean(), server_default=sa.text("0"), nullable=False),
        sa.Column("fit_since", sa.String(27), nullable=True),
        sa.Column("retired", sa.Boolean(), server_default=sa.text("0"), nullable=False),
        sa.Column("certificate", sa.String(), server_default="", nullable=False),
        sa.Column("probation_until", sa.String(27), nullable=True),
        sa.Column("probation_rung", sa.String(), server_default="", nullable=False),
        sa.Column("tries", sa.Text(), server_default="[]", nullable=False),
        sa.Column("bad_releases", sa.Text(), server_default="[]", nullable=False),
        sa.Column("released", sa.Boolean(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("node"),
    )
    op.create_index(op.f("ix_enrolments_serial"), "enrolments", ["serial"], unique=False)
    op.create_table(
        "holds",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("nodes", sa.Text(), server_default="[]", nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), server_default="", nullable=False),
        sa.Column("since", sa.String(27), nullable=False),
        sa.Column("until", sa.String(27), nullable=True),
        sa.Column("lifted", sa.String(27), nullable=True),
        sa.PrimaryKeyConstraint("seq"),
    )
    op.create_table(
        "approvals",
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("signature", sa.String(), server_default="", nullable=False),
        sa.Column("at", sa.String(27), nullable=False),
        sa.PrimaryKeyConstraint("what"),
    )
    op.create_table(
        "confirmations",
        sa.Column("node", sa.String(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("at", sa.String(27), nullable=False),
        sa.PrimaryKeyConstraint("node"),
    )
    op.create_table(
        "accepted",
        sa.Column("release", sa.String(), nullable=False),
        sa.Column("line", sa.String(), nullable=False),
        sa.Column("serial", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("release"),
    )
    op.create_index(op.f("ix_accepted_line"), "accepted", ["line"], unique=False)


def _reason_trail() -> None:
    op.create_table(
        "trail",
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.String(length=27), nullable=False),
        sa.Column("who", sa.String(), nullable=False),
        sa.Column("node", sa.String(), server_default="", nullable=False),
        sa.Column("order_id", sa.String(), server_default="", nullable=False),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("why", sa.String(), server_default="", nullable=False),
        sa.Column("detail", sa.Text(), server_default="{}", nullable=False),
        sa.Column("previous", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
    )
    op.create_index("trail_of_node", "trail", ["node", "seq"], unique=False)
    op.create_index("trail_of_order", "trail", ["order_id", "seq"], unique=False)
