"""What people say: cordon, take and give, freeze, stop; and that it is their word, not ours."""

from __future__ import annotations

import json

from fleet.model.ids import NodeId
from tests.cli.conftest import Desk


def test_a_cordon_is_in_the_name_of_who_asked(desk: Desk) -> None:
    assert desk.type("cordon", "n03", "--reason", "measuring") == 0
    assert [(hold.owner, hold.reason) for hold in desk.machine("n03").holds] == [("ada", "measuring")]
    assert desk.type("uncordon", "n03", "--as", "ada") == 0
    assert not desk.machine("n03").holds


def test_sudo_does_not_hide_who_asked(desk: Desk, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("SUDO_USER", "eve")
    desk.type("cordon", "n03")
    assert desk.machine("n03").holds[0].owner == "eve"


def test_a_taken_node_is_left_alone_and_comes_back_through_verify(desk: Desk) -> None:
    assert desk.type("take", "n01", "--for", "swap the riser") == 0
    desk.type("status", "@phase:awaiting_hands", "--json")
    assert list(json.loads(desk.out)["nodes"]) == ["n01"]
    desk.looks.bad[NodeId("n01")] = "7 of 8 accelerators"
    assert desk.type("give", "n01", "--did", "swapped it") == 3
    assert desk.machine("n01").holds, "a node that does not verify stays closed"
    desk.looks.bad.clear()
    assert desk.type("give", "n01", "--did", "swapped it again") == 0
    assert not desk.machine("n01").holds


def test_a_freeze_holds_planned_work_and_says_who_and_until_when(desk: Desk) -> None:
    desk.edit("pools.yaml", "release: amd-2026.1", "release: amd-2026.2")
    assert desk.type("freeze", "@pool:train", "--until", "2h", "--reason", "deadline") == 0
    assert desk.type("upgrade", "--rolling", "train", "--yes") == 4
    assert "freeze by ada: deadline" in desk.err
    assert desk.type("unfreeze", "@pool:train") == 0
    assert desk.type("upgrade", "--rolling", "train", "--yes") == 0


def test_a_stop_also_lies_in_a_file_and_a_file_alone_stops(desk: Desk) -> None:
    stop = desk.home / "stop"
    assert desk.type("stop", "--reason", "storage is down") == 0
    assert "storage is down" in stop.read_text()
    assert desk.type("go") == 0
    assert not stop.exists()
    stop.touch()
    desk.edit("pools.yaml", "release: amd-2026.1", "release: amd-2026.2")
    assert desk.type("upgrade", "--rolling", "train", "--yes") == 4
    assert "the stop file" in desk.err


def test_a_moment_that_is_past_or_none_is_refused(desk: Desk) -> None:
    assert desk.type("freeze", "n01", "--until", "soon") == 2
    assert "2h, 3d" in desk.err
    assert desk.type("freeze", "n01", "--until", "2020-01-01") == 2


def test_names_that_are_not_declared_are_refused_with_what_comes_close(desk: Desk) -> None:
    assert desk.type("cordon", "n3") == 2
    assert "did you mean n0" in desk.err
    assert desk.type("cordon", "@rack:r9") == 2
    assert "@rack:r" in desk.err


def test_verify_touches_nothing_and_names_what_is_wrong(desk: Desk) -> None:
    assert desk.type("verify", "n[01-02]") == 0
    assert "8 accelerators" in desk.out
    desk.looks.bad[NodeId("n02")] = "7 of 8 accelerators"
    assert desk.type("verify", "n[01-02]", "--json") == 3
    found = json.loads(desk.out)["nodes"]
    assert found["n01"]["verified"]
    assert not found["n02"]["verified"]
