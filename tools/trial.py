"""A fleet of its own beneath `.fleet/<name>` on the lab: what the demo and the acceptance tests work with.

It has a copy of `inventory/lab` (so that `--declare` edits nothing that people have committed), a ledger and a Pulumi
state of its own. Every command runs as a user would type it, in a process of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
COMMITTED = ROOT / "inventory" / "lab"
STACK = ROOT / "stacks" / "lab"


@dataclass(frozen=True, slots=True)
class Said:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def all(self) -> str:
        """Both streams, for messages."""
        return f"{self.out}\n{self.err}".strip()

    def json(self) -> Any:
        """Standard output as one JSON document."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Trial:
    """The directory of one trial; make it with `begin`."""

    home: Path
    more: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def begin(cls, name: str, more: Mapping[str, str] | None = None) -> Trial:
        """A fresh one: what an earlier one of that name left is removed."""
        home = ROOT / ".fleet" / name
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(COMMITTED, home / "inventory" / "lab")
        (home / "pulumi").mkdir()
        trial = cls(home, dict(more or {}))
        (home / "env").write_text(
            "# To look at this trial by hand:  . " + str((home / "env").relative_to(ROOT)) + "\n"
            + "".join(f"export {name}='{value}'\n" for name, value in trial.variables.items())
            + f"export PATH='{ROOT / '.venv' / 'bin'}:{ROOT / '.fleet' / 'bin'}':\"$PATH\"\n"
        )  # fmt: skip
        return trial

    @property
    def inventory(self) -> Path:
        """The declaration that this trial goes by."""
        return self.home / "inventory" / "lab"

    @property
    def variables(self) -> dict[str, str]:
        """What makes `fleet` and `pulumi` work on this trial."""
        return {
            "FLEET_INVENTORY": str(self.inventory),
            "FLEET_HOME": str(self.home),
            "FLEET_LEDGER": str(self.home / "ledger.db"),
            "FLEET_INTERVAL": "1",
            "PULUMI_BACKEND_URL": f"file://{self.home / 'pulumi'}",
            "PULUMI_HOME": str(ROOT / ".fleet" / "pulumi" / "home"),
            "PULUMI_CONFIG_PASSPHRASE": "",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_SKIP_CHECKPOINTS": "true",
            **self.more,
        }

    @property
    def environment(self) -> dict[str, str]:
        """The environment of its commands."""
        path = f"{Path(sys.executable).parent}:{ROOT / '.fleet' / 'bin'}:{os.environ.get('PATH', '')}"
        return {**os.environ, "NO_COLOR": "1", **self.variables, "PATH": path}

    def edit(self, file: str, old: str, new: str) -> None:
        """Change the declaration as an editor would; the old text must be there."""
        path = self.inventory / file
        text = path.read_text()
        if old not in text:
            raise ValueError(f"{path}: no {old!r} to replace")
        path.write_text(text.replace(old, new))

    def run(self, *words: str, answer: str | None = None, seconds: float = 300, where: Path = ROOT) -> Said:
        """A command to its end. Ended with its process group when it takes too long."""
        running = self.start(*words, where=where, answering=answer is not None)
        try:
            out, err = running.communicate(answer, timeout=seconds)
        except subprocess.TimeoutExpired:
            end(running)
            out, err = running.communicate()
            return Said(124, out, f"{err}\nended after {seconds:g} s")
        return Said(running.returncode, out, err)

    def start(self, *words: str, where: Path = ROOT, answering: bool = False) -> subprocess.Popen[str]:
        """A command as a process group of its own, for those who mean to kill it."""
        return subprocess.Popen(
            words, cwd=where, env=self.environment, text=True, start_new_session=True,
            stdin=subprocess.PIPE if answering else subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def fleet(self, *words: str, answer: str | None = None, seconds: float = 300) -> Said:
        """`fleet WORDS`."""
        return self.run("fleet", *words, answer=answer, seconds=seconds)

    def pulumi(self, *words: str, seconds: float = 120) -> Said:
        """`pulumi WORDS` in the lab's stack."""
        return self.run("pulumi", "--non-interactive", *words, seconds=seconds, where=STACK)

    def enrol(self) -> Said:
        """`pulumi up`: what is declared exists, and is in the ledger."""
        made = self.pulumi("stack", "select", "--create", "lab")
        return made if made.code else self.pulumi("up", "--yes", "--skip-preview")

    def trail(self) -> list[dict[str, Any]]:
        """Every entry of the reason trail, oldest first."""
        return [json.loads(line) for line in self.fleet("trail", "export").out.splitlines() if line.strip()]


def began(entries: Sequence[Mapping[str, Any]], verb: str = "") -> list[Mapping[str, Any]]:
    """The entries of a trail that say that a step began; those of one verb, where it is named."""
    return [e for e in entries if e["what"] == "step began" and verb in ("", e["detail"].get("verb"))]


def end(running: subprocess.Popen[Any], patience: float = 10) -> None:
    """End a process group: asked, then made."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(running.pid, number)
            running.wait(patience)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
        return


def kill(running: subprocess.Popen[Any]) -> None:
    """`kill -9` of the process alone: what it started lives on, as after a crash."""
    os.kill(running.pid, signal.SIGKILL)
    running.wait(30)
