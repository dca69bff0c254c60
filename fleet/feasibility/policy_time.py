"""Windows: what takes longer than it may. Times of verbs are the expected ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from fleet.feasibility.problem import Level, Problem
from fleet.feasibility.scope import Scope, spoken
from fleet.lifecycle.table import EXPECTED_SECONDS
from fleet.model.ids import Verb
from fleet.model.topology import Declared

_SOURCE = "expected durations of verbs (lifecycle/table.py)"


@dataclass(frozen=True, slots=True)
class _Way:
    """What a node goes through once it is empty, in seconds, part by part."""

    parts: tuple[tuple[str, float], ...]

    @property
    def seconds(self) -> float:
        return sum(seconds for _, seconds in self.parts)

    def __str__(self) -> str:
        return " + ".join(f"{name} {spoken(seconds)}" for name, seconds in self.parts)

    def then(self, name: str, time: timedelta | None) -> _Way:
        """The way with one more part, where it takes any time."""
        return _Way((*self.parts, (name, time.total_seconds()))) if time else self


def times(declared: Declared, scope: Scope) -> Iterator[Problem]:
    """Windows shorter than the work in them."""
    way = _way(declared, scope)
    if way is not None:
        yield from _windows(scope, way)


def _way(declared: Declared, scope: Scope) -> _Way | None:
    """The way of one node to the pool's release; None where that isn't declared."""
    release = declared.releases.get(scope.pool.release)
    if release is None:
        return None
    verbs = [*([Verb.CONVERGE] if release.packages else []), *release.needs, Verb.VERIFY]
    found = _Way(tuple((verb.value, EXPECTED_SECONDS.get(verb, 0.0)) for verb in verbs))
    return found.then("load test", scope.policy.verify.load)


def _windows(scope: Scope, way: _Way) -> Iterator[Problem]:
    policy, most = scope.policy, max(scope.most_out(), 1)
    soaked = way.then("soak", policy.soak) if policy.canary else way
    drained = _Way(()).then("drain", policy.drain.deadline)
    for index, window in enumerate(policy.windows):
        length = (window.closes - window.opens).total_seconds()
        where = scope.place("windows", str(index))
        if soaked.seconds > length:
            who, takes = f"a {'canary' if policy.canary else 'node'} of pool {scope.pool.id}", spoken(soaked.seconds)
            what = f"the window is {spoken(length)} long, and {who} takes {takes} once it is empty"
            counted = f"{soaked} = {spoken(soaked.seconds)} > {spoken(length)}"
            fix = f"make it {spoken(soaked.seconds)} or longer" + (", or soak for less" if soaked is not way else "")
            yield Problem("policy-window-short", Level.ERROR, where, what, fix, _SOURCE, counted)
            continue
        for name, count, one in _waves(policy.canary, policy.wave_sizes, len(scope.nodes), way, soaked):
            turns = -(-count // most)
            whole = _Way((*drained.parts, *one.parts))
            if turns * whole.seconds > length:
                yield _wave_too_long(scope, where, length, name, turns, whole)
                break


def _waves(canaries: int, sizes: Sequence[int], nodes: int, way: _Way, soaked: _Way) -> Iterator[tuple[str, int, _Way]]:
    if canaries:
        yield "the canaries", min(canaries, nodes), soaked
    for size in sizes:
        if 0 < size <= nodes:
            yield f"a wave of {size}", size, way
    if not canaries and not sizes:
        yield "a node", 1, way


def _wave_too_long(scope: Scope, where: str, length: float, name: str, turns: int, whole: _Way) -> Problem:
    takes = turns * whole.seconds
    what = (
        f"the window is {spoken(length)} long, and {name} of pool {scope.pool.id} may take {spoken(takes)}, where work "
        f"runs to the end of its drain"
    )
    each = f"{turns} x ({whole})" if turns > 1 else str(whole)
    counted = f"{each} = {spoken(takes)} > {spoken(length)}"
    fix = f"make it {spoken(takes)} or longer, shorten the drain, or take smaller waves"
    return Problem("policy-window-wave", Level.WARNING, where, what, fix, _SOURCE, counted)
