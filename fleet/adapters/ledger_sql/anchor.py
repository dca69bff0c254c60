"""Keeps the head of the reason trail outside the ledger, so that a ledger put back from a backup is told.

One JSON object a line (`at`, `seq`, `hash`, `token`), appended and synced at most daily and when the lease changes
hands. The line names the head that was committed before; so an anchor is never ahead of a healthy ledger.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from fleet.adapters.ledger_sql.schema import moment_text
from fleet.errors import LedgerError

_MOST_BYTES = 1 << 20
"""How much of the end of the file is read; one line is some 150 bytes."""


@dataclass(frozen=True, slots=True)
class Anchored:
    """A head of the trail as it was once."""

    seq: int
    hash: str
    day: str
    token: int = 0


def last(path: Path) -> Anchored | None:
    """The newest whole line; None where nothing was anchored yet. A line cut by a crash counts as not written."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _MOST_BYTES))
            lines = file.read().split(b"\n")[:-1]
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _refused(path, error) from error
    for line in reversed(lines):
        found = _parsed(line)
        if found is not None:
            return found
    return None


def append(path: Path, at: datetime, anchored: Anchored) -> None:
    """Adds a line and waits until it is on disk."""
    line = json.dumps(
        {"at": moment_text(at), "seq": anchored.seq, "hash": anchored.hash, "token": anchored.token}
    ).encode()
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            size = os.fstat(handle).st_size
            cut = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
            whole = (b"\n" if cut else b"") + line + b"\n"
            if os.write(handle, whole) != len(whole):
                raise OSError(28, "No space left on device")
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise _refused(path, error) from error


def doubt(found: Anchored | None, seq: int, hash_at: Callable[[int], str | None]) -> str:
    """Why this ledger may not be the newest one; empty where it holds what was anchored."""
    if found is None:
        return ""
    if seq < found.seq:
        return f"the ledger ends at entry {seq}, and entry {found.seq} was anchored on {found.day}: it is an older copy"
    if hash_at(found.seq) != found.hash:
        return f"entry {found.seq} is not the one that was anchored on {found.day}: it is another ledger"
    return ""


def _parsed(line: bytes) -> Anchored | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    match found:
        case {"at": str(at), "seq": int(seq), "hash": str(digest)}:
            return Anchored(seq, digest, at[:10], _number(found))
        case _:
            return None


def _number(found: Mapping[str, object]) -> int:
    token = found.get("token", 0)
    return token if isinstance(token, int) else 0


def _refused(path: Path, error: OSError) -> LedgerError:
    return LedgerError(
        f"{path}: the anchor of the reason trail refuses",
        error.strerror or str(error),
        "make it readable and writable, with room on its disk; nothing is recorded without it",
    )
