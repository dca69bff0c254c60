"""What a stack's configuration says (`pulumi config set fleet:...`); the environment goes first, defaults last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CONFIG_KEYS = {
    "inventory": "the site's directory of declared state, relative to the stack's; ../../inventory/<stack> by default",
    "ledger": "the ledger's file, relative to the directory that holds inventory/; .fleet/ledger.db by default",
    "bootSeconds": "how long a node that was turned on may take to answer; 300 by default",
}
LEDGER = ".fleet/ledger.db"
BOOT_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Settings:
    """Where a stack finds what it needs. `ledger` is relative to the inventory's project unless it is absolute."""

    inventory: Path
    ledger: Path = Path(LEDGER)
    boot_seconds: float = BOOT_SECONDS

    @classmethod
    def of(cls, config: Mapping[str, str], environ: Mapping[str, str], stack: Path) -> Settings:
        """From the configuration of the stack whose program lies in `stack`. Raises ValueError."""
        inventory = _path("inventory", config, environ) or Path(f"../../inventory/{stack.name}")
        ledger = _path("ledger", config, environ) or Path(LEDGER)
        seconds = float(config.get("bootSeconds") or BOOT_SECONDS)
        if seconds < 0:
            raise ValueError("fleet:bootSeconds is negative")
        return cls((stack / inventory).resolve(), ledger, seconds)


def _path(key: str, config: Mapping[str, str], environ: Mapping[str, str]) -> Path | None:
    variable = f"FLEET_{key.upper()}"
    named = environ.get(variable, "")
    if named and not Path(named).is_absolute():
        raise ValueError(f"{variable}={named} must be an absolute path: the engine works in the stack's directory")
    said = named or config.get(key, "")
    return Path(said) if said else None
