"""`plan`: who may be touched now, and why the others wait."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from fleet.model.health import Severity
from fleet.model.ids import Autonomy, Because, NodeId, Purpose, Verb
from fleet.model.observation import Enrolment, Hold, Power
from fleet.model.order import Result, RolloutState
from fleet.model.plan import Adopted, CaseMoved, OrderChanged, OrderClosed, OrderOpened, RolloutMoved, StepEnded
from fleet.model.policy import Amount, AtDeadline, DrainPolicy, Emptying, ForeignCordon, Policy
from fleet.model.topology import Disposition
from tests.fleets import AT, NEW, OLD, Fleet, held, release, step, steps

ONE = Policy(budget={"pool": Amount(1)})
DONE = Result.DONE


class TestBudget:
    """One count over all purposes, in every domain."""

    def test_no_more_nodes_than_the_budget_allows(self) -> None:
        fleet = Fleet(policy=Policy(budget={"pool": Amount(2)}))
        fleet.roll()
        assert len(fleet.plan().steps) == 2

    def test_a_person_who_closed_a_node_uses_the_budget_too(self) -> None:
        fleet = Fleet(policy=ONE)
        fleet.cordoned("n5", by="alice")
        fleet.roll()
        found = fleet.plan()
        assert found.steps == ()
        assert held(found, "n1").reason is Because.BUDGET_FULL
        assert held(found, "n1").names == ("n5",)

    @pytest.mark.parametrize(
        "trouble", [{"power": Power.OFF}, {"reachable": False}, {"scheduler_up": False}, {"scheduler_up": None}]
    )
    def test_every_way_of_being_out_counts(self, trouble: dict[str, object]) -> None:
        fleet = Fleet(policy=ONE)
        fleet.change("n6", **trouble)
        fleet.roll()
        assert set(steps(fleet.plan())) <= {"n6"}

    def test_the_floor_rounds_up_and_the_budget_down(self) -> None:
        fleet = Fleet(5, policy=Policy(floor={"pool": Amount(percent=50)}))
        fleet.roll()
        assert len(fleet.plan().steps) == 2  # 3 of 5 must stay

    def test_a_rack_has_a_budget_of_its_own(self) -> None:
        fleet = Fleet(policy=Policy(budget={"rack": Amount(1)}))
        fleet.roll()
        assert set(steps(fleet.plan())) == {"n1", "n3", "n5"}

    def test_a_node_that_is_out_already_costs_nothing(self) -> None:
        fleet = Fleet(policy=replace(ONE, foreign_cordon=ForeignCordon.WORK))
        fleet.cordoned("n3", by="alice")
        fleet.roll()
        assert steps(fleet.plan()) == {"n3": Verb.CORDON}

    def test_a_dead_node_is_quarantined_whatever_the_budget(self) -> None:
        fleet = Fleet(policy=ONE)
        fleet.cordoned("n1", by="alice")
        fleet.case("n2")
        assert steps(fleet.plan()) == {"n2": Verb.CORDON}

    def test_an_ailing_node_waits_for_a_slot_and_goes_before_upgrades(self) -> None:
        fleet = Fleet(policy=ONE)
        fleet.case("n4", severity=Severity.DEGRADED)
        fleet.roll()
        found = fleet.plan()
        assert steps(found) == {"n4": Verb.CORDON}
        assert held(found, "n1").reason is Because.BUDGET_FULL


class TestForeign:
    """What somebody else closed stays theirs."""

    def test_a_persons_node_is_left_alone(self) -> None:
        fleet = Fleet()
        fleet.cordoned("n1", by="alice")
        fleet.roll()
        found = fleet.plan()
        assert "n1" not in steps(found)
        assert held(found, "n1").reason is Because.FOREIGN_CORDON
        assert held(found, "n1").names == ("alice",)

    def test_no_disruptive_verb_once_a_person_closed_it_in_the_middle(self) -> None:
        fleet = Fleet()
        fleet.cordoned("n1")
        fleet.cordoned("n1", by="alice")
        fleet.order("n1", (Verb.CORDON, DONE), (Verb.DRAIN, DONE))
        assert held(fleet.plan(), "n1").reason is Because.FOREIGN_CORDON


class TestWay:
    """An order goes on by what the node shows."""

    def test_drain_waits_for_the_job_and_names_it(self) -> None:
        fleet = Fleet()
        fleet.cordoned("n1")
        fleet.busy("n1", "j7")
        fleet.order("n1", (Verb.CORDON, DONE), (Verb.DRAIN, DONE))
        waiting = held(fleet.plan(), "n1")
        assert (waiting.reason, waiting.names) == (Because.DRAIN_WAITING, ("j7",))

    def test_converge_comes_when_the_work_has_left(self) -> None:
        fleet = Fleet()
        fleet.cordoned("n1")
        fleet.order("n1", (Verb.CORDON, DONE), (Verb.DRAIN, DONE))
        assert steps(fleet.plan()) == {"n1": Verb.CONVERGE}

    def test_a_process_that_the_scheduler_does_not_know_holds_the_node(self) -> None:
        fleet = Fleet()
        fleet.cordoned("n1")
        fleet.change("n1", holders=("python3[811]",))
        fleet.order("n1", (Verb.CORDON, DONE), (Verb.DRAIN, DONE))
        assert held(fleet.plan(), "n1").names == ("python3[811]",)

    def test_unknown_work_is_not_no_work(self) -> None:
        fleet = Fleet()
        fleet.cordoned("n1")
        fleet.change("n1", has_work=None)
        fleet.order("n1", (Verb.CORDON, DONE), (Verb.DRAIN, DONE))
        assert held(fleet.plan(), "n1").reason is Because.GAP

    def test_a_reboot_follows_where_the_new_driver_is_not_yet_running(self) -> None:
        fleet = Fleet()
        fleet.cordoned("n1")
        fleet.change("n1", packages={"amdgpu-dkms": "2"})
        fleet.order("n1", (Verb.CORDON, DONE), (Verb.DRAIN, DONE), (Verb.CONVERGE, DONE))
        assert steps(fleet.plan()) == {"n1": Verb.REBOOT}

    def test_a_reboot_that_nobody_saw_is_looked_for_and_not_repeated(self) -> None:
        fleet = Fleet()
        fleet.cordoned("n1")
        fleet.change("n1", packages={"amdgpu-dkms": "2"}, shown={"driver": "2"}, boot="b2")
        fleet.order("n1", (Verb.CORDON, DONE), (Verb.DRAIN, DONE), (Verb.CONVERGE, DONE), (Verb.REBOOT, Result.RUNNING))
        found = fleet.plan()
        assert found.steps == ()
        assert [c.result for c in found.changes if isinstance(c, StepEnded)] == [DONE]

    def test_an_orphan_on_the_node_is_waited_for(self) -> None:
        fleet = Fleet()
        fleet.cordoned("n1")
        fleet.change("n1", lock="o-n1")
        fleet.order("n1", (Verb.CORDON, DONE), (Verb.DRAIN, DONE), (Verb.CONVERGE, Result.RUNNING))
        found = fleet.plan()
        assert (found.steps, held(found, "n1").reason) == ((), Because.LOCK_BUSY)

    def test_no_opening_without_a_passed_verify(self) -> None:
        fleet = Fleet()
        fleet.cordoned("n1")
        fleet.upgraded("n1")
        fleet.order("n1", (Verb.CORDON, DONE), (Verb.DRAIN, DONE), (Verb.CONVERGE, DONE), (Verb.REBOOT, DONE))
        assert steps(fleet.plan()) == {"n1": Verb.VERIFY}

    def test_success_without_effect_is_a_failure(self) -> None:
        fleet = Fleet()
        fleet.cordoned("n1")
        fleet.change("n1", packages={"amdgpu-dkms": "2"})
        fleet.roll()
        fleet.order(
            "n1",
            (Verb.CORDON, DONE),
            (Verb.DRAIN, DONE),
            (Verb.CONVERGE, DONE),
            (Verb.REBOOT, DONE),
            rollout="roll",
        )
        changed = next(c for c in fleet.plan().changes if isinstance(c, OrderChanged))
        assert changed.reverting
        assert "no effect" in changed.why

    def test_a_node_that_does_not_answer_its_scheduler_is_not_opened(self) -> None:
        fleet = Fleet()
        fleet.cordoned("n1")
        fleet.upgraded("n1")
        fleet.change("n1", scheduler_up=False)
        fleet.order(
            "n1",
            (Verb.CORDON, DONE),
            (Verb.DRAIN, DONE),
            (Verb.CONVERGE, DONE),
            (Verb.REBOOT, DONE),
            (Verb.VERIFY, DONE),
        )
        assert held(fleet.plan(), "n1").reason is Because.OUT_OF_REACH

    def test_an_order_that_has_opened_its_node_closes(self) -> None:
        fleet = Fleet()
        fleet.upgraded("n1")
        walk = (Verb.CORDON, Verb.DRAIN, Verb.CONVERGE, Verb.REBOOT, Verb.VERIFY, Verb.UNCORDON)
        fleet.order("n1", *((verb, DONE) for verb in walk))
        assert [c.good for c in fleet.plan().changes if isinstance(c, OrderClosed)] == [True]


class TestRollout:
    """Canary, gates, failures, the end."""

    def test_the_canary_goes_alone(self) -> None:
        fleet = Fleet(policy=Policy(canary=1))
        fleet.roll()
        found = fleet.plan()
        assert set(steps(found)) == {"n1"}
        assert next(c for c in found.changes if isinstance(c, OrderOpened)).canary
        assert held(found, "n2").reason is Because.CANARY_PENDING

    def test_an_idle_node_is_the_canary_before_a_busy_one(self) -> None:
        fleet = Fleet(policy=Policy(canary=1))
        for name in ("n1", "n2"):
            fleet.busy(name)
        fleet.roll()
        assert set(steps(fleet.plan())) == {"n3"}

    def test_the_canary_soaks_before_it_is_opened(self) -> None:
        fleet = Fleet(policy=Policy(canary=1, soak=timedelta(hours=1)))
        fleet.cordoned("n1")
        fleet.upgraded("n1")
        walk = (Verb.CORDON, Verb.DRAIN, Verb.CONVERGE, Verb.REBOOT, Verb.VERIFY)
        fleet.order("n1", *((verb, DONE) for verb in walk), canary=True)
        assert held(fleet.plan(), "n1").reason is Because.SOAKING

    def test_a_failed_canary_halts_and_goes_back(self) -> None:
        fleet = Fleet(policy=Policy(canary=1))
        fleet.cordoned("n1")
        fleet.upgraded("n1")
        fleet.roll(canaries=(NodeId("n1"),))
        walk = ((Verb.CORDON, DONE), (Verb.DRAIN, DONE), (Verb.CONVERGE, DONE), (Verb.REBOOT, DONE))
        fleet.order("n1", *walk, (Verb.VERIFY, Result.FAILED), rollout="roll", canary=True)
        found = fleet.plan()
        assert found.steps == ()
        moved = next(c for c in found.changes if isinstance(c, RolloutMoved))
        assert (moved.state, moved.failed) == (RolloutState.HALTED, ("n1",))
        changed = next(c for c in found.changes if isinstance(c, OrderChanged))
        assert (changed.reverting, changed.release) == (True, OLD)
        assert held(found, "n2").reason in {Because.ROLLOUT_HALTED, Because.CANARY_PENDING}

    def test_going_back_installs_the_release_before(self) -> None:
        fleet = Fleet()
        fleet.cordoned("n1")
        fleet.upgraded("n1")
        walk = ((Verb.CORDON, DONE), (Verb.DRAIN, DONE), (Verb.CONVERGE, DONE), (Verb.REBOOT, DONE))
        fleet.order("n1", *walk, (Verb.VERIFY, Result.FAILED), release=OLD, reverting=True, mark=5)
        assert steps(fleet.plan()) == {"n1": Verb.REVERT}

    def test_after_a_halt_nothing_new_begins(self) -> None:
        fleet = Fleet()
        fleet.roll(state=RolloutState.HALTED, why="canary n1 failed")
        found = fleet.plan()
        assert found.steps == ()
        assert held(found, "n2").text == "canary n1 failed"

    def test_done_means_all_of_them(self) -> None:
        fleet = Fleet()
        for name in list(fleet.seen)[:-1]:
            fleet.upgraded(name)
        fleet.cordoned("n6", by="alice")
        fleet.roll()
        assert not [c for c in fleet.plan().changes if isinstance(c, RolloutMoved)]
        fleet.upgraded("n6")
        assert next(c for c in fleet.plan().changes if isinstance(c, RolloutMoved)).state is RolloutState.DONE

    def test_policy_that_takes_idle_nodes_only(self) -> None:
        fleet = Fleet(policy=Policy(drain=DrainPolicy(how=Emptying.IDLE)))
        fleet.busy("n1")
        fleet.roll()
        assert held(fleet.plan(), "n1").reason is Because.DRAIN_WAITING

    def test_after_the_deadline_work_is_requeued_only_where_policy_says_so(self) -> None:
        for then, expected in ((AtDeadline.WAIT, {}), (AtDeadline.REQUEUE, {"n1": Verb.DRAIN})):
            fleet = Fleet(policy=Policy(drain=DrainPolicy(deadline=timedelta(hours=1), then=then)))
            fleet.cordoned("n1")
            fleet.busy("n1")
            fleet.order("n1", (Verb.CORDON, DONE), (Verb.DRAIN, DONE), waited=timedelta(hours=2))
            assert steps(fleet.plan()) == expected

    def test_an_untrusted_release_is_not_begun(self) -> None:
        fleet = Fleet()
        fleet.releases[NEW] = release(NEW, "2", untrusted="no signature")
        fleet.roll()
        assert held(fleet.plan(), "n1").reason is Because.UNTRUSTED


class TestPeople:
    """Words that people say hold."""

    @pytest.mark.parametrize(("kind", "reason"), [("stop", Because.STOPPED), ("freeze", Because.FROZEN)])
    def test_stop_and_freeze(self, kind: str, reason: Because) -> None:
        fleet = Fleet()
        fleet.records["holds"] = (Hold(kind, (), "alice", "exam week", AT),)
        fleet.roll()
        found = fleet.plan()
        assert found.steps == ()
        assert held(found, "n1").reason is reason

    def test_repairs_go_on_under_a_freeze(self) -> None:
        fleet = Fleet()
        fleet.records["holds"] = (Hold("freeze", (), "alice", "exam week", AT),)
        fleet.case("n1")
        assert steps(fleet.plan()) == {"n1": Verb.CORDON}

    def test_after_stop_no_disruptive_verb_begins_and_the_node_is_still_opened(self) -> None:
        fleet = Fleet()
        fleet.records["holds"] = (Hold("stop", (), "alice", "", AT),)
        fleet.cordoned("n1")
        fleet.order("n1", (Verb.CORDON, DONE), (Verb.DRAIN, DONE))
        assert held(fleet.plan(), "n1").reason is Because.STOPPED

    def test_autonomy_observe_begins_nothing_and_propose_waits_for_approval(self) -> None:
        for autonomy, reason in (
            (Autonomy.OBSERVE, Because.OBSERVE_ONLY),
            (Autonomy.PROPOSE, Because.APPROVAL_MISSING),
        ):
            fleet = Fleet(policy=Policy(autonomy={Purpose.REPAIR: autonomy}))
            fleet.case("n1")
            found = fleet.plan()
            assert found.steps == ()
            assert held(found, "n1").reason is reason
        fleet.records["approvals"] = {"repair:n1:c-n1": "alice"}
        assert steps(fleet.plan()) == {"n1": Verb.CORDON}

    def test_retirement_waits_for_a_persons_confirmation(self) -> None:
        fleet = Fleet()
        fleet.nodes[NodeId("n1")] = replace(fleet.nodes[NodeId("n1")], disposition=Disposition.RETIRED)
        assert held(fleet.plan(), "n1").reason is Because.CONFIRMATION_MISSING
        fleet.records["confirmations"] = {NodeId("n1"): "alice"}
        assert steps(fleet.plan()) == {"n1": Verb.CORDON}


class TestRepair:
    """Cases climb the ladder and end in verify."""

    def test_the_rung_that_policy_names_comes_first(self) -> None:
        fleet = Fleet(policy=Policy(first_rung={"xid_79": Verb.REBOOT}))
        fleet.case("n1")
        assert next(c for c in fleet.plan().changes if isinstance(c, OrderOpened)).rung is Verb.REBOOT

    def test_failure_climbs_and_never_descends(self) -> None:
        fleet = Fleet(policy=Policy(ladder=(Verb.REBOOT, Verb.POWER_CYCLE, Verb.RMA)))
        fleet.cordoned("n1")
        fleet.case("n1")
        walk = ((Verb.CORDON, DONE), (Verb.DRAIN, DONE), (Verb.REBOOT, DONE), (Verb.VERIFY, Result.FAILED))
        fleet.order("n1", *walk, purpose=Purpose.REPAIR, rung=Verb.REBOOT)
        assert next(c for c in fleet.plan().changes if isinstance(c, OrderChanged)).rung is Verb.POWER_CYCLE

    def test_the_end_of_the_ladder_is_a_person(self) -> None:
        fleet = Fleet(policy=Policy(ladder=(Verb.REBOOT, Verb.RMA)))
        fleet.cordoned("n1")
        fleet.case("n1")
        walk = ((Verb.CORDON, DONE), (Verb.DRAIN, DONE), (Verb.REBOOT, DONE), (Verb.VERIFY, Result.FAILED))
        fleet.order("n1", *walk, purpose=Purpose.REPAIR, rung=Verb.REBOOT)
        assert next(c for c in fleet.plan().changes if isinstance(c, OrderChanged)).rung is Verb.RMA
        fleet.order("n1", *walk, purpose=Purpose.REPAIR, rung=Verb.RMA, mark=4)
        assert held(fleet.plan(), "n1").reason is Because.AWAITING_HANDS

    def test_what_a_person_gives_back_is_verified(self) -> None:
        fleet = Fleet()
        fleet.cordoned("n1")
        fleet.case("n1")
        fleet.order(
            "n1", (Verb.CORDON, DONE), (Verb.DRAIN, DONE), (Verb.RMA, DONE), purpose=Purpose.REPAIR, rung=Verb.RMA
        )
        assert steps(fleet.plan()) == {"n1": Verb.VERIFY}

    def test_a_case_closes_with_the_order_that_proved_it(self) -> None:
        fleet = Fleet()
        fleet.case("n1")
        walk = (Verb.CORDON, Verb.DRAIN, Verb.REBOOT, Verb.VERIFY, Verb.UNCORDON)
        fleet.order("n1", *((verb, DONE) for verb in walk), purpose=Purpose.REPAIR, rung=Verb.REBOOT)
        closed = next(c for c in fleet.plan().changes if isinstance(c, CaseMoved))
        assert closed.case.closed == AT

    def test_a_repair_takes_over_an_upgrade(self) -> None:
        fleet = Fleet()
        fleet.cordoned("n1")
        fleet.case("n1")
        fleet.order("n1", (Verb.CORDON, DONE))
        changed = next(c for c in fleet.plan().changes if isinstance(c, OrderChanged))
        assert changed.purpose is Purpose.REPAIR


class TestFirstSight:
    """Nodes that are new to the ledger."""

    def test_a_serving_node_is_adopted_with_what_it_carries(self) -> None:
        fleet = Fleet(1)
        fleet.enrolled[NodeId("n1")] = Enrolment(NodeId("n1"), "S1")
        found = fleet.plan()
        assert found.steps == ()
        assert [c.release for c in found.changes if isinstance(c, Adopted)] == [OLD]

    def test_a_node_that_never_served_is_enrolled(self) -> None:
        fleet = Fleet(1)
        fleet.enrolled[NodeId("n1")] = Enrolment(NodeId("n1"), "S1")
        fleet.cordoned("n1", by="fleet")
        assert next(c for c in fleet.plan().changes if isinstance(c, OrderOpened)).purpose is Purpose.ENROL

    def test_a_node_that_is_not_enrolled_says_what_to_run(self) -> None:
        fleet = Fleet(1)
        fleet.enrolled.clear()
        assert "pulumi up" in held(fleet.plan(), "n1").text


class TestDrift:
    """Observed differs from applied."""

    def test_drift_is_corrected_towards_what_was_applied(self) -> None:
        fleet = Fleet()
        fleet.change("n2", packages={"amdgpu-dkms": "9"})
        opened = next(c for c in fleet.plan().changes if isinstance(c, OrderOpened))
        assert (opened.node, opened.purpose, opened.release) == ("n2", Purpose.CORRECT, OLD)

    def test_what_could_not_be_seen_is_not_drift(self) -> None:
        fleet = Fleet()
        fleet.change("n2", packages={}, shown={})
        assert fleet.plan().steps == ()


def test_a_clock_that_jumped_opens_nothing() -> None:
    fleet = Fleet(clocks=(AT - timedelta(hours=3),) * 3)
    fleet.roll()
    assert held(fleet.plan(), "n1").reason is Because.CLOCK_JUMP


def test_the_reason_carries_the_orders_purpose() -> None:
    fleet = Fleet()
    fleet.roll()
    assert step(fleet.plan(), "n1").order.startswith("upgrade-n1-")


def test_a_node_whose_closing_is_under_way_counts_as_out() -> None:
    fleet = Fleet(policy=ONE)
    fleet.order("n1", (Verb.CORDON, Result.RUNNING))
    fleet.in_flight = frozenset({fleet.orders[NodeId("n1")].id})
    fleet.roll()
    assert fleet.plan().steps == ()


def test_a_repair_leaves_the_baseline_as_it_was() -> None:
    fleet = Fleet()
    walk = (Verb.CORDON, Verb.DRAIN, Verb.REBOOT, Verb.VERIFY, Verb.UNCORDON)
    fleet.order("n1", *((verb, DONE) for verb in walk), purpose=Purpose.REPAIR, rung=Verb.REBOOT)
    assert next(c for c in fleet.plan().changes if isinstance(c, OrderClosed)).applied is None


def test_a_ledger_that_is_an_old_copy_only_looks() -> None:
    fleet = Fleet()
    fleet.records["token"] = 40
    fleet.change("n3", token=41)
    fleet.roll()
    found = fleet.plan()
    assert found.steps == ()
    assert held(found, "n1").reason is Because.OBSERVE_ONLY
    assert "old copy" in held(found, "n1").text
