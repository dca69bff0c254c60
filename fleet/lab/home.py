"""Where the lab keeps what it makes: its run state beneath the checkout, the image in the user's cache."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Home:
    """The directory `.fleet/lab` of one checkout; everything in it goes with `fleet lab down`."""

    root: Path

    @classmethod
    def here(cls) -> Home:
        return cls(Path.cwd() / ".fleet" / "lab")

    @property
    def state(self) -> Path:
        return self.root / "lab.json"

    @property
    def keys(self) -> Path:
        return self.root / "keys"

    @property
    def operator_key(self) -> Path:
        return self.keys / "operator"

    @property
    def person_key(self) -> Path:
        return self.keys / "alice"

    @property
    def known_hosts(self) -> Path:
        return self.root / "known_hosts"

    @property
    def repo(self) -> Path:
        return self.root / "repo"

    @property
    def bmc(self) -> Path:
        return self.root / "bmc"

    @property
    def faults(self) -> Path:
        return self.root / "faults"

    @property
    def inventory(self) -> Path:
        return self.root / "inventory"

    def seed(self, name: str) -> Path:
        """What a machine is given at its first boot (mounted at /lab)."""
        return self.root / "seed" / name

    def identity(self, name: str) -> Path:
        """What stands under /sys/class of a machine: its serial, as its firmware would tell it."""
        return self.root / "identity" / name


@dataclass(frozen=True, slots=True)
class LabState:
    """What `up` decided and `down`, `status` and `break` must know."""

    nodes: int
    image: str
    boot_seconds: float
    inotify_before: int | None = None

    def write(self, home: Home) -> None:
        home.root.mkdir(parents=True, exist_ok=True)
        temporary = home.state.with_suffix(".new")
        temporary.write_text(json.dumps(asdict(self)) + "\n")
        temporary.replace(home.state)

    @classmethod
    def read(cls, home: Home) -> LabState | None:
        try:
            return cls(**json.loads(home.state.read_text()))
        except FileNotFoundError:
            return None


def cache() -> Path:
    """Shared by all checkouts of a user."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "fleet"
