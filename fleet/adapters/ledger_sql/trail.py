"""The reason trail: appends to it, reads it, and checks its chain.

Each entry's hash is the SHA-256 of the hash before it and of the entry as canonical JSON (keys sorted, no spaces,
UTF-8). Triggers of the database refuse UPDATE and DELETE; whoever goes round them breaks the chain.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select

from fleet.adapters.ledger_sql.schema import moment, moment_text, trail
from fleet.model.trail import TrailEntry, TrailVerdict

GENESIS = "0" * 64
"""What stands for the hash before the first entry."""

HASHED = ("seq", "at", "who", "node", "order", "what", "why", "detail")


@dataclass(frozen=True, slots=True)
class Said:
    """What is to be recorded; place, moment and hash come when it is appended."""

    what: str
    node: str = ""
    order: str = ""
    why: str = ""
    detail: Mapping[str, object] = field(default_factory=dict)


def canonical(entry: Mapping[str, object]) -> bytes:
    """The bytes that are hashed and signed."""
    return json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode(errors="replace")


def chained(previous: str, entry: Mapping[str, object]) -> str:
    """The hash of an entry that follows `previous`."""
    return hashlib.sha256(previous.encode() + b"\n" + canonical(entry)).hexdigest()


_HEAD = select(trail.c.seq, trail.c.hash, trail.c.at).order_by(trail.c.seq.desc()).limit(1)
_APPEND = insert(trail)


def head(connection: Connection) -> tuple[int, str]:
    """Place and hash of the last entry; (0, GENESIS) for an empty trail."""
    row = connection.execute(_HEAD).first()
    return (row.seq, row.hash) if row else (0, GENESIS)


def last_moment(connection: Connection) -> datetime | None:
    """When the last entry was written."""
    row = connection.execute(_HEAD).first()
    return moment(row.at) if row else None


def append(connection: Connection, said: Iterable[Said], *, who: str, at: datetime) -> None:
    """Adds entries behind the head, in order. The caller's transaction is a writing one."""
    seq, previous = head(connection)
    rows: list[dict[str, Any]] = []
    for one in said:
        seq += 1
        detail = json.loads(json.dumps(one.detail, sort_keys=True, default=str))
        entry = {
            "seq": seq,
            "at": moment_text(at),
            "who": _clean(who),
            "node": _clean(one.node),
            "order": _clean(one.order),
            "what": one.what,
            "why": _clean(one.why),
            "detail": detail,
        }
        found = chained(previous, entry)
        row: dict[str, Any] = {**entry, "detail": _clean(canonical(detail).decode())}
        row["order_id"] = row.pop("order")
        rows.append({**row, "previous": previous, "hash": found})
        previous = found
    if rows:
        connection.execute(_APPEND, rows)


def _clean(text: str) -> str:
    """Text that UTF-8 can hold: lone surrogates, as undecodable bytes of a tool become, turn into `?`."""
    return text.encode(errors="replace").decode()


def entries(
    connection: Connection,
    *,
    node: str = "",
    order: str = "",
    since: datetime | None = None,
    limit: int | None = None,
) -> tuple[TrailEntry, ...]:
    """The newest entries that fit, oldest of them first."""
    query = select(trail).order_by(trail.c.seq.desc())
    if node:
        query = query.where(trail.c.node == node)
    if order:
        query = query.where(trail.c.order_id == order)
    if since is not None:
        query = query.where(trail.c.at >= moment_text(since))
    if limit is not None:
        query = query.limit(limit)
    return tuple(_entry(row) for row in reversed(connection.execute(query).all()))


def exported(connection: Connection) -> Iterator[dict[str, object]]:
    """Every entry as the keys and values that are hashed, with `previous` and `hash`."""
    rows = connection.execution_options(yield_per=1000).execute(select(trail).order_by(trail.c.seq))
    for row in rows:
        yield _as_mapping(row)


def hash_at(connection: Connection, seq: int) -> str | None:
    """The hash of one entry, or None where there is no such entry."""
    if seq == 0:
        return GENESIS
    found = connection.execute(select(trail.c.hash).where(trail.c.seq == seq)).scalar()
    return None if found is None else str(found)


def verdict(found: Iterable[Mapping[str, object]]) -> TrailVerdict:
    """Follows the chain from its beginning and names the first entry that doesn't hold."""
    count, previous = 0, GENESIS
    for entry in found:
        expected = count + 1
        why = _fault(entry, expected, previous)
        if why:
            return TrailVerdict(count, previous, expected, why)
        count, previous = expected, str(entry["hash"])
    return TrailVerdict(count, previous)


def _fault(entry: Mapping[str, object], expected: int, previous: str) -> str:
    if entry.get("seq") != expected:
        return f"entry {expected} is missing; entry {entry.get('seq')} stands in its place"
    missing = [key for key in (*HASHED, "previous", "hash") if key not in entry]
    if missing:
        return f"entry {expected} has no {', '.join(missing)}"
    if entry["previous"] != previous:
        return f"entry {expected} does not follow the entry before it"
    if entry["hash"] != chained(previous, {key: entry[key] for key in HASHED}):
        return f"entry {expected} was altered"
    return ""


def _as_mapping(row: Any) -> dict[str, object]:
    try:
        detail: object = json.loads(row.detail)
    except ValueError:
        detail = row.detail  # altered: the hash will say so
    return {
        "seq": row.seq,
        "at": row.at,
        "who": row.who,
        "node": row.node,
        "order": row.order_id,
        "what": row.what,
        "why": row.why,
        "detail": detail,
        "previous": row.previous,
        "hash": row.hash,
    }


def _entry(row: Any) -> TrailEntry:
    found = _as_mapping(row)
    detail = found["detail"]
    return TrailEntry(
        seq=row.seq,
        at=moment(row.at),
        who=row.who,
        node=row.node,
        order=row.order_id,
        what=row.what,
        why=row.why,
        detail=detail if isinstance(detail, dict) else {"altered": detail},
        hash=row.hash,
        previous=row.previous,
    )


def as_json(found: Sequence[TrailEntry]) -> list[dict[str, object]]:
    """Entries as `fleet trail --json` prints them."""
    return [
        {
            "seq": entry.seq,
            "at": moment_text(entry.at),
            "who": entry.who,
            "node": entry.node,
            "order": entry.order,
            "what": entry.what,
            "why": entry.why,
            "detail": dict(entry.detail),
            "previous": entry.previous,
            "hash": entry.hash,
        }
        for entry in found
    ]
