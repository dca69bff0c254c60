"""How the shell reaches things: SSH, the scheduler, BMCs. Secrets are references, read when they are needed."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from fleet.errors import Misuse


@dataclass(frozen=True, slots=True)
class Secret:
    """A reference `file:PATH` or `env:NAME`; `{node}` in it becomes the node's id. Printing it shows no secret."""

    reference: str
    root: Path = field(default=Path(), repr=False)

    def read(self, node: str = "") -> str:
        """The secret itself, without the line end of its file; raises Misuse with the next step."""
        kind, _, name = self.reference.replace("{node}", node).partition(":")
        if kind == "env":
            value = os.environ.get(name)
            if not value:
                raise Misuse(f"secret {self.reference}", f"{name} is not set", f"export {name} first")
            return value
        path = self.root / name
        try:
            text = path.read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else "it is no text"
            raise Misuse(f"secret {self.reference}", f"{path}: {why}", "put the secret there, mode 0600") from error
        if not text:
            raise Misuse(f"secret {self.reference}", f"{path} is empty", "put the secret there, mode 0600")
        return text


@dataclass(frozen=True, slots=True)
class SshAccess:
    """The account and key for nodes and the scheduler's machine. `known_hosts` is for the latter: nodes are pinned."""

    user: str
    key: Path
    known_hosts: Path
    port: int = 22


@dataclass(frozen=True, slots=True)
class SchedulerAccess:
    """Where the scheduler's commands run; an empty address means here."""

    kind: str = "slurm"
    address: str = ""


@dataclass(frozen=True, slots=True)
class BmcAccess:
    """The account on the BMCs and the authority that signed their certificates."""

    user: str
    password: Secret
    ca: Path | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """Everything of `access:` in site.yaml. Its paths are relative to `root`, where the inventory's project lies."""

    site: str
    root: Path
    ssh: SshAccess
    scheduler: SchedulerAccess
    bmc: BmcAccess
