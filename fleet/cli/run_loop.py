"""`fleet run`: the loop as a service. One line per change on stderr; ends gracefully when asked to."""

from __future__ import annotations

from typing import Annotated

import typer

from fleet.cli.options import Inventory


def run(
    once: Annotated[bool, typer.Option("--once", help="One pass, and the steps that it begins.")] = False,
    inventory: Inventory = None,
) -> None:
    """Make passes for ever: observe, decide, act. A second controller follows until the first goes silent.

    \b
    fleet run
    fleet run --once

    Asked to end (SIGTERM, Ctrl-C) it begins nothing more and lets what runs end; asked twice it leaves at once.
    """
    from fleet import app
    from fleet.cli.live import Progress
    from fleet.cli.passes import make_passes

    with app.open_fleet(inventory) as fleet:
        view = Progress(fleet.clock, lambda: tuple(fleet.declared().nodes), fleet.settings.patience, "", plain=True)
        if once:
            controller = fleet.controller(view)
            view.seen = lambda: controller.seen
            controller.one_pass()
            while fleet.engine.alive():
                fleet.engine.wait(1.0)
            fleet.store.give(fleet.holder)
            return
        try:
            make_passes(fleet, view, lambda *_: False)
        except KeyboardInterrupt:
            fleet.engine.stop()
            raise
        finally:
            view.close()
