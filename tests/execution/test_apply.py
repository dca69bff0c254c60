"""From verb to port: batches, lost rights, and releases that can't be believed any more."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from fleet.errors import Unavailable
from fleet.execution.apply import Hands, batches, carry_out
from fleet.model.ids import NodeId, OrderId, Purpose, ReleaseId, Verb
from fleet.model.order import Done, Failed, Outcome
from fleet.model.plan import Step
from fleet.model.release import Release
from fleet.model.topology import DeclaredNode
from tests.fleets import NEW, OLD, Fleet


class World:
    """Every port at once; notes what it is asked, and answers Done."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.ours = True
        self.breaks: Exception | None = None

    def run(
        self,
        verb: Verb,
        steps: Sequence[tuple[Step, DeclaredNode, int]],
        release: Release | None,
        ended: Callable[[Step, Outcome], None],
    ) -> None:
        self.asked.append(f"{verb} {','.join(node.id for _, node, _ in steps)}")
        for step, _, _ in steps[:1] if self.breaks else steps:
            ended(step, Done())
        if self.breaks:
            raise self.breaks

    def cordon(self, node: NodeId, order: OrderId, reason: str) -> Outcome:
        self.asked.append(f"cordon {node} {order} {reason}")
        return Done()

    def requeue(self, node: NodeId, order: OrderId) -> Outcome:
        self.asked.append(f"requeue {node}")
        return Done()

    def cycle(self, node: DeclaredNode) -> Outcome:
        self.asked.append(f"cycle {node.id}")
        raise Unavailable(node.id, "the BMC answers 500")

    def still_ours(self, node: NodeId, token: int) -> bool:
        return self.ours


def step(verb: Verb, node: str = "n1", release: ReleaseId | None = NEW, *, force: bool = False) -> Step:
    return Step(OrderId(f"o-{node}"), NodeId(node), verb, Purpose.UPGRADE, release, force)


def ends(world: World, *steps: Step, doubt: Callable[[Release], str] | None = None) -> dict[str, Outcome]:
    found: dict[str, Outcome] = {}
    hands = Hands(world, world, world, world, doubt=doubt)  # type: ignore[arg-type]  # World stands for all ports
    pairs = [(one, token) for token, one in enumerate(steps, 1)]
    carry_out(
        hands, Fleet().declared(), steps[0].verb, pairs, lambda one, _, outcome: found.update({one.node: outcome})
    )
    return found


def test_steps_with_one_verb_towards_one_release_are_one_batch() -> None:
    steps = [
        step(Verb.CONVERGE, "n1"),
        step(Verb.CONVERGE, "n2"),
        step(Verb.CONVERGE, "n3", OLD),
        step(Verb.REBOOT, "n4"),
    ]
    found = batches([(one, 1) for one in steps])
    assert [len(batch) for batch in found.values()] == [2, 1, 1]


def test_a_playbook_runs_once_for_its_nodes() -> None:
    world = World()
    ends(world, step(Verb.CONVERGE, "n1"), step(Verb.CONVERGE, "n2"))
    assert world.asked == ["converge n1,n2"]


def test_a_run_that_breaks_down_fails_what_it_did_not_report_and_nothing_else() -> None:
    world = World()
    world.breaks = Unavailable("ansible", "no such playbook")
    found = ends(world, step(Verb.CONVERGE, "n1"), step(Verb.CONVERGE, "n2"))
    assert (found["n1"], found["n2"]) == (Done(), Failed("ansible: no such playbook"))


def test_the_schedulers_reason_says_order_and_purpose() -> None:
    world = World()
    ends(world, step(Verb.CORDON))
    assert world.asked == ["cordon n1 o-n1 upgrade"]


def test_nothing_is_asked_once_the_right_to_act_is_lost() -> None:
    world = World()
    world.ours = False
    assert isinstance(ends(world, step(Verb.CORDON))["n1"], Failed)
    assert world.asked == []


def test_work_is_requeued_only_by_a_forced_drain() -> None:
    world = World()
    ends(world, step(Verb.DRAIN))
    assert world.asked == []
    ends(world, step(Verb.DRAIN, force=True))
    assert world.asked == ["requeue n1"]


def test_a_port_that_gives_no_answer_fails_its_step_with_the_cause() -> None:
    assert ends(World(), step(Verb.POWER_CYCLE))["n1"] == Failed("n1: the BMC answers 500")


@pytest.mark.parametrize("verb", [Verb.CONVERGE, Verb.REVERT, Verb.FLASH])
def test_a_release_is_believed_at_the_last_moment_or_not_installed(verb: Verb) -> None:
    world = World()
    found = ends(world, step(verb), doubt=lambda release: "it expired on 2026-01-01")
    assert found["n1"] == Failed("r2 is not to be believed: it expired on 2026-01-01")
    assert world.asked == []
