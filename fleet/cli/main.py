"""`fleet`: the console script. Calls the command, and turns every error into three short lines and an exit code.

Exit codes: 0 done, 1 failed, 2 misuse, 3 something judged does not hold, 4 halted or nodes held, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from fleet.cli.lazy import LazyGroup
from fleet.errors import FleetError, InventoryError, Misuse

app = typer.Typer(
    cls=LazyGroup,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_USAGE: Any = typer.BadParameter.__mro__[2]  # ClickException, wherever this typer keeps it


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"fleet {version('fleet')}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Keep a fleet of accelerator nodes as it is declared: upgrade, repair, correct, retire.

    NODES is a node set everywhere: n[01-16], @pool:train, @rack:b2, @phase:awaiting_hands, - for standard input.
    Start with: fleet status
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command; gives its exit code."""
    command = typer.main.get_command(app)
    try:
        code = command.main(list(arguments) if arguments is not None else None, "fleet", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except FleetError as error:
        tell(error)
        return 2 if isinstance(error, Misuse) else 1
    except _USAGE as error:
        error.show()
        return 2
    except Exception as error:  # noqa: BLE001  # the last resort: a person gets a sentence, the file the traceback
        return _surprise(error)


def tell(error: FleetError) -> None:
    """An error on stderr: the thing, the cause, the next step, a line each."""
    print(f"error: {error.thing}", file=sys.stderr)
    if isinstance(error, InventoryError):
        for problem in error.problems:
            print(f"  {problem}", file=sys.stderr)
    elif error.cause:
        print(f"  why:  {error.cause}", file=sys.stderr)
    if error.next_step:
        print(f"  next: {error.next_step}", file=sys.stderr)


def _surprise(error: Exception) -> int:
    import traceback

    home = Path(os.environ.get("FLEET_HOME") or ".fleet")
    place = home / "last-error.txt"
    try:
        home.mkdir(parents=True, exist_ok=True)
        place.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
        where = f"the traceback is in {place}"
    except OSError as refused:
        where = f"the traceback could not be written to {place}: {refused.strerror}"
    print(f"error: fleet itself failed: {type(error).__name__}: {error}", file=sys.stderr)
    print(f"  why:  {where}", file=sys.stderr)
    print("  next: run it again (state is safe); if it fails again, report that file", file=sys.stderr)
    return 1


if __name__ == "__main__":
    main()
