"""What will happen and when: the only clock of a simulated fleet. Time is seconds since the start, in true time."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

EPOCH = datetime(2026, 1, 5, tzinfo=UTC)
"""The moment that second 0 of every run stands for (a Monday)."""


def moment(seconds: float) -> datetime:
    """The true time of day at `seconds` since the start."""
    return EPOCH + timedelta(seconds=seconds)


class Agenda:
    """A queue of things to do at a time. Things at one time are done in the order in which they were put in."""

    def __init__(self) -> None:
        self.now = 0.0
        self._entries: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()

    def at(self, when: float, what: Callable[[], None]) -> None:
        """Put `what` in for `when`; a time that is past means now."""
        heapq.heappush(self._entries, (max(when, self.now), next(self._order), what))

    def after(self, seconds: float, what: Callable[[], None]) -> None:
        """Put `what` in for `seconds` from now."""
        self.at(self.now + seconds, what)

    @property
    def next(self) -> float | None:
        """When the next thing happens; None when nothing is left."""
        return self._entries[0][0] if self._entries else None

    def advance(self) -> bool:
        """Go to the next moment and do all that is due then. False when nothing is left."""
        if not self._entries:
            return False
        self.now = self._entries[0][0]
        while self._entries and self._entries[0][0] <= self.now:
            heapq.heappop(self._entries)[2]()
        return True
