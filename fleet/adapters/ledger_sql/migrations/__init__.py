"""Alembic migrations of the ledger, oldest first. They are data of the past: never edited once shipped."""
