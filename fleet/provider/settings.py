"""What a stack's configuration says (`pulumi config set fleet:...`); the environment goes first, defaults last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CONFIG_KEYS = {
    "inventory": "the site's directory of declared state, relative to the stack's; ../../inventory/<stack> by default",
    "home": "where the ledger lies, relative to the directory that holds inventory/; .fleet by default",
    "bootSeconds": "how long a node that was turned on may take to answer; 300 by default",
}
HOME = ".fleet"
BOOT_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Settings:
    """Where a stack finds what it needs, as the commands of fleet do (FLEET_INVENTORY, FLEET_HOME).

    `home` is relative to the project that holds the inventory, unless it is absolute.
    """

    inventory: Path
    home: Path = Path(HOME)
    boot_seconds: float = BOOT_SECONDS

    @classmethod
    def of(cls, config: Mapping[str, str], environ: Mapping[str, str], stack: Path) -> Settings:
        """From the configuration of the stack whose program lies in `stack`. Raises ValueError."""
        inventory = _path("inventory", config, environ) or Path(f"../../inventory/{stack.name}")
        home = _path("home", config, environ) or Path(HOME)
        seconds = float(config.get("bootSeconds") or BOOT_SECONDS)
        if seconds < 0:
            raise ValueError("fleet:bootSeconds is negative")
        return cls((stack / inventory).resolve(), home, seconds)

    def ledger(self, root: Path) -> Path:
        """The ledger's file; `root` is the inventory's project."""
        return root / self.home / "ledger.db"


def _path(key: str, config: Mapping[str, str], environ: Mapping[str, str]) -> Path | None:
    variable = f"FLEET_{key.upper()}"
    named = environ.get(variable, "")
    if named and not Path(named).is_absolute():
        raise ValueError(f"{variable}={named} must be an absolute path: the engine works in the stack's directory")
    said = named or config.get(key, "")
    return Path(said) if said else None
