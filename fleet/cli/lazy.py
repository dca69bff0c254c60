"""A group of commands that are imported when they are called, and listed without being imported."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from fleet.cli.commands import BY_NAME, COMMANDS


class LazyGroup(TyperGroup):
    """The commands of the table, by section."""

    def list_commands(self, ctx: Any) -> list[str]:
        """In the table's order."""
        return [entry.name for entry in COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import the command's module, and give its command."""
        entry = BY_NAME.get(cmd_name)
        return load(entry.target, entry.name) if entry is not None else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List them by section, from the table alone."""
        for section in dict.fromkeys(entry.section for entry in COMMANDS):
            with formatter.section(section):
                formatter.write_dl([(entry.name, entry.help) for entry in COMMANDS if entry.section == section])


def load(target: str, name: str) -> Any:
    """The command at `module:attribute`."""
    module, _, attribute = target.partition(":")
    found = getattr(import_module(module), attribute)
    if not isinstance(found, typer.Typer):
        app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        app.command(name)(found)
        found = app
    found._add_completion = False  # one look for all commands, whoever wrote them
    found.rich_markup_mode = None
    command = typer.main.get_command(found)
    command.name = name
    return command
