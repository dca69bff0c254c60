"""`fleet simulate`: what it prints and how it exits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fleet.cli import main

ROOT = Path(__file__).parents[2]
SCENARIO = ROOT / "tests" / "cases" / "decisions" / "01-human-cordon-survives-success.yaml"
ROLL = ("simulate", "--inventory", str(ROOT / "inventory" / "lab"), "--pool", "train", "--to", "amd-2026.2")


def typed(capture: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    code = main.run(list(words))
    out, err = capture.readouterr()
    return code, out, err


def test_a_scenario_that_holds(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = typed(capsys, "simulate", str(SCENARIO))
    assert code == 0
    assert out.startswith("holds")


def test_a_statement_that_does_not_hold_is_printed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    changed = tmp_path / "wrong.yaml"
    changed.write_text(SCENARIO.read_text().replace("- never: uncordon(n03)", "- never: uncordon(n01)"))
    code, out, _ = typed(capsys, "simulate", str(changed))
    assert code == 3
    assert "never: uncordon(n01)" in out
    assert "uncordon n01" in out


def test_json_names_what_is_broken(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = typed(capsys, "simulate", str(SCENARIO), "--json")
    found = json.loads(out)
    assert (code, found["schema"], found["scenarios"][0]["holds"]) == (0, 1, True)


def test_a_roll_of_an_inventory(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = typed(capsys, *ROLL, "--crash")
    assert code == 0
    assert "done" in out
    assert "the controller died" in out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("simulate",), "it wants scenario files, or an inventory"),
        (("simulate", "nowhere.yaml"), "no such file"),
        ((*ROLL[:3], "--pool", "nothing", "--to", "amd-2026.2"), "no such pool"),
        ((*ROLL[:5], "--to", "nothing"), "no such release"),
    ],
)
def test_what_is_asked_wrongly(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], says: str) -> None:
    code, _, err = typed(capsys, *words)
    assert code == 2
    assert says in err


@pytest.mark.parametrize("content", [b"a: b: c", b"\xff\xfe\x00", b"- 1\n"])
def test_a_file_that_is_no_scenario_is_said_and_no_fault_of_ours(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: bytes
) -> None:
    strange = tmp_path / "strange.yaml"
    strange.write_bytes(content)
    code, out, err = typed(capsys, "simulate", str(strange))
    assert code == 3
    assert "strange.yaml" in out + err
    assert "itself failed" not in out + err
