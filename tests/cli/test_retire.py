"""Retirement: declared in git, confirmed by a person, carried out, certified."""

from __future__ import annotations

import json

import pytest

from fleet import app
from tests.cli.conftest import Desk


def test_a_file_alone_wipes_nothing(desk: Desk) -> None:
    assert desk.type("retire", "n04") == 2
    assert "disposition: retired" in desk.err
    assert desk.type("retire", "n04", "--declare", "--yes", "--confirm", "LAB0003") == 2
    assert "not the serial" in desk.err
    assert not desk.machine("n04").wiped


def test_a_retired_node_is_wiped_off_and_certified(desk: Desk) -> None:
    assert desk.type("retire", "n04", "--declare", "--yes", "--confirm", "LAB0004", "--json") == 0, desk.err
    assert json.loads(desk.out)["certificates"] == {"n04": "certificates/n04.json"}
    assert desk.machine("n04").wiped
    assert not desk.machine("n04").switched_on
    with desk.opened() as fleet:
        enrolled = fleet.store.records().enrolled["n04"]  # type: ignore[index]  # a NodeId is a str
        assert enrolled.retired
        assert enrolled.certificate
    assert desk.type("retire", "n04") == 0, "a second run has nothing to do"


def test_a_set_is_confirmed_by_its_count(desk: Desk) -> None:
    assert desk.type("retire", "n[03-04]", "--declare", "--yes", "--confirm", "2") == 0, desk.err


def test_no_certificate_without_a_proof(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from fleet.errors import Untrusted

    def refuse(*_: object) -> str:
        raise Untrusted("certificate of n04", "disk0 was not read back as wiped", "wipe it again")

    opened = desk.opened
    monkeypatch.setattr(app, "open_fleet", lambda *_: replace(opened(), certify=refuse))
    assert desk.type("retire", "n04", "--declare", "--yes", "--confirm", "LAB0004", "--json") == 4
    found = json.loads(desk.out)
    assert found["certificates"] == {}
    assert [held["reason"] for held in found["held"]] == ["wipe_unproven"]
