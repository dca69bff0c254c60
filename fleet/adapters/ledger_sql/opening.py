"""Opens the store: looks whether the file is whole, migrates it, and says in plain words what is wrong with it.

SQLite in WAL mode with `synchronous=FULL`: a transaction that was committed survives a power cut. pysqlite's own
transaction handling is switched off; a writer begins with `BEGIN IMMEDIATE`, so that what it reads can't change
before it writes, and a reader with a plain `BEGIN`, which gives it one snapshot.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from fleet.adapters.ledger_sql.schema import HEAD
from fleet.errors import LedgerError

_BUSY_SECONDS = 15.0
_WRITES = "fleet_writes"
_HEADER_BYTES = 100


def connect(path: Path, *, read_only: bool = False) -> Engine:
    """An engine on a checked ledger of the present version; creates or migrates it unless it is opened `read_only`."""
    _look_at_file(path, read_only=read_only)
    engine = _engine(path, read_only=read_only)
    try:
        with told(path):
            found = _revision(engine)
            if found != HEAD and read_only:
                raise _wrong_version(path, found, "run any changing command as the owner of the ledger first")
            if found != HEAD:
                _migrate(engine, path)
    except BaseException:
        engine.dispose()
        raise
    return engine


@contextmanager
def reading(engine: Engine, path: Path) -> Iterator[Connection]:
    """One snapshot of the ledger."""
    with told(path), engine.connect() as connection, connection.begin():
        yield connection


@contextmanager
def writing(engine: Engine, path: Path) -> Iterator[Connection]:
    """One durable transaction: all of it is on disk when this returns, or nothing of it ever was."""
    with told(path), engine.connect() as raw:
        connection = raw.execution_options(**{_WRITES: True})
        with connection.begin():
            yield connection


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turns what SQLite says into a LedgerError that names the next step."""
    try:
        yield
    except DBAPIError as error:
        raise _explained(path, error.orig or error) from error
    except sqlite3.Error as error:
        raise _explained(path, error) from error


def _engine(path: Path, *, read_only: bool) -> Engine:
    mode = "ro" if read_only else "rwc"
    # `%` and `?` mean something in a URI; the path is data
    name = str(path.absolute()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    engine = create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect(
            f"file:{name}?mode={mode}",
            uri=True,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        ),
        poolclass=QueuePool,
        pool_size=4,
        max_overflow=-1,
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: Any) -> None:  # noqa: ARG001
        cursor = connection.cursor()
        try:
            if not read_only:
                cursor.execute("PRAGMA journal_mode=WAL")
            cursor.execute("PRAGMA synchronous=FULL")
            cursor.execute("PRAGMA foreign_keys=ON")
            cursor.execute("PRAGMA recursive_triggers=ON")  # else INSERT OR REPLACE passes the trail's triggers by
        finally:
            cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(_WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _look_at_file(path: Path, *, read_only: bool) -> None:
    """Refuses what SQLite itself would take for something else: a missing file, a cut one, a file of another kind."""
    if not path.exists():
        if read_only:
            raise LedgerError(f"{path}: there is no ledger", "nothing was recorded here yet", "run `pulumi up` first")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LedgerError(
                f"{path}: the ledger can't be made", error.strerror or "", f"make {path.parent} writable"
            ) from error
        return
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
        size = path.stat().st_size
    except OSError as error:
        raise LedgerError(
            f"{path}: the ledger can't be read", error.strerror or "", f"check who may read it: ls -l {path}"
        ) from error
    if not header:
        return  # made by a process that died before its first write; an anchor tells a ledger that was emptied
    if len(header) < _HEADER_BYTES or not header.startswith(b"SQLite format 3\x00"):
        raise LedgerError(f"{path}: this is no ledger", "not a SQLite database, or cut short", _RESTORE)
    page = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    wal = path.with_name(path.name + "-wal")
    if not (wal.exists() and wal.stat().st_size) and size < pages * (65536 if page == 1 else page):
        raise LedgerError(
            f"{path}: the ledger was cut short",
            f"{size} bytes of {pages * page}",
            _RESTORE,
        )


def _revision(engine: Engine) -> str:
    with engine.connect() as connection, connection.begin():
        return _revision_on(connection)


def _revision_on(connection: Connection) -> str:
    table = "SELECT 1 FROM sqlite_master WHERE type='table' AND name='alembic_version'"
    if connection.exec_driver_sql(table).first() is None:
        return ""
    row = connection.exec_driver_sql("SELECT version_num FROM alembic_version").first()
    return str(row[0]) if row else ""


def _migrate(engine: Engine, path: Path) -> None:
    """Brings the schema up to date in one transaction; of two processes that open at once, one does it."""
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    with engine.connect() as raw:
        connection = raw.execution_options(**{_WRITES: True})
        with connection.begin():
            found = _revision_on(connection)
            if found and found not in known:
                raise _wrong_version(path, found, "run the newer fleet, or restore the ledger from before it")
            if found != HEAD:
                config.attributes["connection"] = connection
                command.upgrade(config, HEAD)


def _wrong_version(path: Path, found: str, next_step: str) -> LedgerError:
    known = f"this fleet knows revision {HEAD}, the ledger has {found or 'none'}"
    return LedgerError(f"{path}: the ledger is of another version", known, next_step)


_RESTORE = "keep the file, restore the ledger from its backup, then run `fleet trail verify`"

_CAUSES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("SQLITE_FULL",), "the disk is full", "free space on its file system; what was committed before is safe"),
    (("SQLITE_READONLY",), "it can't be written", "make the file and its directory writable for this account"),
    (("SQLITE_CANTOPEN",), "it can't be opened", "check that its directory exists and is writable for this account"),
    (("SQLITE_CORRUPT", "SQLITE_NOTADB"), "the file is damaged", _RESTORE),
    (("SQLITE_BUSY", "SQLITE_LOCKED"), "another process holds it", "wait, or end the other fleet process"),
    (("SQLITE_CONSTRAINT_TRIGGER",), "the reason trail is append-only", "nothing was changed"),
    (("SQLITE_CONSTRAINT",), "the change contradicts what is recorded", "nothing was changed; run the command again"),
    (("SQLITE_IOERR",), "the disk fails", "look at the kernel log of this machine, then run `fleet trail verify`"),
)


def _explained(path: Path, error: BaseException) -> LedgerError:
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith("SQLITE_IOERR") and _no_space(path):
        name = "SQLITE_FULL"  # the shared-memory file could not grow
    for prefixes, cause, next_step in _CAUSES:
        if name.startswith(prefixes):
            return LedgerError(f"{path}: the ledger refuses", f"{cause} ({error})", next_step)
    return LedgerError(f"{path}: the ledger refuses", f"{error}", "run `fleet trail verify`")


def _no_space(path: Path) -> bool:
    try:
        space = os.statvfs(path.parent)
    except OSError:
        return False
    return space.f_bavail * space.f_frsize < 65536
