"""The language of statements: one line about a run, as a small tree.

    always: C            never: C           at T: C            finally: C         eventually: C by T
    count: VERB(SET) OP n                   order: V(a) < V(b) < ...
    C := claim {and claim} [implies claim {and claim}]      claim := [not] name(args)[.field] [OP value]

`always`, `never` and `count` take `from T`, `to T` or both: from included, to excluded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fleet.errors import Misuse
from fleet.sim.declare import seconds

OPERATORS = ("==", "!=", "<=", ">=", "<", ">", "in", "includes")
_CLAIM = re.compile(
    r"^(?P<no>not\s+)?(?P<name>[a-z_]+)\((?P<args>[^()]*)\)(?:\.(?P<field>[a-z_]+))?"
    r"(?:\s*(?P<op>==|!=|<=|>=|<|>|\bin\b|\bincludes\b)\s*(?P<value>.+))?$"
)
KINDS = ("always", "never", "at", "eventually", "finally", "count", "order")


@dataclass(frozen=True, slots=True)
class Claim:
    """`[not] name(args)[.field] [op value]`."""

    name: str
    args: tuple[str, ...]
    field: str = ""
    op: str = ""
    value: tuple[str, ...] = ()
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    """All of `then`, where all of `given` hold."""

    then: tuple[Claim, ...]
    given: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """One line of `expect`."""

    text: str
    kind: str
    condition: Condition | None = None
    chain: tuple[Claim, ...] = ()
    since: float = 0.0
    until: float = field(default=float("inf"))

    def covers(self, at: float) -> bool:
        """Whether a moment lies within `from` and `to`."""
        return self.since <= at < self.until


def parse(entry: Mapping[str, Any]) -> Statement:
    """One entry of `expect`, which has one key."""
    if len(entry) != 1:
        raise Misuse(f"the statement {dict(entry)!r}", "a statement has one key")
    key, raw = next(iter(entry.items()))
    text = f"{key}: {raw}"
    words = str(key).split()
    kind, rest = words[0], words[1:]
    if kind not in KINDS:
        raise Misuse(f"the statement {text!r}", f"{kind} is not one of {', '.join(KINDS)}")
    if kind == "at":
        return Statement(text, kind, condition(str(raw)), since=seconds(rest[0]))
    since, until = 0.0, float("inf")
    for word, value in zip(rest[::2], rest[1::2], strict=True):
        if word == "from":
            since = seconds(value)
        elif word == "to":
            until = seconds(value)
        else:
            raise Misuse(f"the statement {text!r}", f"{word} is neither `from` nor `to`")
    body = str(raw)
    if kind == "order":
        return Statement(text, kind, chain=tuple(claim(part) for part in body.split(" < ")))
    if kind == "eventually":
        body, _, limit = body.rpartition(" by ")
        until = seconds(limit)
    return Statement(text, kind, condition(body), since=since, until=until)


def condition(text: str) -> Condition:
    """`C` of the grammar."""
    left, implies, right = text.partition(" implies ")
    if implies:
        return Condition(_claims(right), _claims(left))
    return Condition(_claims(left))


def _claims(text: str) -> tuple[Claim, ...]:
    return tuple(claim(part) for part in text.split(" and "))


def claim(text: str) -> Claim:
    """One claim."""
    found = _CLAIM.match(text.strip())
    if found is None:
        raise Misuse(f"the claim {text!r}", "it is not like name(args).field == value")
    args = tuple(arg.strip() for arg in found["args"].split(",") if arg.strip())
    value = (found["value"] or "").strip()
    values = tuple(part.strip() for part in value.strip("[]").split(",")) if value else ()
    return Claim(found["name"], args, found["field"] or "", found["op"] or "", values, bool(found["no"]))
