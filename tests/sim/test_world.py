"""The simulated world is strict: what would go wrong on a real fleet goes wrong here, or properties mean nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fleet.model.health import Severity
from fleet.model.ids import FLEET, NodeId, OrderId, Purpose, ReleaseId, Verb
from fleet.model.order import Again, Done, Failed, Lost, Outcome
from fleet.model.plan import Step
from fleet.sim import physics, truth, work
from fleet.sim.answers import Answer
from fleet.sim.declare import declared
from fleet.sim.run import Simulation, populate
from fleet.sim.world import Claim, Fault, Work

N1, N2 = NodeId("n01"), NodeId("n02")
RAW = {
    "pools": {"train": {"accelerator": "H100", "nodes": {"count": 4, "racks": ["a1", "a2"]}}},
    "release": {
        "from": {"id": "r41", "driver": "1", "bmc_firmware": "1"},
        "to": {"id": "r42", "driver": "2", "bmc_firmware": "2", "needs": ["flash", "reboot"]},
    },
    "policy": {"budget": {"pool": 1}, "first_rung": {"xid_79": "reboot"}},
}


@pytest.fixture
def fleet() -> Simulation:
    """Four nodes, and no controller: the test is the hand that acts."""
    made = populate(declared(RAW))
    made.kill_controller()
    return made


def act(fleet: Simulation, verb: Verb, node: NodeId = N1, token: int = 1, release: str = "r42") -> list[Outcome]:
    """Begin a verb; its outcomes are heard in the list that is given."""
    heard: list[Outcome] = []
    step = Step(OrderId("o1"), node, verb, Purpose.UPGRADE)
    physics.begin(fleet.world, step, token, fleet.world.declared.releases[ReleaseId(release)], heard.append)
    return heard


def later(fleet: Simulation, minutes: float) -> None:
    """Let time pass."""
    fleet.run(fleet.world.now + minutes * 60)


def test_packages_show_only_after_what_the_release_needs(fleet: Simulation) -> None:
    heard = act(fleet, Verb.CONVERGE)
    machine = fleet.world.machines[N1]
    later(fleet, 10)
    assert (heard, machine.packages["driver"], machine.shown["driver"]) == ([Done()], "2", "1")
    act(fleet, Verb.REBOOT)
    later(fleet, 8)
    assert (machine.shown["driver"], machine.boots) == ("2", 2)


def test_firmware_changes_by_flash_alone(fleet: Simulation) -> None:
    act(fleet, Verb.CONVERGE)
    later(fleet, 10)
    assert fleet.world.machines[N1].shown["bmc_firmware"] == "1"
    act(fleet, Verb.FLASH)
    later(fleet, 15)
    assert fleet.world.machines[N1].shown["bmc_firmware"] == "2"


def test_a_node_that_reboots_is_away(fleet: Simulation) -> None:
    act(fleet, Verb.REBOOT)
    later(fleet, 4)
    assert not fleet.world.machines[N1].reachable
    later(fleet, 4)
    assert fleet.world.machines[N1].reachable


def test_the_wrapper_refuses_a_second_run_and_a_lower_token(fleet: Simulation) -> None:
    act(fleet, Verb.CONVERGE, token=5)
    assert isinstance(act(fleet, Verb.CONVERGE, token=6)[0], Again)
    later(fleet, 10)
    assert isinstance(act(fleet, Verb.CONVERGE, token=4)[0], Failed)
    assert fleet.world.most_beside[N1] == 2


def test_a_disruptive_verb_kills_the_work_that_is_left(fleet: Simulation) -> None:
    work.submit(fleet.world, Work("j1", (N1, N2), 3600), running=True)
    act(fleet, Verb.REBOOT)
    assert fleet.world.jobs["j1"].state == "failed"
    assert fleet.world.violations == ["j1 was killed on n01"]
    assert fleet.world.begun[-1].work == ("j1",)


def test_work_goes_on_when_the_one_who_waits_for_it_dies(fleet: Simulation) -> None:
    heard = act(fleet, Verb.CONVERGE)
    for run in fleet.world.machines[N1].runs:
        run.alive = False
    later(fleet, 10)
    assert heard == []
    assert fleet.world.machines[N1].packages["driver"] == "2"


def test_a_power_cut_ends_what_runs_and_keeps_what_is_on_disk(fleet: Simulation) -> None:
    machine = fleet.world.machines[N1]
    heard = act(fleet, Verb.CONVERGE)
    machine.feed = False
    physics.power_off(fleet.world, machine)
    later(fleet, 20)
    assert (heard, machine.packages["driver"], machine.reachable) == ([], "1", False)
    machine.feed = True
    physics.power_on(fleet.world, machine)
    later(fleet, 3)
    assert machine.reachable


@pytest.mark.parametrize(
    ("says", "really", "outcome", "boots"),
    [
        ("exit_143", "done", Lost("exit 143"), 2),
        ("lost", "nothing", Lost("the connection broke"), 1),
        ("failed", "", Failed("failed"), 1),
        ("done", "nothing", Done(), 1),
    ],
)
def test_what_is_answered_and_what_is_so(
    fleet: Simulation, says: str, really: str, outcome: Outcome, boots: int
) -> None:
    fleet.world.answers.add(Answer("reboot", frozenset({N1}), says, really, takes=60))
    heard = act(fleet, Verb.REBOOT)
    later(fleet, 1)
    assert heard == [outcome]
    assert fleet.world.machines[N1].boots == boots


def fault(fleet: Simulation) -> None:
    fleet.world.machines[N1].faults.append(Fault("xid_79", Severity.FATAL, at=fleet.world.now))


def corrupt(fleet: Simulation) -> None:
    fleet.world.machines[N1].corrupt.add("exporter_image")


def lose_a_device(fleet: Simulation) -> None:
    fleet.world.machines[N1].expected_devices, fleet.world.machines[N1].devices = 8, 7


@pytest.mark.parametrize("harm", [fault, corrupt, lose_a_device])
def test_verify_finds_what_is_wrong(fleet: Simulation, harm: Callable[[Simulation], None]) -> None:
    harm(fleet)
    heard = act(fleet, Verb.VERIFY)
    later(fleet, 15)
    assert isinstance(heard[0], Failed)


@pytest.mark.parametrize(("rung", "left"), [(Verb.RESET_GPU, 1), (Verb.REBOOT, 0), (Verb.POWER_CYCLE, 0)])
def test_a_fault_is_mended_by_its_first_rung_or_a_higher_one(fleet: Simulation, rung: Verb, left: int) -> None:
    fault(fleet)
    act(fleet, rung)
    later(fleet, 15)
    assert len(fleet.world.machines[N1].faults) == left


def test_opening_is_said_only_where_nobody_else_holds(fleet: Simulation) -> None:
    machine = fleet.world.machines[N1]
    machine.holds = [Claim(FLEET, "", 0), Claim("alice", "", 0)]
    act(fleet, Verb.UNCORDON)
    assert not fleet.world.begun[-1].opened
    assert [hold.owner for hold in machine.holds] == ["alice"]


def test_the_truth_counts_everybody_who_is_out(fleet: Simulation) -> None:
    fleet.world.machines[N2].network = False
    act(fleet, Verb.CORDON)
    assert truth.overdrawn(fleet.world, truth.taken(fleet.world, 0)) == [
        "n01 taken with 2 of pool train out (n01, n02), budget 1"
    ]
