"""Ladders and faults: rungs that a release, a board or a vendor's table rules out, and faults that nobody ever says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fleet import facts
from fleet.feasibility.boards import near, plain_name
from fleet.feasibility.problem import Level, Problem
from fleet.feasibility.scope import Scope, named
from fleet.lifecycle.table import LADDER
from fleet.model.ids import Verb
from fleet.model.release import Release
from fleet.model.topology import Declared
from fleet.readers.faults import is_known, known_faults

_LEAST = {"reset gpu": Verb.RESET_GPU, "reboot": Verb.REBOOT}
"""The remedies of xid.csv that are rungs; `restart app` is the job's own, the others are a person's."""


_FAULTS = "name it as `fleet health` does: xid_79, ras_uncorrectable"


def remedies(declared: Declared, scope: Scope) -> Iterator[Problem]:
    """What is wrong with the ladder of a pool, and with the faults that its policy names."""
    yield from _ladder_end(scope)
    yield from _forbidden_by_release(declared, scope)
    yield from _forbidden_by_facts(declared, scope)
    yield from _faults(scope)
    yield from _too_low(scope)


def _ladder_end(scope: Scope) -> Iterator[Problem]:
    ladder = scope.policy.ladder
    if ladder and ladder[-1] is not Verb.RMA:
        what = f"the ladder of policy {scope.policy.name} ends in {ladder[-1]} and not with a person"
        where, rule = scope.place("ladder"), "what no rung mends needs a person's hands"
        yield Problem("policy-ladder-end", Level.WARNING, where, what, "end it with rma", rule)


def _forbidden_by_release(declared: Declared, scope: Scope) -> Iterator[Problem]:
    for release in _releases(declared, scope):
        rungs = [rung for rung in scope.policy.ladder if rung in release.forbids]
        if rungs:
            what = f"the ladder of pool {scope.pool.id} has {named(rungs)}, which {release.id} forbids"
            where, fix = scope.place("ladder"), "take them off the ladder; they are passed over"
            yield Problem("policy-rung-forbidden", Level.WARNING, where, what, fix, f"the manifest of {release.id}")


def _forbidden_by_facts(declared: Declared, scope: Scope) -> Iterator[Problem]:
    """Rungs that a known fault of a release on these boards makes dangerous, and that its manifest doesn't forbid."""
    rows = {row["id"]: row for row in facts.document("rocm_matrix")["known_bad"]}
    for entry in facts.document("rungs")["forbidden"]:
        row = rows.get(entry["row"])
        if row is None:
            continue
        for release in _releases(declared, scope):
            rungs = [rung for rung in scope.policy.ladder if rung in entry["rungs"] and rung not in release.forbids]
            board = scope.pool.accelerator
            if rungs and _applies(row["when"], release, board):
                what = (
                    f"the ladder of pool {scope.pool.id} has {named(rungs)}; {board} with {release.id}: {row['effect']}"
                )
                fix = f"take it off the ladder ({row['policy']}), or move to {row['fixed_in']}"
                source = f"{row['source']} (rocm_matrix.yaml {row['id']}, confidence {row['confidence']})"
                where = scope.place("ladder")
                yield Problem("policy-rung-known-bad", Level.ERROR, where, what, fix, source)


def _releases(declared: Declared, scope: Scope) -> list[Release]:
    names = dict.fromkeys([scope.pool.release, *(node.release for node in scope.nodes if node.release)])
    return [declared.releases[name] for name in names if name in declared.releases]


def _applies(when: Mapping[str, Any], release: Release, board: str) -> bool:
    """Whether a row of `known_bad` speaks of this release on this board; what isn't known is no match."""
    for key, values in when.items():
        if key == "gpu":
            if plain_name(board) not in {plain_name(value) for value in values}:
                return False
        elif release.versions.get(key) not in values:
            return False
    return True


def _faults(scope: Scope) -> Iterator[Problem]:
    policy, hints = scope.policy, 20  # to look for what is near costs milliseconds each
    for key, words in (("first_rung", policy.first_rung), ("skip", policy.skip), ("recover", policy.recover)):
        for fault in words:
            if is_known(fault):
                continue
            what = f"{key} of policy {policy.name} names the fault {fault}, which nothing ever says"
            fix, hints = (near(fault, known_faults()) if hints else "") or _FAULTS, max(hints - 1, 0)
            rule = "faults.csv, xid.csv and amd_errors.csv of the facts"
            yield Problem("policy-fault-unknown", Level.WARNING, scope.place(key, fault), what, fix, rule)


def _too_low(scope: Scope) -> Iterator[Problem]:
    """Faults whose first rung lies below what the vendor's table asks for."""
    rows = facts.by_key("xid", "code")
    for fault, rung in scope.policy.first_rung.items():
        kind, _, code = fault.partition("_")
        row = rows.get(code) if kind == "xid" else None
        least = _LEAST.get(row["action"]) if row is not None else None
        if row is None or least is None or LADDER.index(rung) >= LADDER.index(least):
            continue
        what = (
            f"{fault} ({row['meaning']}) begins with {rung} in policy {scope.policy.name}; it takes a {row['action']}"
        )
        where = scope.place("first_rung", fault)
        yield Problem("policy-rung-low", Level.WARNING, where, what, f"begin with {least}", row["source"])
