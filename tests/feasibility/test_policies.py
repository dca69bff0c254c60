"""Policies against the nodes there are: what is told, what isn't, and how much may be out."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from fleet.feasibility import judge
from fleet.feasibility.policies import policies
from fleet.feasibility.scope import Scope, named, scopes, spoken
from fleet.model.ids import Autonomy, NodeId, Purpose, Verb
from fleet.model.policy import Amount, Approval, ApprovalPolicy, BreakerPolicy, DrainPolicy, Matter, Policy, Window
from fleet.model.topology import DomainKind
from tests.fleets import OLD, Fleet, release

HOUR = timedelta(hours=1)
EVENING = datetime(2026, 1, 5, 22, tzinfo=UTC)


def codes(policy: Policy, count: int = 6, approvers: tuple[str, ...] | None = None) -> set[str]:
    return {one.code for one in judge(replace(Fleet(count, policy).declared(), approvers=approvers))}


def scope(policy: Policy, count: int = 6) -> Scope:
    (found,) = scopes(Fleet(count, policy).declared())
    return found


def amounts(**what: str | int) -> dict[str, Amount]:
    return {
        kind: Amount(nodes=value) if isinstance(value, int) else Amount(percent=float(value.rstrip("%")))
        for kind, value in what.items()
    }


@pytest.mark.parametrize(
    "policy",
    [
        Policy(),
        Policy(budget=amounts(pool=1, rack=1), floor=amounts(pool="50%"), canary=1, soak=HOUR),
        Policy(budget=amounts(pool="10%"), at_least_one=True),
        Policy(budget=amounts(pool=3), reserve_for_repair=2),
        Policy(reserve_for_repair=2),
        Policy(wave_sizes=(1, 4, 0)),
        Policy(budget=amounts(pool="34%"), wave_sizes=(2, 0)),
        Policy(breaker=BreakerPolicy(HOUR, Amount(nodes=1), HOUR)),
        Policy(breaker=BreakerPolicy(HOUR, Amount(percent=20), HOUR)),
        Policy(autonomy=dict.fromkeys(Purpose, Autonomy.OBSERVE)),
        Policy(windows=(Window(EVENING, EVENING + HOUR),)),
        Policy(first_rung={"xid_79": Verb.REBOOT, "xid_94": Verb.RESET_GPU, "sxid_12028": Verb.REBOOT}),
        Policy(approval_required=True),  # nobody has looked who may sign
    ],
)
def test_nothing_is_said_of_what_works(policy: Policy) -> None:
    assert codes(policy) == set()


@pytest.mark.parametrize(
    ("policy", "found"),
    [
        (Policy(budget=amounts(pool=0)), {"policy-budget-never"}),
        (Policy(budget=amounts(rack="49%")), {"policy-budget-never"}),
        (Policy(floor=amounts(pool=7)), {"policy-floor-all"}),
        (Policy(floor=amounts(pool="83.4%")), {"policy-floor-all"}),
        (Policy(budget=amounts(pool=1), reserve_for_repair=1), {"policy-reserve-all"}),
        (Policy(floor=amounts(pool=5), reserve_for_repair=3), {"policy-reserve-all"}),
        (Policy(budget=amounts(pool=3), floor=amounts(pool=4)), {"policy-budget-unused"}),
        (Policy(canary=7), {"policy-canary-large"}),
        (Policy(canary=1, canary_nodes=(NodeId("n9"),)), {"policy-canary-stranger"}),
        (Policy(budget=amounts(rack=1), wave_sizes=(4,)), {"policy-wave-over-budget"}),  # three racks: 3 at once
        (Policy(domains_out={"rack": 1}, wave_sizes=(3,)), {"policy-wave-over-budget"}),
        (Policy(breaker=BreakerPolicy(HOUR, Amount(percent=16), HOUR)), {"policy-breaker-one"}),
        (Policy(breaker=BreakerPolicy(HOUR, Amount(nodes=7), HOUR)), {"policy-breaker-never"}),
        (Policy(windows=(Window(EVENING, EVENING + HOUR / 2),)), {"policy-window-short"}),  # 33 min of work
        (Policy(canary=1, soak=HOUR, windows=(Window(EVENING, EVENING + HOUR),)), {"policy-window-short"}),
        (
            Policy(drain=DrainPolicy(deadline=HOUR), windows=(Window(EVENING, EVENING + HOUR),)),
            {"policy-window-wave"},
        ),
        (Policy(skip={"xid79": (Verb.REBOOT,)}), {"policy-fault-unknown"}),
        (Policy(recover={"port_flapp": HOUR}), {"policy-fault-unknown"}),
        (Policy(first_rung={"xid_95": Verb.RESTART_SERVICE}), {"policy-rung-low"}),
        (Policy(autonomy={Purpose.REPAIR: Autonomy.OBSERVE}, reserve_for_repair=1), {"policy-autonomy"}),
        (Policy(autonomy={Purpose.SHED: Autonomy.OBSERVE}), {"policy-autonomy"}),
    ],
)
def test_what_cannot_work_is_told(policy: Policy, found: set[str]) -> None:
    assert codes(policy) == found


def needs(people: int = 1, *roles: str, **who: tuple[str, ...]) -> Policy:
    return Policy(approvals=ApprovalPolicy(who, {Matter.ROLLOUT: Approval(roles, people)}))


@pytest.mark.parametrize(
    ("policy", "keys", "found"),
    [
        (Policy(approval_required=True), (), {"policy-approval-nobody"}),
        (Policy(approval_required=True), ("alice",), set()),
        (Policy(autonomy={Purpose.REPAIR: Autonomy.PROPOSE}), (), {"policy-approval-nobody"}),
        (Policy(), (), set()),
        (needs(1, "admin", admin=("alice",)), ("bob",), {"policy-approval-nobody"}),
        (needs(1, "admin", admin=("alice", "bob")), ("bob",), set()),
        (needs(2, "admin", admin=("alice", "bob")), ("bob",), {"policy-approval-nobody"}),
        (needs(2, "admin", admin=("alice",)), None, {"policy-approval-nobody"}),
        (needs(2, "admin", "lead", admin=("alice",), lead=("bob",)), ("alice", "bob"), set()),
        (needs(2, "admin", "lead", admin=("alice",), lead=("alice",)), ("alice",), {"policy-approval-nobody"}),
        (needs(1, "admin", admin=("alice@here",)), ("*@here",), set()),
        (needs(2), ("*@here",), set()),
        (needs(2), ("alice",), {"policy-approval-nobody"}),
        (needs(1, "admni", admin=("alice",)), ("alice",), {"policy-approval-role"}),
    ],
)
def test_who_can_approve(policy: Policy, keys: tuple[str, ...] | None, found: set[str]) -> None:
    assert codes(policy, approvers=keys) == found


@pytest.mark.parametrize(
    ("policy", "most"),
    [
        (Policy(), 6),
        (Policy(budget=amounts(pool=2)), 2),
        (Policy(budget=amounts(rack=1)), 3),
        (Policy(budget=amounts(rack=1), domains_out={"rack": 2}), 2),
        (Policy(domains_out={"rack": 1}), 2),
        (Policy(floor=amounts(pool="50%"), budget=amounts(rack=2)), 3),
        (Policy(floor=amounts(pool=9)), 0),
    ],
)
def test_how_many_may_be_out_at_once(policy: Policy, most: int) -> None:
    assert scope(policy).most_out() == most


def test_a_unit_that_no_floor_lets_go() -> None:
    """A rack of 20 % of a pool, worked on as a whole, under a floor of 90 %."""
    fleet = Fleet(10, Policy(floor=amounts(pool="90%")))
    fleet.releases[OLD] = release(OLD, "1", unit="rack")
    (found,) = policies(fleet.declared())
    assert found.code == "policy-unit-never"
    assert found.sum == "2 nodes at once > 10 - floor 9 = 1"
    assert found.what.count("rack a") == 5, "all five racks in one sentence"
    fleet.policy = Policy(floor=amounts(pool="80%"))
    assert list(policies(fleet.declared())) == []
    fleet.policy = Policy(budget=amounts(rack=1))
    (found,) = policies(fleet.declared())
    assert "2 nodes of rack a1, and 1 may be out" in found.what


def test_what_many_racks_have_wrong_is_said_once() -> None:
    found = list(policies(Fleet(400, Policy(budget=amounts(rack="10%"))).declared()))
    assert [one.code for one in found] == ["policy-budget-never"]
    assert "and 197 more" in found[0].what


def test_a_policy_of_several_pools_is_told_once() -> None:
    fleet = Fleet(6, Policy(ladder=(Verb.REBOOT,))).declared()
    pool = next(iter(fleet.pools.values()))
    pools = {pool.id: pool, NodeId("two"): replace(pool, id=NodeId("two"))}
    nodes = {n: replace(node, pool="two" if n == "n6" else node.pool) for n, node in fleet.nodes.items()}
    found = list(policies(replace(fleet, pools=pools, nodes=nodes)))  # type: ignore[arg-type]
    assert [one.code for one in found] == ["policy-ladder-end"]


def test_ten_thousand_nodes_in_a_moment() -> None:
    policy = Policy(
        budget=amounts(pool="10%", rack=1),
        floor=amounts(pool="80%"),
        canary=5,
        wave_sizes=(100, 0),
        reserve_for_repair=3,
    )
    fleet = Fleet(10_000, policy)
    fleet.releases[OLD] = release(OLD, "1", unit=DomainKind.RACK)
    declared = fleet.declared()
    began = time.process_time()
    assert {one.code for one in policies(declared)} == {"policy-unit-never"}
    assert time.process_time() - began < 1.0


def test_ten_thousand_wrong_words_in_seconds() -> None:
    policy = Policy(
        first_rung={f"xidd_{n}": Verb.REBOOT for n in range(5000)},
        canary=5000,
        canary_nodes=tuple(NodeId(f"m{n}") for n in range(5000)),
    )
    began = time.process_time()
    assert len(list(policies(Fleet(10_000, policy).declared()))) == 10_000
    assert time.process_time() - began < 3.0


def test_words() -> None:
    assert [spoken(seconds) for seconds in (0.5, 45, 60, 5700, 90_000)] == [
        "0.5 s",
        "45 s",
        "1 min",
        "1 h 35 min",
        "1 d 1 h",
    ]
    assert named([]) == "nothing"
    assert named(["a", "b"]) == "a and b"
    assert named("abcde") == "a, b, c and 2 more"
