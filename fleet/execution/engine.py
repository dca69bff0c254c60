"""The embedded engine: carries batches out in threads of this process.

Theory: `start` returns at once; each batch has a thread; each step's end is reported as it is known. What dies with
the process is found by the next pass looking at the nodes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from fleet.execution.apply import Hands, batches, carry_out
from fleet.model.ids import OrderId, Verb
from fleet.model.order import Lost, Outcome
from fleet.model.plan import Step
from fleet.model.topology import Declared


class LocalEngine:
    """Port Engine with threads. `workers` bounds the batches that run side by side."""

    def __init__(self, hands: Hands, declared: Callable[[], Declared], workers: int = 16) -> None:
        self._hands = hands
        self._declared = declared
        self._pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="step")
        self._alive: set[OrderId] = set()
        self._changed = threading.Condition()
        self._ended = False

    def start(self, steps: Sequence[tuple[Step, int]], ended: Callable[[Step, int, Outcome], None]) -> None:
        """Begin steps; `ended` is called once for each, from a thread of the engine."""
        declared = self._declared()
        with self._changed:
            self._alive.update(step.order for step, _ in steps)
        for (verb, _), batch in batches(steps).items():
            future = self._pool.submit(carry_out, self._hands, declared, verb, batch, self._reporter(ended))
            future.add_done_callback(self._settler(batch, ended))

    def _reporter(self, ended: Callable[[Step, int, Outcome], None]) -> Callable[[Step, int, Outcome], None]:
        def report(step: Step, token: int, outcome: Outcome) -> None:
            try:
                ended(step, token, outcome)
            finally:
                self._settle(step.order)

        return report

    def _settler(
        self, batch: Sequence[tuple[Step, int]], ended: Callable[[Step, int, Outcome], None]
    ) -> Callable[[Future[None]], None]:
        """A batch that broke down leaves no step without an end: what it didn't report is lost, with the cause."""

        def settle(future: Future[None]) -> None:
            error = future.exception()
            for step, token in batch:
                if step.order in self._alive:
                    cause = f"{type(error).__name__}: {error}" if error else f"{Verb(step.verb)} gave no result"
                    self._reporter(ended)(step, token, Lost(cause))

        return settle

    def _settle(self, order: OrderId) -> None:
        with self._changed:
            self._alive.discard(order)
            self._ended = True
            self._changed.notify_all()

    def alive(self) -> frozenset[OrderId]:
        """Orders with a step that is being carried out now."""
        with self._changed:
            return frozenset(self._alive)

    def wait(self, seconds: float) -> bool:
        """Until a step ends (True) or the time is up (False)."""
        with self._changed:
            if not self._ended:
                self._changed.wait(seconds)
            ended, self._ended = self._ended, False
            return ended

    def stop(self) -> None:
        """End what runs: remote work is cancelled, threads are joined."""
        self._hands.configure.cancel()
        self._pool.shutdown(wait=True, cancel_futures=True)
