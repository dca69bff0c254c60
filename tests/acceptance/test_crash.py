"""`kill -9` at any moment, and the same command again: it ends well, and nothing is done twice."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from fleet.lab import slurm
from tests.acceptance.small_fleet import Lab
from tools.trial import Trial, kill

COMMAND = ("fleet", "upgrade", "--rolling", "train", "--to", "amd-2026.2", "--declare", "--yes")
KILLS = 10


def assert_looked_first(trail: Sequence[Mapping[str, Any]], node: str) -> None:
    """A reboot was begun again only after a look had shown that the one before never reached the node: the kill came
    between its entry and its beginning."""
    steps = [
        e for e in trail if e["node"] == node and e["what"].startswith("step ") and e["detail"]["verb"] == "reboot"
    ]
    assert steps, f"{node} was rebooted, and the trail says so"
    for before, again in pairwise(steps):
        if again["what"] == "step began":
            assert before["what"] == "step ended", f"{node}: begun twice without an end between"
            assert before["detail"]["result"] == "lost", f"{node}: begun again though it had happened"
            assert before["detail"]["found"] == "by looking", f"{node}: nobody looked"


def test_killed_ten_times_it_ends_well_and_reboots_nothing_twice(lab: Lab, trial: Trial) -> None:
    train = lab.names("train")
    boots = {node: [lab.boots(node)] for node in train}
    moments = random.Random(20261)
    killed = 0
    for _ in range(KILLS):
        running = trial.start(*COMMAND)
        time.sleep(moments.uniform(1.5, 9))
        if running.poll() is None:
            kill(running)
            killed += 1
        for node in train:
            if lab.boots(node) != boots[node][-1]:
                boots[node].append(lab.boots(node))
    done = trial.run(*COMMAND)
    assert done.code == 0, done.all
    for node in train:
        if lab.boots(node) != boots[node][-1]:
            boots[node].append(lab.boots(node))
    assert killed >= 5, "the kills must have hit something"
    assert {node: len(seen) - 1 for node, seen in boots.items()} == dict.fromkeys(train, 1), "one reboot each"
    assert all(lab.carries(node, "amd-2026.2") for node in train)
    assert not [node for node in train if "DRAIN" in slurm.node_states()[node]]
    for node in train:
        assert_looked_first(trial.trail(), node)
    assert trial.fleet("trail", "verify").code == 0
