"""What a person is shown before a rollout begins."""

from __future__ import annotations

from fleet.model.ids import Because, PoolId, ReleaseId
from fleet.model.policy import Amount, Policy
from fleet.planning.preview import preview
from tests.fleets import NEW, Fleet, release


def show(fleet: Fleet, target: ReleaseId = NEW):  # type: ignore[no-untyped-def]
    return preview(fleet.declared(), fleet.observed(), PoolId("train"), target)


def test_canary_first_then_the_others() -> None:
    found = show(Fleet(policy=Policy(canary=1, budget={"pool": Amount(2)})))
    assert found.waves == (("n1",), ("n2", "n3", "n4", "n5", "n6"))
    assert found.bound_seconds <= found.predicted_seconds
    assert (found.budget, found.lowest) == (2, 4)


def test_nodes_on_the_release_already_are_left_out() -> None:
    fleet = Fleet()
    fleet.upgraded("n1")
    assert show(fleet).already == ("n1",)


def test_a_persons_node_is_named_as_held() -> None:
    fleet = Fleet()
    fleet.cordoned("n3", by="alice")
    found = show(fleet)
    assert [(held.node, held.reason) for held in found.held] == [("n3", Because.FOREIGN_CORDON)]


def test_a_budget_that_can_never_be_met_is_refused() -> None:
    found = show(Fleet(policy=Policy(budget={"pool": Amount(percent=10)})))
    assert found.refused is not None
    assert found.refused.reason == "unmeetable"


def test_an_unsigned_release_is_refused() -> None:
    fleet = Fleet()
    fleet.releases[NEW] = release(NEW, "2", untrusted="no signature beside it")
    refused = show(fleet).refused
    assert refused is not None
    assert refused.reason == "unsigned"


def test_the_identity_is_of_what_is_decided_and_not_of_what_is_seen() -> None:
    fleet = Fleet(policy=Policy(budget={"pool": Amount(2)}))
    before = show(fleet).identity
    fleet.busy("n4")
    assert show(fleet).identity == before
    assert show(Fleet(policy=Policy(budget={"pool": Amount(3)}))).identity != before
