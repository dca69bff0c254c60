"""The console script: quick help, exit codes, and errors of three short lines without a traceback."""

from __future__ import annotations

import pytest

from fleet import app
from fleet.cli import main
from fleet.cli.commands import COMMANDS
from fleet.errors import Unavailable
from tests.cli.conftest import Desk


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["--help"]) == 0
    text = capsys.readouterr().out
    for entry in COMMANDS:
        assert f"\n  {entry.name} " in text


@pytest.mark.parametrize("name", [entry.name for entry in COMMANDS])
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run([name, "--help"]) == 0
    assert "Usage: fleet" in capsys.readouterr().out


def test_misuse_is_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["no-such-command"]) == 2
    assert main.run(["upgrade"]) == 2


def test_an_error_is_thing_cause_and_next_step(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise Unavailable("the scheduler", "no answer", "start slurmctld")

    monkeypatch.setattr(app, "open_fleet", refuse)
    assert desk.type("status") == 1
    assert desk.err.splitlines() == [
        "error: the scheduler",
        "  why:  no answer",
        "  next: start slurmctld",
    ]


def test_a_surprise_leaves_its_traceback_in_a_file(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr(app, "open_fleet", broken)
    assert desk.type("status") == 1
    assert "Traceback" not in desk.err
    assert "last-error.txt" in desk.err
    assert "ZeroDivisionError" in (desk.home / "last-error.txt").read_text()
