"""`fleet trail`: shows the newest entries, checks the chain, exports it, and lets a person accept an older ledger."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from fleet.cli.main import run
from fleet.model.ids import NodeId, Verb
from tests.adapters.ledgers import AT, later, opened, order, walked


@pytest.fixture
def ledger(tmp_path: Path) -> list[str]:
    """The option that names a ledger with a short history."""
    with opened(tmp_path) as made:
        order(made)
        walked(made, Verb.CORDON)
        made.note(NodeId("n2"), "alice", "note", "a fan is loud", later(hours=1))
    return ["--ledger", str(tmp_path / "ledger.db")]


def spoiled(ledger: list[str]) -> None:
    with sqlite3.connect(ledger[1]) as connection:
        connection.execute("DROP TRIGGER trail_refuses_update")
        connection.execute("UPDATE trail SET who = 'bob' WHERE seq = 3")
    connection.close()


def test_show(ledger: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["trail", "show", *ledger]) == 0
    said = capsys.readouterr().out
    assert "a fan is loud" in said
    assert "order opened" in said


@pytest.mark.parametrize(
    ("asked", "seqs"),
    [
        (["n2"], [5]),
        (["n[1-2]"], [2, 3, 4, 5]),
        (["n1", "n2", "--limit", "2"], [4, 5]),
        (["--order", "o1"], [2, 3, 4]),
        (["--since", "2026-03-01T12:30+00:00"], [5]),
        (["--since", "1h"], []),
    ],
)
def test_show_some(ledger: list[str], capsys: pytest.CaptureFixture[str], asked: list[str], seqs: list[int]) -> None:
    assert run(["trail", "show", *asked, *ledger, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["kind"]) == (1, "trail")
    assert [entry["seq"] for entry in found["entries"]] == seqs


def test_verify(ledger: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["trail", "verify", *ledger]) == 0
    assert "5 entries hold" in capsys.readouterr().out
    spoiled(ledger)
    assert run(["trail", "verify", *ledger, "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert (found["good"], found["bad"], found["why"]) == (False, 3, "entry 3 was altered")


def test_export_and_verify_elsewhere(ledger: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exported = tmp_path / "exported.jsonl"
    assert run(["trail", "export", *ledger, "--output", str(exported)]) == 0
    assert run(["trail", "verify", str(exported)]) == 0
    exported.write_text(exported.read_text().replace("a fan is loud", "all is well"))
    assert run(["trail", "verify", str(exported)]) == 3
    assert "entry 5 was altered" in capsys.readouterr().out
    exported.write_text("no trail\n")
    assert run(["trail", "verify", str(exported)]) == 2


def test_accept(ledger: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["trail", "accept", *ledger, "--reason", "none", "--yes"]) == 0
    assert "nothing to accept" in capsys.readouterr().out
    with (tmp_path / "anchor").open("a") as file:
        file.write(json.dumps({"at": AT.isoformat(), "seq": 99, "hash": "ab", "token": 40}) + "\n")
    assert run(["trail", "verify", *ledger]) == 3
    assert run(["trail", "accept", *ledger, "--reason", "the disk died", "--as", "alice", "--yes"]) == 0
    assert run(["trail", "verify", *ledger]) == 0


@pytest.mark.parametrize("asked", [["show", "n[1-"], ["show", "--since", "yesterday"], ["show", "--limit", "0"]])
def test_misuse(ledger: list[str], capsys: pytest.CaptureFixture[str], asked: list[str]) -> None:
    assert run(["trail", *asked, *ledger]) == 2


def test_no_ledger(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["trail", "show", "--ledger", str(tmp_path / "ledger.db")]) == 1
    assert "next:" in capsys.readouterr().err
