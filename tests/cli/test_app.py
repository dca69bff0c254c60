"""The composition root: settings, an inventory that is edited while it is in use, a lease whose holder died."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from fleet import app
from fleet.errors import InventoryError, Misuse
from fleet.spec import load
from tests.cli.conftest import INVENTORY, Desk


def test_settings_come_from_the_environment(tmp_path: Path) -> None:
    environ = {"FLEET_INVENTORY": str(INVENTORY), "FLEET_HOME": str(tmp_path), "FLEET_INTERVAL": "0.5"}
    found = app.settings(None, environ)
    assert (found.inventory, found.home, found.interval) == (INVENTORY, tmp_path, 0.5)
    assert app.settings(INVENTORY, {}).home == INVENTORY.parents[1] / ".fleet"
    with pytest.raises(Misuse, match="FLEET_INTERVAL=often"):
        app.settings(INVENTORY, {"FLEET_INTERVAL": "often"})


def test_a_broken_edit_leaves_the_last_good_inventory_in_force(desk: Desk) -> None:
    declared = app.Reloading(desk.inventory, load)
    assert declared().pools["train"].release == "amd-2026.1"  # type: ignore[index]  # a PoolId is a str
    desk.edit("pools.yaml", "release: amd-2026.1", "release: [broken")
    assert declared().pools["train"].release == "amd-2026.1"  # type: ignore[index]  # a PoolId is a str
    assert "pools.yaml" in declared.problem
    desk.edit("pools.yaml", "release: [broken", "release: amd-2026.2")
    assert declared().pools["train"].release == "amd-2026.2"  # type: ignore[index]  # a PoolId is a str
    assert not declared.problem


def test_a_first_reading_that_fails_is_an_error(desk: Desk) -> None:
    desk.edit("pools.yaml", "release: amd-2026.1", "release: [broken")
    with pytest.raises(InventoryError):
        app.Reloading(desk.inventory, load)()


def test_the_lease_of_a_dead_process_of_this_machine_is_free_at_once(desk: Desk) -> None:
    with desk.opened() as fleet:
        now = fleet.clock.now()
        fleet.store.take(f"{socket.gethostname()}:999999999:1", now, 30)
        assert fleet.bury_the_dead()
        assert fleet.store.take(fleet.holder, now, 30)
        assert not fleet.bury_the_dead(), "this process lives"
        fleet.store.give(fleet.holder)
        fleet.store.take("another-machine:1:1", now, 30)
        assert not fleet.bury_the_dead(), "nobody can say that of another machine"


def test_looking_needs_no_lease(desk: Desk) -> None:
    with desk.opened() as fleet:
        fleet.store.take("another-machine:1:1", fleet.clock.now(), 30)
    for command in ("plan", "status", "drift"):
        assert desk.type(command) == 0
