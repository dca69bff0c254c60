"""`fleet draw` and `fleet check` at the command line."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Desk
from tests.spec.sites import write


def test_draw_prints_racks_and_writes_svgs(desk: Desk, tmp_path: Path) -> None:
    site = write(tmp_path / "a")
    code = desk.type("draw", str(site), "--rack", "r1", "--svg", str(tmp_path / "drawings"))
    assert code == 0
    assert "r1 (42U)" in desk.out
    assert [path.name for path in (tmp_path / "drawings").iterdir()] == ["r1.svg"]
    desk.type("draw", str(site), "--json")
    facts = json.loads(desk.out)
    assert facts["schema"] == 1
    assert set(facts["racks"]) == {"r1", "r2"}


def test_a_rack_that_is_not_declared_is_misuse(desk: Desk, tmp_path: Path) -> None:
    code = desk.type("draw", str(write(tmp_path)), "--rack", "r9")
    assert code == 2
    assert "there is no rack r9" in desk.err


def test_check_judges_every_site_of_a_repository(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "sites").mkdir()
    for name in ("north", "south"):
        write(tmp_path / name).rename(tmp_path / "sites" / f"site-{name}")
    code = desk.type("check", str(tmp_path / "sites"), "--json")
    assert code == 3  # the release of these is not signed
    sites = json.loads(desk.out)["sites"]
    assert [Path(each["inventory"]).name for each in sites] == ["site-north", "site-south"]
    assert [each["code"] for each in sites[0]["problems"]] == ["release-untrusted"]


def test_a_code_is_explained(desk: Desk) -> None:
    assert desk.type("check", "--explain", "power-redundancy") == 0
    assert "the rest does not carry the" in desk.out
    assert desk.type("check", "--explain", "power-redundency") == 2
    assert "did you mean power-redundancy?" in desk.err
