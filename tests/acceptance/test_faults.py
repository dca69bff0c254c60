"""What breaks in the middle of an upgrade: held or retried with the reason; nothing lost, no floor broken."""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fleet.lab import slurm
from tests.acceptance.small_fleet import Lab
from tools.trial import Said, Trial, end
from tools.witness import Witness

INFER = ("upgrade", "--rolling", "infer", "--to", "nvidia-2026.2", "--declare", "--yes")


def wait_for(what: Callable[[], bool], seconds: float) -> bool:
    """Whether it came true in time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if what():
            return True
        time.sleep(0.3)
    return False


@contextmanager
def upgrade(trial: Trial, *words: str) -> Iterator[list[Said]]:
    """The command beside the test; ended if it still runs at the end. Its outcome is in the list then."""
    running = trial.start("fleet", *words)
    outcome: list[Said] = []

    def read() -> None:
        out, err = running.communicate()
        outcome.append(Said(running.returncode, out, err))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield outcome
        reader.join(120)
    finally:
        if running.poll() is None:
            end(running)
        reader.join(10)


def closed(node: str) -> bool:
    """Whether the scheduler shows it closed."""
    return "DRAIN" in slurm.node_states().get(node, "")


def first_closed(nodes: tuple[str, ...], seconds: float = 40) -> str:
    """The node of those that is closed first."""
    assert wait_for(lambda: any(closed(node) for node in nodes), seconds), "no node was closed"
    return next(node for node in nodes if closed(node))


def test_ssh_dies_in_the_middle(lab: Lab, trial: Trial) -> None:
    infer = lab.names("infer")
    with Witness() as witness, upgrade(trial, *INFER) as outcome:
        canary = first_closed(infer)
        lab.fault(canary, "ssh", "dead", persistent=True)
        time.sleep(20)
        assert not outcome or outcome[0].code == 4, "it waits, or says that it can't go on"
        why = trial.fleet("why", canary)
        assert why.code == 0, why.all
        assert any(word in why.all.lower() for word in ("ssh", "reach", "answer")), why.all
        lab.fault(canary, "ssh", off=True)
    if outcome and outcome[0].code == 4:
        outcome = [trial.fleet(*INFER)]
    assert outcome, "it never ended"
    assert outcome[0].code == 0, outcome[0].all
    assert all(lab.carries(node, "nvidia-2026.2") for node in infer)
    assert witness.lowest(infer) >= 1


def test_a_bmc_answers_500(lab: Lab, trial: Trial) -> None:
    infer = lab.names("infer")
    lab.fault(infer[0], "bmc", "500")
    done = trial.fleet(*INFER)
    assert done.code == 0, done.all
    assert all(lab.carries(node, "nvidia-2026.2") for node in infer), "nothing of it needed the BMC"
    why = trial.fleet("status", "--json")
    assert why.code == 0, why.all
    assert "500" in why.out, "what can't be seen is shown"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes."""
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(("mount", "-t", "tmpfs", "-o", "size=2m", "small", str(place)), check=True)
    yield place
    subprocess.run(("umount", "--lazy", str(place)), check=True)


def test_the_disk_under_the_ledger_is_full(lab: Lab, trial: Trial, small_disk: Path) -> None:
    infer = lab.names("infer")
    for path in trial.home.iterdir():
        if path.is_file() and path.name != "env":
            shutil.copy2(path, small_disk / path.name)
    full = Trial(trial.home, {"FLEET_HOME": str(small_disk), "FLEET_LEDGER": str(small_disk / "ledger.db")})
    with upgrade(full, *INFER) as outcome:
        first_closed(infer)
        ballast = small_disk / "ballast"
        with ballast.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass
        wait_for(lambda: bool(outcome), 15)
        ballast.unlink()
    assert outcome, "with room again it must go on, if it did not end"
    assert any(word in outcome[0].all for word in ("disk", "space", "full")), outcome[0].all
    if outcome[0].code:
        again = full.fleet(*INFER)
        assert again.code == 0, again.all
    assert all(lab.carries(node, "nvidia-2026.2") for node in infer)
    assert full.fleet("trail", "verify").code == 0, "nothing of the trail was lost"


def test_the_scheduler_stops_and_starts(lab: Lab, trial: Trial) -> None:
    infer = lab.names("infer")
    job = slurm.submit_on(lab.names("train")[0], partition="train", seconds=40, name="through")
    with Witness() as witness, upgrade(trial, *INFER) as outcome:
        first_closed(infer)
        lab.fault("controller", "slurmctld", "stop")
        time.sleep(12)
        touched = [node for node in infer if lab.carries(node, "nvidia-2026.2")]
        assert len(touched) <= 1, "while nobody can be asked, nothing new begins"
        lab.fault("controller", "slurmctld", "start")
    assert outcome, "it never ended"
    final = outcome[0] if outcome[0].code != 4 else trial.fleet(*INFER)
    assert final.code == 0, final.all
    assert all(lab.carries(node, "nvidia-2026.2") for node in infer)
    most = max(sum("DRAIN" in look.states[node] for node in infer) for look in witness.answered)
    assert most == 1, "a scheduler that has just begun knows no node; that is no doing of ours"
    assert [j.restarts for j in slurm.jobs() if j.job == job] == [0]
