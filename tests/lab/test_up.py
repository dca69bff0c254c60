"""What stops `fleet lab up` before it begins, and what it does about the remains of other labs."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.errors import Misuse
from fleet.lab import bmc_process, commands, containers, limits
from fleet.lab import up as making
from fleet.lab.containers import Seen
from fleet.lab.home import Home, LabState


def seen(name: str, home: str, *, running: bool) -> dict[str, Seen]:
    return {name: Seen(name, running, False, not running, 1 if running else 0, "then", home)}


def test_a_running_lab_of_another_checkout_is_in_the_way(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="belongs to /elsewhere"):
        making._check_other_labs(Home(tmp_path), seen("fleet-lab-n01", "/elsewhere", running=True), print)


def test_the_remains_of_a_lab_are_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    removed: list[str] = []
    monkeypatch.setattr(containers, "remove", removed.extend)
    there = seen("fleet-lab-n01", "/elsewhere", running=False)
    making._check_other_labs(Home(tmp_path), there, lambda text: None)
    assert (removed, there) == (["fleet-lab-n01"], {})


def test_a_machine_without_the_tools_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making.os, "geteuid", lambda: 0)
    monkeypatch.setattr(commands.shutil, "which", lambda *args, **kwargs: None)
    with pytest.raises(Misuse) as told:
        making._check_machine()
    assert "apt-get install podman" in told.value.next_step


def test_without_root_there_is_no_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making.os, "geteuid", lambda: 1000)
    with pytest.raises(Misuse, match="needs root"):
        making._check_machine()


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    home = Home(tmp_path / ".fleet" / "lab")
    with making._alone(home), pytest.raises(Misuse, match="at work"), making._alone(home):
        pass


def test_the_state_is_read_as_it_was_written(tmp_path: Path) -> None:
    home = Home(tmp_path / "lab")
    assert LabState.read(home) is None
    LabState(30, "image", 1.5, 128).write(home)
    assert LabState.read(home) == LabState(30, "image", 1.5, 128)


def test_the_limit_is_raised_only_where_a_lab_would_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "limit"
    limit.write_text("128\n")
    monkeypatch.setattr(limits, "LIMIT", limit)
    assert limits.make_room(6) is None
    assert limits.make_room(30) == 128
    assert int(limit.read_text()) == limits.wanted(30)
    assert limits.set_back(128)
    assert limit.read_text() == "128\n"


def test_no_emulator_runs_for_a_home_that_never_was(tmp_path: Path) -> None:
    assert bmc_process.running(Home(tmp_path)) is None
    assert not bmc_process.stop(Home(tmp_path))
