"""How far an order got, judged by what the node shows."""

from __future__ import annotations

from fleet.model.ids import Purpose, Verb
from fleet.model.order import Result
from tests.fleets import Fleet, steps


def test_what_was_wiped_holds_no_work_whatever_is_not_seen_of_it() -> None:
    """Revoke stops the node's scheduler daemon: then nobody can say any more what runs there, and nothing can."""
    fleet = Fleet()
    walked = ((Verb.CORDON, Result.DONE), (Verb.DRAIN, Result.DONE), (Verb.EXPORT, Result.DONE))
    fleet.cordoned("n1")
    fleet.change("n1", has_work=None, reachable=False, scheduler_up=False)
    fleet.order("n1", *walked, purpose=Purpose.RETIRE)
    assert steps(fleet.plan()) == {}, "before the wipe, unknown is not empty"
    fleet.order("n1", *walked, (Verb.WIPE, Result.DONE), (Verb.REVOKE, Result.DONE), purpose=Purpose.RETIRE)
    assert steps(fleet.plan()) == {"n1": Verb.POWER_OFF}
