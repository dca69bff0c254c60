"""The ledger keeps what can't be seen by looking at nodes: orders, steps, rollouts, cases, enrolments."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from fleet.adapters.ledger_sql import SqlLedger, open_ledger
from fleet.errors import LedgerError, NoLease
from fleet.model.health import Case, Severity
from fleet.model.ids import CaseId, NodeId, OrderId, PoolId, Purpose, ReleaseId, RolloutId, Verb
from fleet.model.observation import Enrolment, Hold
from fleet.model.order import Again, Done, Failed, Lost, Result, Rollout, RolloutState, StepRecord
from fleet.model.plan import Adopted, CaseMoved, OrderChanged, OrderClosed, OrderOpened, RolloutMoved, StepEnded
from tests.adapters.ledgers import AT, HOLDER, N1, O1, R2, TTL, later, opened, order, step, walked

R1 = ReleaseId("amd-2026.1")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[SqlLedger]:
    with opened(tmp_path) as found:
        yield found


def test_a_new_ledger_holds_nothing(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "deep" / "down" / "ledger.db") as ledger:
        found = ledger.records()
    assert not found.orders
    assert not found.enrolled
    assert found.last_entry is None
    assert found.observe_only == ""


class TestOrders:
    def test_opened_changed_and_read_back(self, ledger: SqlLedger) -> None:
        order(ledger)
        walked(ledger, Verb.CORDON)
        ledger.commit(
            [OrderChanged(O1, purpose=Purpose.REPAIR, rung=Verb.REBOOT, why="it fell ill")], HOLDER, later(hours=1)
        )
        found = ledger.records().orders[N1]
        assert (found.id, found.purpose, found.release, found.rung) == (O1, Purpose.REPAIR, R2, Verb.REBOOT)
        assert found.mark == 1, "the cordon belongs to the purpose before"
        assert found.moved == later(hours=1)

    def test_handing_over_is_no_new_start(self, ledger: SqlLedger) -> None:
        order(ledger)
        walked(ledger, Verb.CORDON)
        ledger.commit([OrderChanged(O1, hands=True)], HOLDER, later(hours=1))
        found = ledger.records().orders[N1]
        assert found.hands
        assert (found.mark, found.moved) == (0, AT)

    def test_a_node_has_one_open_order(self, ledger: SqlLedger) -> None:
        order(ledger)
        with pytest.raises(LedgerError, match="order o1 is open"):
            ledger.commit([OrderOpened(OrderId("o2"), N1, Purpose.REPAIR)], HOLDER, AT)

    def test_a_commit_is_all_or_nothing(self, ledger: SqlLedger) -> None:
        before = ledger.head()
        twice = [OrderOpened(O1, N1, Purpose.UPGRADE), OrderOpened(OrderId("o2"), N1, Purpose.REPAIR)]
        with pytest.raises(LedgerError):
            ledger.commit(twice, HOLDER, AT)
        assert not ledger.records().orders
        assert ledger.head() == before

    @pytest.mark.parametrize("purpose", [Purpose.UPGRADE, Purpose.CORRECT, Purpose.ENROL])
    def test_success_moves_the_baseline(self, ledger: SqlLedger, purpose: Purpose) -> None:
        order(ledger, purpose)
        walked(ledger, Verb.VERIFY)
        ledger.commit([OrderClosed(O1, N1, good=True, applied=R2)], HOLDER, later(hours=1))
        found = ledger.records()
        assert N1 not in found.orders
        assert found.enrolled[N1].applied == R2
        assert found.enrolled[N1].served
        assert found.enrolled[N1].fit_since == later(hours=1)

    def test_a_repair_leaves_the_baseline(self, ledger: SqlLedger) -> None:
        ledger.commit([Adopted(N1, R1)], HOLDER, AT)
        order(ledger, Purpose.REPAIR)
        ledger.commit([OrderClosed(O1, N1, good=True)], HOLDER, later(hours=1))
        assert ledger.records().enrolled[N1].applied == R1

    def test_going_back_marks_the_release_that_failed(self, ledger: SqlLedger) -> None:
        ledger.commit([Adopted(N1, R1)], HOLDER, AT)
        order(ledger)
        ledger.commit([OrderChanged(O1, release=R1, reverting=True)], HOLDER, AT)
        walked(ledger, Verb.VERIFY)
        ledger.commit([OrderClosed(O1, N1, good=False, applied=R1)], HOLDER, later(hours=1))
        found = ledger.records().enrolled[N1]
        assert (found.applied, found.bad_releases, found.served) == (R1, (R2,), True)
        assert found.fit_since == later(hours=1)

    def test_a_repair_begins_a_probation_and_remembers_its_tries(self, ledger: SqlLedger) -> None:
        for hours, rungs in ((1, (Verb.RESET_GPU, Verb.REBOOT)), (5, (Verb.REBOOT,))):
            order_id = OrderId(f"repair-{hours}")
            ledger.commit([OrderOpened(order_id, N1, Purpose.REPAIR)], HOLDER, later(hours=hours))
            closed = OrderClosed(order_id, N1, good=True, probation_until=later(days=1, hours=hours), rungs=rungs)
            ledger.commit([closed], HOLDER, later(hours=hours))
        found = ledger.records().enrolled[N1]
        assert (found.probation_until, found.probation_rung) == (later(days=1, hours=5), "reboot")
        assert found.tries == (
            (later(hours=1), Verb.RESET_GPU),
            (later(hours=1), Verb.REBOOT),
            (later(hours=5), Verb.REBOOT),
        )

    def test_failure_does_not_bring_into_service(self, ledger: SqlLedger) -> None:
        order(ledger, Purpose.ENROL)
        ledger.commit([OrderClosed(O1, N1, good=False)], HOLDER, AT)
        assert not ledger.records().enrolled.get(N1, Enrolment(N1, "")).served

    def test_retirement_keeps_its_certificate_and_needs_a_new_word_next_time(self, ledger: SqlLedger) -> None:
        ledger.confirm(N1, "alice", AT)
        assert ledger.records().confirmations == {N1: "alice"}
        order(ledger, Purpose.RETIRE, None)
        ledger.commit([OrderClosed(O1, N1, good=True, certificate="/c/n1.json")], HOLDER, AT)
        found = ledger.records()
        assert found.enrolled[N1].retired
        assert found.enrolled[N1].certificate == "/c/n1.json"
        assert not found.confirmations

    def test_a_closed_order_can_not_change(self, ledger: SqlLedger) -> None:
        order(ledger)
        ledger.commit([OrderClosed(O1, N1, good=True)], HOLDER, AT)
        with pytest.raises(LedgerError, match="not open"):
            ledger.commit([OrderChanged(O1, hands=True)], HOLDER, AT)

    def test_waiting_adds_up(self, ledger: SqlLedger) -> None:
        order(ledger)
        ledger.waited(O1, 1.5)
        ledger.waited(O1, 2.5)
        assert ledger.records().orders[N1].waited == timedelta(seconds=4)


class TestSteps:
    def test_written_before_it_begins(self, ledger: SqlLedger, tmp_path: Path) -> None:
        order(ledger)
        token = ledger.begin(step(Verb.REBOOT), StepRecord(Verb.REBOOT, 0, AT, boot="b1", firmware="f1"), HOLDER)
        with open_ledger(tmp_path / "ledger.db") as other:
            running = other.records().orders[N1].running
        assert running == StepRecord(Verb.REBOOT, token, AT, boot="b1", firmware="f1")

    @pytest.mark.parametrize(
        ("outcome", "result", "detail"),
        [
            (Done("fine"), Result.DONE, "fine"),
            (Again(timedelta(seconds=5), "busy"), Result.AGAIN, "busy"),
            (Failed("no"), Result.FAILED, "no"),
            (Lost("silence"), Result.LOST, "silence"),
        ],
    )
    def test_ends(self, ledger: SqlLedger, outcome: Done, result: Result, detail: str) -> None:
        order(ledger)
        walked(ledger, Verb.CONVERGE, outcome)
        last = ledger.records().orders[N1].steps[-1]
        assert (last.result, last.detail, last.ended) == (result, detail, later(minutes=1))

    def test_tokens_rise_over_the_whole_ledger(self, ledger: SqlLedger) -> None:
        order(ledger)
        n2 = NodeId("n2")
        ledger.commit([OrderOpened(OrderId("o2"), n2, Purpose.REPAIR)], HOLDER, AT)
        first = walked(ledger, Verb.CORDON)
        second = ledger.begin(step(Verb.CORDON, OrderId("o2"), n2), StepRecord(Verb.CORDON, 0, AT), HOLDER)
        third = walked(ledger, Verb.DRAIN)
        assert first < second < third == ledger.highest_token()

    def test_two_steps_of_one_order_never_run_at_once(self, ledger: SqlLedger) -> None:
        order(ledger)
        ledger.begin(step(), StepRecord(Verb.CORDON, 0, AT), HOLDER)
        with pytest.raises(NoLease, match="has no end yet"):
            ledger.begin(step(Verb.DRAIN), StepRecord(Verb.DRAIN, 0, AT), HOLDER)

    def test_no_step_without_an_open_order(self, ledger: SqlLedger) -> None:
        with pytest.raises(LedgerError, match="not open"):
            ledger.begin(step(), StepRecord(Verb.CORDON, 0, AT), HOLDER)

    def test_only_the_running_token_ends_a_step(self, ledger: SqlLedger) -> None:
        order(ledger)
        old = ledger.begin(step(), StepRecord(Verb.CORDON, 0, AT), HOLDER)
        ledger.commit([StepEnded(O1, Result.LOST, "found by looking")], HOLDER, AT)
        new = ledger.begin(step(), StepRecord(Verb.CORDON, 0, AT), HOLDER)
        ledger.end(step(), old, Done("late"), AT)
        first, second = ledger.records().orders[N1].steps
        assert (first.token, first.result) == (old, Result.LOST)
        assert (second.token, second.result) == (new, Result.RUNNING)
        assert ledger.trail(limit=1)[0].what == "end ignored"

    def test_an_end_found_by_looking_comes_too_late_for_nothing(self, ledger: SqlLedger) -> None:
        order(ledger)
        walked(ledger, Verb.CORDON)
        ledger.commit([StepEnded(O1, Result.LOST, "found by looking")], HOLDER, AT)
        assert ledger.records().orders[N1].steps[-1].result is Result.DONE

    def test_still_ours_until_it_ends(self, ledger: SqlLedger) -> None:
        order(ledger)
        token = ledger.begin(step(), StepRecord(Verb.CORDON, 0, AT), HOLDER)
        assert ledger.still_ours(N1, token)
        assert not ledger.still_ours(N1, token - 1)
        assert not ledger.still_ours(NodeId("n2"), token)
        ledger.end(step(), token, Done(), AT)
        assert not ledger.still_ours(N1, token)

    def test_threads_share_one_ledger(self, ledger: SqlLedger) -> None:
        names = [NodeId(f"t{number}") for number in range(8)]
        ledger.commit([OrderOpened(OrderId(f"o-{name}"), name, Purpose.REPAIR) for name in names], HOLDER, AT)

        def work(name: NodeId) -> None:
            own = step(Verb.CORDON, OrderId(f"o-{name}"), name)
            for _ in range(10):
                token = ledger.begin(own, StepRecord(Verb.CORDON, 0, AT), HOLDER)
                ledger.end(own, token, Done(), AT)

        threads = [threading.Thread(target=work, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        found = ledger.records().orders
        tokens = [record.token for name in names for record in found[name].steps]
        assert sorted(tokens) == list(range(1, 81))
        assert ledger.verify_trail().good


class TestLease:
    def test_one_at_a_time(self, ledger: SqlLedger) -> None:
        assert not ledger.take("ctl:2", later(seconds=TTL - 1), TTL)
        assert ledger.renew(HOLDER, later(seconds=20), TTL)
        assert not ledger.take("ctl:2", later(seconds=TTL + 1), TTL), "it was renewed meanwhile"

    def test_taken_over_after_silence(self, ledger: SqlLedger) -> None:
        order(ledger)
        token = ledger.begin(step(), StepRecord(Verb.CORDON, 0, AT), HOLDER)
        assert ledger.take("ctl:2", later(seconds=TTL), TTL)
        assert not ledger.renew(HOLDER, later(seconds=TTL), TTL)
        assert not ledger.still_ours(N1, token), "what the old one still does is fenced off"
        with pytest.raises(NoLease, match="held by ctl:2"):
            ledger.begin(step(Verb.DRAIN), StepRecord(Verb.DRAIN, 0, AT), HOLDER)
        with pytest.raises(NoLease, match="taken over"):
            ledger.commit([OrderChanged(O1, hands=True)], HOLDER, AT)
        assert ledger.trail(limit=1)[0].what == "lease taken"

    def test_a_slow_pass_loses_nothing_that_nobody_took(self, ledger: SqlLedger) -> None:
        order(ledger)
        assert ledger.begin(step(), StepRecord(Verb.CORDON, 0, later(seconds=10 * TTL)), HOLDER)

    def test_given_back_at_once(self, ledger: SqlLedger) -> None:
        ledger.give("somebody else")
        assert not ledger.take("ctl:2", AT, TTL)
        ledger.give(HOLDER)
        assert ledger.take("ctl:2", AT, TTL)

    def test_without_it_nothing_begins(self, tmp_path: Path) -> None:
        with open_ledger(tmp_path / "ledger.db") as ledger:
            order(ledger)
            with pytest.raises(NoLease, match="nobody"):
                ledger.begin(step(), StepRecord(Verb.CORDON, 0, AT), HOLDER)

    def test_a_person_needs_none(self, ledger: SqlLedger) -> None:
        rollout(ledger)
        ledger.commit([RolloutMoved(RolloutId("r1"), RolloutState.PAUSED, "lunch")], "alice", AT)
        assert ledger.records().rollouts[RolloutId("r1")].state is RolloutState.PAUSED


def rollout(ledger: SqlLedger, name: str = "r1", pool: str = "train", **more: object) -> None:
    made = Rollout(RolloutId(name), PoolId(pool), R2, AT, RolloutState.RUNNING, (N1,), by="alice", plan="p1")
    ledger.open_rollout(replace(made, **more), "alice")  # type: ignore[arg-type]


class TestRollouts:
    def test_moves(self, ledger: SqlLedger) -> None:
        rollout(ledger)
        moved = RolloutMoved(RolloutId("r1"), RolloutState.HALTED, "the canary failed", (N1,), (), (N1,))
        ledger.commit([moved], HOLDER, later(minutes=5))
        found = ledger.records().rollouts[RolloutId("r1")]
        assert (found.state, found.why, found.canaries, found.failed) == (moved.state, moved.why, (N1,), (N1,))
        assert (found.changed, found.plan, found.by) == (later(minutes=5), "p1", "alice")

    def test_standing_still_is_not_told(self, ledger: SqlLedger) -> None:
        rollout(ledger)
        before = ledger.head()
        ledger.commit([RolloutMoved(RolloutId("r1"), RolloutState.RUNNING)], HOLDER, AT)
        assert ledger.head() == before

    def test_resumed_by_a_person(self, ledger: SqlLedger) -> None:
        rollout(ledger)
        ledger.commit([RolloutMoved(RolloutId("r1"), RolloutState.HALTED, failed=(N1,))], HOLDER, AT)
        ledger.resume(RolloutId("r1"), "alice", AT)
        found = ledger.records().rollouts[RolloutId("r1")]
        assert (found.state, found.failed, found.resumed) == (RolloutState.RUNNING, (), 1)

    def test_a_newer_one_supersedes(self, ledger: SqlLedger) -> None:
        rollout(ledger)
        rollout(ledger, "r2", opened=later(hours=1))
        assert set(ledger.records().rollouts) == {"r2"}, "an ended one is kept in the trail, not in the records"
        assert [entry.detail["rollout"] for entry in ledger.trail() if entry.what == "rollout moved"] == ["r1"]

    def test_records_hold_the_last_of_each_pool(self, ledger: SqlLedger) -> None:
        for number, pool in enumerate(["train", "train", "infer"]):
            rollout(ledger, f"r{number}", pool, state=RolloutState.DONE, opened=later(hours=number))
        assert set(ledger.records().rollouts) == {"r1", "r2"}

    def test_an_unknown_one_is_refused(self, ledger: SqlLedger) -> None:
        with pytest.raises(LedgerError, match="no such rollout"):
            ledger.commit([RolloutMoved(RolloutId("r9"), RolloutState.DONE)], HOLDER, AT)


def case(severity: Severity = Severity.FATAL, **more: object) -> Case:
    made = Case(CaseId("c1"), N1, ("xid_79",), severity, AT, AT, "gpu 3", ("NVRM: Xid 79",))
    return replace(made, **more)  # type: ignore[arg-type]


class TestCases:
    def test_opened_and_closed(self, ledger: SqlLedger) -> None:
        ledger.commit([CaseMoved(case(), "it fell off the bus")], HOLDER, AT)
        assert ledger.records().cases == {N1: case()}
        ledger.commit([CaseMoved(case(closed=later(hours=1)))], HOLDER, later(hours=1))
        found = ledger.records()
        assert not found.cases
        assert found.quarantined_at == ((AT, N1),), "the breaker still counts it"

    def test_a_note_is_no_quarantine(self, ledger: SqlLedger) -> None:
        ledger.commit([CaseMoved(case(Severity.WATCH, closed=AT))], HOLDER, AT)
        assert ledger.records().quarantined_at == ()

    def test_the_breaker_forgets(self, ledger: SqlLedger) -> None:
        ledger.commit([CaseMoved(case(closed=AT))], HOLDER, AT)
        ledger.note(None, "alice", "note", "a week goes by", later(days=7))
        assert ledger.records().quarantined_at == ()

    def test_seen_again_is_kept_and_not_told(self, ledger: SqlLedger) -> None:
        ledger.commit([CaseMoved(case())], HOLDER, AT)
        before = ledger.head()
        ledger.commit([CaseMoved(case(last_seen=later(minutes=1)))], HOLDER, later(minutes=1))
        assert ledger.head() == before
        assert ledger.records().cases[N1].last_seen == later(minutes=1)


class TestEnrolment:
    def test_enrolled_and_found_by_serial(self, ledger: SqlLedger) -> None:
        new = Enrolment(N1, "S1", "ssh-ed25519 AAAA")
        ledger.enrol(new, "pulumi")
        assert ledger.enrolment(N1) == ledger.by_serial("S1") == new
        assert ledger.by_serial("") is None

    def test_enrolled_again_keeps_what_is_known(self, ledger: SqlLedger) -> None:
        ledger.enrol(Enrolment(N1, "S1"), "pulumi")
        ledger.commit([Adopted(N1, R1)], HOLDER, AT)
        before = ledger.head()
        ledger.enrol(Enrolment(N1, "S1"), "pulumi")
        assert ledger.head() == before, "nothing new, nothing told"
        ledger.enrol(Enrolment(N1, "S1", "ssh-ed25519 BBBB"), "pulumi")
        found = ledger.records().enrolled[N1]
        assert (found.applied, found.served, found.host_key) == (R1, True, "ssh-ed25519 BBBB")

    def test_another_machine_under_the_id_starts_anew(self, ledger: SqlLedger) -> None:
        ledger.enrol(Enrolment(N1, "S1"), "pulumi")
        ledger.commit([Adopted(N1, R1)], HOLDER, AT)
        ledger.enrol(Enrolment(N1, "S2"), "pulumi")
        found = ledger.records().enrolled[N1]
        assert (found.serial, found.applied, found.served) == ("S2", None, False)

    def test_one_machine_has_one_id(self, ledger: SqlLedger) -> None:
        ledger.enrol(Enrolment(N1, "S1"), "pulumi")
        with pytest.raises(LedgerError, match="enrolled as n1"):
            ledger.enrol(Enrolment(NodeId("n2"), "S1"), "pulumi")

    def test_deleted_only_with_its_certificate(self, ledger: SqlLedger) -> None:
        ledger.enrol(Enrolment(N1, "S1"), "pulumi")
        with pytest.raises(LedgerError, match="not retired"):
            ledger.released(N1, "pulumi")
        order(ledger, Purpose.RETIRE, None)
        ledger.commit([OrderClosed(O1, N1, good=True)], HOLDER, AT)
        with pytest.raises(LedgerError, match="certificate is missing"):
            ledger.released(N1, "pulumi")
        ledger.certify(N1, "/c/n1.json", HOLDER, AT)
        ledger.released(N1, "pulumi")
        assert N1 not in ledger.records().enrolled
        with pytest.raises(LedgerError, match="never returns"):
            ledger.enrol(Enrolment(N1, "S9"), "pulumi")
        ledger.enrol(Enrolment(NodeId("n9"), "S1"), "pulumi")

    def test_adopted(self, ledger: SqlLedger) -> None:
        ledger.commit([Adopted(N1, R1, why="it serves")], HOLDER, AT)
        found = ledger.records().enrolled[N1]
        assert (found.applied, found.served, found.fit_since) == (R1, True, AT)


class TestPeople:
    def test_holds_are_kept_until_lifted(self, ledger: SqlLedger) -> None:
        n2 = NodeId("n2")
        word = Hold("freeze", (N1, n2), "alice", "audit", AT, later(days=1))
        ledger.hold(word)
        ledger.hold(Hold("stop", (), "bob", "smoke", AT))
        assert ledger.lift("freeze", (N1,), "alice", "audited", AT) == 1
        assert [hold.nodes for hold in ledger.records().holds] == [(n2,), ()]
        assert ledger.lift("stop", (), "bob", "no fire", AT) == 1
        assert ledger.lift("stop", (), "bob", "again", AT) == 0
        assert [hold.kind for hold in ledger.records().holds] == ["freeze"]

    def test_a_word_about_all_is_not_lifted_for_one(self, ledger: SqlLedger) -> None:
        ledger.hold(Hold("stop", (), "bob", "smoke", AT))
        assert ledger.lift("stop", (N1,), "bob", "not here", AT) == 0

    def test_approvals(self, ledger: SqlLedger) -> None:
        order(ledger)
        ledger.approve(O1, "alice", "SIG", AT)
        ledger.approve("plan-1", "bob", "SIG", AT)
        found = ledger.records()
        assert found.approvals == {O1: "alice", "plan-1": "bob"}
        assert found.orders[N1].approved_by == "alice"

    @pytest.mark.parametrize(
        ("asked", "answers"),
        [
            ([("amd-2026.1", 1), ("amd-2026.2", 2), ("amd-2026.1", 1)], [True, True, True]),
            ([("amd-2026.2", 2), ("amd-2026.1", 1)], [True, False]),
            ([("amd-2026.2", 2), ("amd-2026.2", 1), ("amd-2026.2", 3)], [True, False, True]),
            ([("amd-2026.2", 2), ("nvidia-2026.1", 1)], [True, True]),
        ],
        ids=["going back", "an old one new to us", "an older text of the same", "another line"],
    )
    def test_serials_never_fall(self, ledger: SqlLedger, asked: list[tuple[str, int]], answers: list[bool]) -> None:
        assert [ledger.accept(ReleaseId(name), serial) for name, serial in asked] == answers


def test_records_of_a_large_fleet_are_quick(ledger: SqlLedger) -> None:
    import time

    names = [NodeId(f"n{number}") for number in range(2, 10_000)]
    ledger.commit([Adopted(name, R1) for name in names], HOLDER, AT)
    began = time.perf_counter()
    assert len(ledger.records().enrolled) == len(names)
    assert time.perf_counter() - began < 2.0
