"""How long a rollout will take: the planner's preference played under the same slots, without faults.

A node that finds a domain full waits at that domain, and is asked again when a slot there is free; so the cost is
near n log n, not n for each node that ends.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence

from fleet.model.topology import Domain
from fleet.planning.bound import Work

_Waiting = dict[Domain, list[tuple[int, Work]]]
_Ends = list[tuple[float, int, Work]]


def play(stages: Sequence[Sequence[Work]], slots: Mapping[Domain, int]) -> tuple[float, int]:
    """Seconds until the last node is back (infinite where one never gets a slot), and the most nodes out at once."""
    now, most = 0.0, 0
    for stage in stages:
        free, ends = dict(slots), _Ends()
        waiting: _Waiting = {}
        _start(enumerate(stage), free, waiting, ends, now)
        left = len(stage)
        most = max(most, len(ends))
        while ends:
            now, _, ended = heapq.heappop(ends)
            left -= 1
            for domain in ended.domains:
                if domain in free:
                    free[domain] += 1
            for domain in ended.domains:
                while free.get(domain, 0) > 0 and waiting.get(domain):
                    _start([heapq.heappop(waiting[domain])], free, waiting, ends, now)
            most = max(most, len(ends))
        if left:
            return float("inf"), most
    return now, most


def _start(
    works: Iterable[tuple[int, Work]], free: dict[Domain, int], waiting: _Waiting, ends: _Ends, now: float
) -> None:
    for rank, work in works:
        full = next((domain for domain in work.domains if free.get(domain, 1) <= 0), None)
        if full is not None:
            heapq.heappush(waiting.setdefault(full, []), (rank, work))
            continue
        for domain in work.domains:
            if domain in free:
                free[domain] -= 1
        heapq.heappush(ends, (max(now, work.ready) + work.takes, rank, work))
