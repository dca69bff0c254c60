"""A group of commands that are imported when they are called, and listed without being imported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from fleet.cli.commands import BY_NAME, COMMANDS


class LazyCommands(Mapping[str, Any]):
    """The commands of the table by name; looking one up imports it."""

    def __getitem__(self, name: str) -> Any:
        return load(BY_NAME[name].target, name)

    def __iter__(self) -> Iterator[str]:
        return iter(BY_NAME)

    def __len__(self) -> int:
        return len(BY_NAME)

    def __contains__(self, name: object) -> bool:
        return name in BY_NAME


class LazyGroup(TyperGroup):
    """The commands of the table, by section."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**{**attributes, "commands": {}})
        self.commands = LazyCommands()  # type: ignore[assignment]  # only ever read

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  # the framework's signature
        """In the table's order."""
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002  # the framework's signature
        """List them by section, from the table alone."""
        for section in dict.fromkeys(entry.section for entry in COMMANDS):
            with formatter.section(section):
                formatter.write_dl([(entry.name, entry.help) for entry in COMMANDS if entry.section == section])


def load(target: str, name: str) -> Any:
    """The command at `module:attribute`, a function or a typer app."""
    module, _, attribute = target.partition(":")
    found = getattr(import_module(module), attribute)
    if not isinstance(found, typer.Typer):
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        app.command(name)(found)
        found = app
    found._add_completion = False  # one look for all commands, whoever wrote them
    found.rich_markup_mode = None
    command = typer.main.get_command(found)
    command.name = name
    return command
