"""Where a stack finds its inventory and its ledger."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.provider.settings import Settings

STACK = Path("/srv/fleet/stacks/lab")

SAID = {
    "nothing": ({}, {}, Settings(Path("/srv/fleet/inventory/lab"))),
    "an inventory beside the stack": ({"inventory": "../other"}, {}, Settings(Path("/srv/fleet/stacks/other"))),
    "the environment goes first": ({"inventory": "../other"}, {"FLEET_INVENTORY": "/inv"}, Settings(Path("/inv"))),
    "a ledger elsewhere": ({}, {"FLEET_HOME": "/var/f"}, Settings(Path("/srv/fleet/inventory/lab"), Path("/var/f"))),
    "patience": ({"bootSeconds": "60"}, {}, Settings(Path("/srv/fleet/inventory/lab"), boot_seconds=60)),
}


@pytest.mark.parametrize(("config", "environ", "expected"), SAID.values(), ids=SAID)
def test_settings(config: dict[str, str], environ: dict[str, str], expected: Settings) -> None:
    assert Settings.of(config, environ, STACK) == expected


@pytest.mark.parametrize(
    ("config", "environ"),
    [({"bootSeconds": "soon"}, {}), ({"bootSeconds": "-1"}, {}), ({}, {"FLEET_HOME": "relative"})],
)
def test_settings_that_make_no_sense(config: dict[str, str], environ: dict[str, str]) -> None:
    with pytest.raises(ValueError):
        Settings.of(config, environ, STACK)


def test_the_ledger_lies_where_the_commands_look_for_it() -> None:
    root = Path("/srv/fleet")
    assert Settings(root).ledger(root) == root / ".fleet/ledger.db"
    assert Settings(root, Path("/var/f")).ledger(root) == Path("/var/f/ledger.db")
