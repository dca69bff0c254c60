"""A roll over the lab's inventory in virtual time: what the 60-second taste shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fleet.model.ids import PoolId, ReleaseId
from fleet.model.order import RolloutState
from fleet.model.topology import Declared
from fleet.render.text import plain
from fleet.sim.picture import picture, summary
from fleet.sim.roll import Ask, of_size, roll
from fleet.spec.load import load

INVENTORY = Path(__file__).parents[2] / "inventory" / "lab"
ASK = Ask(PoolId("train"), ReleaseId("amd-2026.2"), nodes=6)


@pytest.fixture(scope="module")
def lab() -> Declared:
    """The lab's inventory."""
    return load(INVENTORY)


def test_a_fleet_of_another_size_has_the_inventorys_shape(lab: Declared) -> None:
    made = of_size(lab, PoolId("train"), 9)
    assert len(made.nodes) == 9
    assert len({node.rack for node in made.nodes.values()}) == 5
    assert {str(domain) for node in made.nodes.values() for domain in node.domains if domain.kind == "feed"} == {
        "feed A",
        "feed B",
    }


def test_every_node_ends_on_the_release_and_no_job_is_lost(lab: Declared) -> None:
    found = roll(lab, ASK)
    assert found.ended_well
    assert (found.on_release, found.in_service, found.most_reboots) == (6, 6, 1)
    assert found.lowest >= found.plan.floor
    assert (found.jobs["killed"], found.jobs["requeued"]) == (0, 0)


def test_the_same_seed_is_the_same_run(lab: Declared) -> None:
    first, second, other = (roll(lab, replace(ASK, seed=seed)) for seed in (7, 7, 8))
    assert first.seconds == second.seconds != other.seconds
    assert first.picture == second.picture


@pytest.mark.parametrize("seed", range(8))
def test_a_controller_that_dies_again_and_again_repeats_no_reboot(lab: Declared, seed: int) -> None:
    found = roll(lab, replace(ASK, seed=seed, crash=True))
    assert found.crashes
    assert found.ended_well, "\n".join(found.broken)
    assert found.most_reboots == 1


def test_a_bad_release_stops_at_its_canary(lab: Declared) -> None:
    found = roll(lab, replace(ASK, bad=True))
    assert found.state in (RolloutState.HALTED, RolloutState.REVERTED)
    assert found.as_wanted
    assert found.steps["cordon"] == 1


def test_a_roll_that_is_as_fast_as_it_can_be_is_near_its_bound(lab: Declared) -> None:
    found = roll(lab, replace(ASK, jobs=False))
    assert 1.0 <= found.seconds / found.bound_seconds < 1.05


def test_nodes_are_drawn_over_time(lab: Declared) -> None:
    lines = plain(picture(roll(lab, ASK), 80)).splitlines()
    assert [row.split()[0] for row in lines[:6]] == ["n1", "n2", "n3", "n4", "n5", "n6"]
    assert all(letter in "".join(lines[:6]) for letter in ".crv")
    assert max(map(len, lines[:6])) <= 80


def test_the_summary_says_what_counts(lab: Declared) -> None:
    text = plain(summary(roll(lab, ASK)))
    assert "on 6 of 6 nodes" in text
    assert "0 killed, 0 requeued" in text
