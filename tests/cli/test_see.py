"""What commands that only look print: on 80 columns and 200, in words and in JSON, and never a change."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Desk

LOOKS = ("status", "plan", "health", "drift", "facts")


@pytest.mark.parametrize("command", LOOKS)
def test_facts_have_a_stable_head(desk: Desk, command: str) -> None:
    assert desk.type(command, "--json") == 0
    found = json.loads(desk.out)
    assert found["schema"] == 1
    assert found["kind"] == command


@pytest.mark.parametrize("columns", [80, 200])
@pytest.mark.parametrize("command", [*LOOKS, "why n01", "why train", "rollout list"])
def test_lines_fit_the_terminal(desk: Desk, monkeypatch: pytest.MonkeyPatch, command: str, columns: int) -> None:
    desk.type("cordon", "n03", "--reason", "a reason that is long enough to need more than one line of a terminal")
    desk.type("upgrade", "--rolling", "train", "--to", "amd-2026.2", "--declare", "--yes")
    monkeypatch.setenv("COLUMNS", str(columns))
    desk.type(*command.split())
    assert max(len(line) for line in desk.out.splitlines()) <= columns


def test_looking_writes_nothing(desk: Desk) -> None:
    with desk.opened() as fleet:
        before = fleet.store.head()
    for command in (*LOOKS, "why n01", "rollout list", "check"):
        desk.type(*command.split())
    with desk.opened() as fleet:
        assert fleet.store.head() == before


def test_status_ends_in_what_needs_you_with_its_command(desk: Desk) -> None:
    desk.edit("pools.yaml", "release: amd-2026.1", "release: amd-2026.2")
    desk.type("cordon", "n03", "--reason", "measuring", "--as", "bob")
    desk.type("upgrade", "--rolling", "train", "--yes")
    assert desk.type("status") == 0
    needs = desk.out.partition("Needs you")[2]
    assert "bob: measuring" in needs
    assert "fleet uncordon n03 --as bob" in needs


def test_status_without_trouble_says_so(desk: Desk) -> None:
    desk.type("status")
    assert "Needs you: nothing" in desk.out


def test_why_tells_how_a_node_came_to_where_it_is(desk: Desk) -> None:
    desk.type("upgrade", "--rolling", "train", "--to", "amd-2026.2", "--declare", "--yes")
    assert desk.type("why", "n02") == 0
    for words in ("n02 is serving", "UPGRADE to amd-2026.2 was opened", "reboot succeeded", "UPGRADE was closed"):
        assert words in desk.out
    desk.type("why", "train", "n01", "--json")
    found = json.loads(desk.out)
    assert found["nodes"]["n01"]["trail"]
    assert set(found["pools"]["train"]) == {"n01", "n02", "n03", "n04"}


def test_drift_is_shown_three_ways(desk: Desk) -> None:
    desk.machine("n02").packages["rocm-core"] = "6.0.0"
    assert desk.type("drift") == 3
    assert "n02: drift: somebody changed the node" in desk.out
    assert "6.0.0" in desk.out
    desk.edit("pools.yaml", "release: amd-2026.1", "release: amd-2026.2")
    desk.machine("n02").packages["rocm-core"] = "6.0.0"
    desk.type("drift", "--json")
    kinds = {node: each["kind"] for node, each in json.loads(desk.out)["nodes"].items()}
    assert kinds["n01"] == "pending"
    assert kinds["n02"] == "conflict"


def test_check_names_file_and_line(desk: Desk) -> None:
    desk.edit("nodes.yaml", "pool: infer", "pool: infre")
    assert desk.type("check", str(desk.inventory)) == 3
    assert "nodes.yaml:" in desk.out
    desk.edit("nodes.yaml", "pool: infre", "pool: infer")
    assert desk.type("check", str(desk.inventory)) == 0
