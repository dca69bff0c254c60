"""Which inventory is meant, and what its relative paths are relative to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from fleet.errors import Misuse

VARIABLE = "FLEET_INVENTORY"


def find_inventory(start: Path | str | None = None, *, environ: Mapping[str, str] | None = None) -> Path:
    """The directory of a site: `start` where it is one, else FLEET_INVENTORY, else the only one under inventory/."""
    given = Path(start) if start is not None else None
    if given is not None and (given / "site.yaml").exists():
        return given
    named = (os.environ if environ is None else environ).get(VARIABLE, "")
    if named:
        if not (Path(named) / "site.yaml").exists():
            raise Misuse(f"{VARIABLE}={named}", "there is no site.yaml in it", "name the directory of a site")
        return Path(named)
    parent = (given or Path()) / "inventory"
    sites = sorted(path.parent for path in parent.glob("*/site.yaml")) if parent.is_dir() else []
    if not sites and given is not None and given.is_dir():
        sites = sorted(path.parent for path in given.glob("*/site.yaml"))
    match sites:
        case [only]:
            return only
        case []:
            raise Misuse(
                f"{given or parent}: no inventory", "there is no site.yaml in it", "name one with --inventory DIRECTORY"
            )
        case _:
            names = ", ".join(path.name for path in sites)
            raise Misuse(
                f"{parent}: several inventories", names, f"name one with --inventory, as --inventory {sites[0]}"
            )


def find_inventories(start: Path | str | None = None) -> tuple[Path, ...]:
    """Every site that is meant: the one that is named, or all that lie in a directory (or under its inventory/)."""
    given = Path(start) if start is not None else None
    if given is None and os.environ.get(VARIABLE):
        return (find_inventory(None),)
    for parent in (given,) if given is not None else (Path("inventory"), Path()):
        if (parent / "site.yaml").exists():
            return (parent,)
        for place in (parent / "inventory", parent):
            sites = sorted(path.parent for path in place.glob("*/site.yaml"))
            if sites:
                return tuple(sites)
    return (find_inventory(given),)


def project_root(inventory: Path) -> Path:
    """The directory that relative paths of an inventory start from: the one that holds inventory/ or .fleet/."""
    path = inventory.resolve()
    for directory in path.parents:
        if directory.name == ".fleet":
            return directory.parent
    for directory in path.parents:
        if directory.name == "inventory":
            return directory.parent
    return Path.cwd()
