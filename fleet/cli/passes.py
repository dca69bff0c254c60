"""Makes passes until something is over, or follows another controller that does. Interrupting it is safe.

The first interrupt lets what runs end and begins nothing; the second leaves at once: what runs then is found by
looking, next time.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, current_thread, main_thread
from types import FrameType

from fleet.app import Fleet
from fleet.cli.live import Progress
from fleet.errors import FleetError, NoLease
from fleet.execution.loop import run
from fleet.model.observation import Observed
from fleet.model.plan import Plan

Over = Callable[[Plan, Observed], bool]


def make_passes(fleet: Fleet, view: Progress, over: Over) -> bool:
    """Until `over` says so of a pass that began nothing. False where a person interrupted it."""
    controller = fleet.controller(view)
    view.seen = lambda: controller.seen

    def done(plan: Plan) -> bool:
        return controller.seen is not None and over(plan, controller.seen[1])

    with _interruptible(view) as stop:
        while not stop.is_set():
            try:
                run(controller, fleet.engine, done, interval=fleet.settings.interval, stop=stop, troubled=view.troubled)
                break
            except NoLease as error:
                if fleet.store.holder() == fleet.holder:
                    continue  # a pass took so long that the lease ran out; nobody else has it
                if fleet.bury_the_dead():
                    view.note("the controller that held the lease is dead; going on in its place")
                    continue
                view.note(f"{error.cause or error.thing}; following it")
                if _follow(fleet, view, over, stop):
                    break
        if stop.is_set():
            _let_end(fleet)
        fleet.store.give(fleet.holder)
        return not stop.is_set()


def _follow(fleet: Fleet, view: Progress, over: Over, stop: Event) -> bool:
    """Watch what another controller does; True once it is over, False once the lease may be free."""
    controller = fleet.controller(view)
    while not stop.is_set():
        try:
            declared, observed, plan = controller.decide()
        except FleetError as error:
            view.troubled(error)
        else:
            view.seen = lambda both=(declared, observed): both  # type: ignore[misc]  # bound now, on purpose
            view.planned(plan)
            if over(plan, observed):
                return True
            if fleet.store.take(fleet.holder, fleet.clock.now(), 1.0):
                return False
        stop.wait(fleet.settings.interval)
    return False


def _let_end(fleet: Fleet) -> None:
    """Until no step runs any more; its end is recorded as always."""
    while fleet.engine.alive():
        fleet.engine.wait(1.0)


@contextmanager
def _interruptible(view: Progress) -> Iterator[Event]:
    stop = Event()
    if current_thread() is not main_thread():
        yield stop
        return

    def asked(number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        view.note("interrupted: nothing new begins, what runs may end; once more to leave at once")
        if number == signal.SIGTERM:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    before = {number: signal.signal(number, asked) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
