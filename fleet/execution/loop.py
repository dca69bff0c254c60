"""Passes, one after another, until nothing is left to do or somebody says stop.

A step that ends wakes the loop; otherwise it looks again after `interval` seconds. A pass that could not be made (the
scheduler gone, the disk full) is told to `troubled` and made again: the next pass sees the world anew.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

from fleet.errors import FleetError, NoLease
from fleet.execution.reconcile import Controller
from fleet.model.plan import Plan
from fleet.ports import Engine


def run(
    controller: Controller,
    engine: Engine,
    done: Callable[[Plan], bool],
    *,
    interval: float,
    stop: Event,
    troubled: Callable[[FleetError], None],
) -> Plan | None:
    """Make passes until `done` says so of a pass that began nothing, or `stop` is set; gives the last plan."""
    last: Plan | None = None
    while not stop.is_set():
        try:
            last = controller.one_pass()
        except NoLease:
            raise
        except FleetError as error:
            troubled(error)
            engine.wait(interval)
            continue
        if not last.steps and not engine.alive() and done(last):
            break
        engine.wait(interval)
    return last
