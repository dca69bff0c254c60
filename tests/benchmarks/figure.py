"""One measured figure, and how times are taken."""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

ENOUGH_S = 5.0


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure in `unit`; `most` is what it should not be above."""

    what: str
    value: float | None
    unit: str
    most: float | None = None
    note: str = ""

    @property
    def reached(self) -> bool | None:
        """Whether it is what we want; None where nothing was measured or wanted."""
        return None if self.value is None or self.most is None else self.value <= self.most

    @property
    def shown(self) -> str:
        """The figure as text."""
        return "-" if self.value is None else f"{self.value:.3g} {self.unit}".strip()

    @property
    def goal(self) -> str:
        """The goal as text."""
        return "" if self.most is None else f"{self.most:g} {self.unit}".strip()

    def plain(self) -> dict[str, object]:
        """For JSON."""
        return {**asdict(self), "reached": self.reached}


def best(work: Callable[[], object], runs: int = 5) -> float:
    """Seconds of the quickest run, the collector off as in any timing. What takes long is not run so often."""
    times: list[float] = []
    while len(times) < runs and sum(times) < ENOUGH_S:
        gc.collect()
        gc.disable()
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
        gc.enable()
    return min(times)


def processor(work: Callable[[], object], runs: int = 3) -> tuple[float, float]:
    """Seconds of wall clock and of processor (this process and those it waited for) of the cheapest run."""
    found = []
    for _ in range(runs):
        began, before = time.perf_counter(), _used()
        work()
        found.append((_used() - before, time.perf_counter() - began))
    cpu, wall = min(found)
    return wall, cpu


def _used() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
