"""Signals become cases."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from fleet.health.diagnose import diagnose
from fleet.model.health import Severity, Signal
from fleet.model.ids import NodeId, Verb
from fleet.model.order import Result
from tests.fleets import AT, Fleet


def signal(what: str = "xid_79", severity: Severity = Severity.FATAL, ago: float = 60, node: str = "n1") -> Signal:
    return Signal(
        NodeId(node), what, severity, AT - timedelta(seconds=ago), "0000:17:00.0", "fell off the bus", "kernel"
    )


def found(fleet: Fleet):  # type: ignore[no-untyped-def]
    return diagnose(fleet.declared(), fleet.observed())


def test_a_fatal_signal_opens_one_case_with_its_evidence() -> None:
    fleet = Fleet()
    fleet.change("n1", signals=(signal(), signal("xid_45", Severity.WATCH)))
    (moved,) = found(fleet)
    assert (moved.case.node, moved.case.causes, moved.case.severity) == ("n1", ("xid_79",), Severity.FATAL)
    assert "fell off the bus" in moved.case.evidence[0]


def test_a_note_is_no_case() -> None:
    fleet = Fleet()
    fleet.change("n1", signals=(signal("xid_45", Severity.WATCH),))
    assert found(fleet) == ()


def test_evidence_from_before_the_node_was_proven_fit_is_history() -> None:
    fleet = Fleet()
    fleet.change("n1", signals=(signal(ago=3600 * 24 * 30),))
    assert found(fleet) == ()


def test_the_same_evidence_seen_again_changes_nothing() -> None:
    fleet = Fleet()
    fleet.change("n1", signals=(signal(),))
    (moved,) = found(fleet)
    fleet.cases[NodeId("n1")] = moved.case
    assert found(fleet) == ()


def test_more_evidence_joins_the_open_case_and_may_make_it_worse() -> None:
    fleet = Fleet()
    fleet.case("n1", "row_remap_pending", Severity.DEGRADED)
    fleet.change("n1", signals=(signal(),))
    (moved,) = found(fleet)
    assert moved.case.causes == ("row_remap_pending", "xid_79")
    assert moved.case.severity is Severity.FATAL


def test_what_comes_during_our_own_reboot_is_not_judged() -> None:
    fleet = Fleet()
    fleet.order("n1", (Verb.REBOOT, Result.RUNNING))
    fleet.change("n1", signals=(signal(ago=10),))
    assert found(fleet) == ()


def test_a_canary_is_judged_by_its_verify_and_not_by_a_case() -> None:
    """What a bad release breaks must go back with the release, and not up a ladder on it."""
    fleet = Fleet()
    fleet.nodes[NodeId("n1")] = replace(fleet.nodes[NodeId("n1")], accelerators=8)
    fleet.change("n1", accelerators=7)
    reached = ((Verb.CORDON, Result.DONE), (Verb.CONVERGE, Result.DONE), (Verb.REBOOT, Result.DONE))
    fleet.order("n1", *reached, canary=True)
    assert diagnose(fleet.declared(), fleet.observed()) == ()
    fleet.order("n1", *reached, canary=False)
    assert [moved.case.causes for moved in diagnose(fleet.declared(), fleet.observed())] == [("device_missing",)]
    fleet.order("n1", *reached, (Verb.VERIFY, Result.DONE), canary=True)
    assert [moved.case.causes for moved in diagnose(fleet.declared(), fleet.observed())] == [("device_missing",)]
