"""Each problem code has a smallest broken declaration."""

from __future__ import annotations

from dataclasses import replace

from fleet.feasibility import Level, judge
from fleet.model.ids import NodeId, Verb
from fleet.model.policy import Amount, Policy
from tests.fleets import OLD, Fleet, release


def codes(fleet: Fleet) -> dict[str, Level]:
    return {problem.code: problem.level for problem in judge(fleet.declared())}


def test_a_site_that_works_has_no_problem() -> None:
    assert codes(Fleet()) == {}


def test_two_nodes_in_one_slot() -> None:
    fleet = Fleet()
    for name in ("n1", "n2"):
        fleet.nodes[NodeId(name)] = replace(fleet.nodes[NodeId(name)], slot=3)
    assert codes(fleet) == {"space-slot-twice": Level.ERROR}


def test_a_budget_that_rounds_to_nothing() -> None:
    assert codes(Fleet(policy=Policy(budget={"pool": Amount(percent=10)}))) == {"policy-budget-never": Level.ERROR}


def test_a_floor_of_all_nodes() -> None:
    assert codes(Fleet(policy=Policy(floor={"rack": Amount(2)}))) == {"policy-floor-all": Level.ERROR}


def test_a_ladder_that_does_not_end_with_a_person() -> None:
    assert codes(Fleet(policy=Policy(ladder=(Verb.REBOOT,)))) == {"policy-ladder-end": Level.WARNING}


def test_a_rung_that_the_release_forbids() -> None:
    fleet = Fleet()
    fleet.releases[OLD] = release(OLD, "1", forbids=(Verb.RESET_GPU,))
    assert codes(fleet) == {"policy-rung-forbidden": Level.WARNING}


def test_a_release_for_other_boards() -> None:
    fleet = Fleet()
    fleet.releases[OLD] = release(OLD, "1", vendor="nvidia")
    assert codes(fleet) == {"release-vendor": Level.ERROR}


def test_a_manifest_that_nobody_signed() -> None:
    fleet = Fleet()
    fleet.releases[OLD] = release(OLD, "1", untrusted="there is no signature beside it")
    assert codes(fleet) == {"release-untrusted": Level.ERROR}
