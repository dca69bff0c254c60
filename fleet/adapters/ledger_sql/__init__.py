"""The ledger in SQL: orders, steps, rollouts, cases, enrolments, people's words, the lease and the reason trail.

Here: everything that imports SQLAlchemy and Alembic. Not here: any judgement about nodes; what is written comes as
`Change`, and what is read goes out as `Records`. One reason: a step that isn't durable before it begins can't be
trusted after a crash, and that promise is kept in one place.

`opening` opens, checks and migrates; `store` is the object that implements the ports; `changes`, `steps`, `people`
and `trail` are functions over one open transaction; `anchor` keeps the head of the trail outside the ledger.
"""

from fleet.adapters.ledger_sql.store import SqlLedger, open_ledger

__all__ = ["SqlLedger", "open_ledger"]
