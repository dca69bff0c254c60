"""`fleet lab`: the small real fleet on this machine; parse, call fleet.lab, print."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from fleet.errors import FleetError, Misuse
from fleet.lab.home import Home

app = typer.Typer(
    no_args_is_help=True,
    help="A small real fleet on this machine: containers as nodes, a Redfish emulator as BMCs, Slurm.",
)


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")


@app.command()
def up(
    nodes: Annotated[int, typer.Option(help="How many nodes, two thirds AMD and one third NVIDIA.")] = 6,
    boot_seconds: Annotated[float, typer.Option(help="How long a node's power-on self test takes.")] = 3.0,
) -> None:
    """Bring the lab up, or mend what is missing of it.

    Example: fleet lab up --nodes 30
    """
    from fleet.lab.up import up as bring_up

    bring_up(Home.here(), nodes=nodes, boot_seconds=boot_seconds, say=_say)
    _say("the lab is up; its inventory is in .fleet/lab/inventory")


@app.command()
def down() -> None:
    """Take all of the lab away: containers, network, processes, files. The cached image stays.

    Example: fleet lab down
    """
    from fleet.lab.up import down as take_down

    gone = take_down(Home.here(), _say)
    for thing in gone:
        typer.echo(f"removed {thing}")
    if not gone:
        _say("there was no lab")


@app.command()
def status(as_json: Annotated[bool, typer.Option("--json", help="A stable shape for programs.")] = False) -> None:
    """What of the lab is there, and which faults are on it.

    Example: fleet lab status --json
    """
    from fleet.lab.status import as_table, look

    seen = look(Home.here())
    typer.echo(json.dumps(seen, indent=2) if as_json else as_table(seen))


@app.command("break", context_settings={"ignore_unknown_options": False})
def break_(
    node: Annotated[str, typer.Argument(help="A node, or `controller`; `list` shows all faults.")] = "list",
    fault: Annotated[str, typer.Argument(help="KIND or KIND=VALUE.")] = "list",
    args: Annotated[list[str] | None, typer.Argument(help="More for some faults, such as the GPU.")] = None,
    off: Annotated[bool, typer.Option("--off", help="Take the fault away again.")] = False,
    persistent: Annotated[bool, typer.Option(help="Not cured by a reset or a reboot.")] = False,
) -> None:
    """Put a fault on a node, its BMC, its repository or the scheduler.

    Examples: fleet lab break n05 lost 3; fleet lab break n02 bmc=500; fleet lab break n02 bmc --off
    """
    from fleet.lab.faults import FAULTS, Order, apply

    if "list" in (node, fault):
        for kind, row in FAULTS.items():
            typer.echo(f"{kind:<12} {row.help}")
        return
    kind, _, value = fault.partition("=")
    words = tuple([value] if value else []) + tuple(args or ())
    _say(apply(Home.here(), Order(node, kind, words, off=off, persistent=persistent)))


@app.command()
def image(remove: Annotated[bool, typer.Option(help="Take image and cache away instead.")] = False) -> None:
    """Build the node image into the cache, and nothing else.

    Example: fleet lab image
    """
    from fleet.lab import image as node_image

    if remove:
        for thing in node_image.remove():
            typer.echo(f"removed {thing}")
        return
    typer.echo(node_image.ensure(_say))


def main() -> int:
    """The lab's commands by themselves: `python -m fleet.cli.lab`."""
    try:
        app(standalone_mode=False)
    except typer.Exit as done:
        return done.exit_code
    except FleetError as problem:
        for line in (problem.thing, problem.cause, problem.next_step):
            if line:
                _say(line)
        return 2 if isinstance(problem, Misuse) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
