"""`kill -9` at any moment, and the same command again: it ends well, and nothing is done twice."""

from __future__ import annotations

import random
import time

from fleet.lab import slurm
from tests.acceptance.small_fleet import Lab
from tools.trial import Trial, began, kill

COMMAND = ("fleet", "upgrade", "--rolling", "train", "--to", "amd-2026.2", "--declare", "--yes")
KILLS = 10


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
    assert sorted(entry["node"] for entry in began(trial.trail(), "reboot")) == sorted(train), (
        "none was asked for twice"
    )
    assert trial.fleet("trail", "verify").code == 0
