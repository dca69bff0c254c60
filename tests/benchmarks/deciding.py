"""What it costs to decide: `plan()` and the preview of a rollout, all nodes wanting the release, 1 % out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from fleet.model.ids import NodeId, PoolId, ReleaseId, RolloutId
from fleet.model.observation import Cordon, Enrolment, NodeSeen, Observed, Power, Records
from fleet.model.order import Rollout, RolloutState
from fleet.model.policy import Amount, Policy
from fleet.model.release import Package, Release
from fleet.model.topology import Declared, DeclaredNode, Domain, DomainKind, Pool
from fleet.planning.planner import plan
from fleet.planning.preview import preview
from tests.benchmarks.figure import Figure, best

AT = datetime(2026, 6, 1, 12, tzinfo=UTC)
POOL, OLD, NEW = PoolId("train"), ReleaseId("r1"), ReleaseId("r2")
SIZES = {1_000: (0.015, 0.05), 10_000: (0.150, 0.5)}


def site(count: int) -> tuple[Declared, Observed]:
    """A site of `count` nodes in eight kinds of domain, every node wanting the release, one of a hundred out."""
    ids = [NodeId(f"n{index:05}") for index in range(count)]
    nodes = {name: DeclaredNode(name, POOL, f"S{i}", _domains(i), accelerators=8) for i, name in enumerate(ids)}
    budget = {kind.value: Amount(percent=10) for kind in DomainKind}
    policy = Policy(budget=budget, floor={"pool": Amount(percent=80)}, at_least_one=True)
    releases = {name: _release(name, driver) for name, driver in ((OLD, "6.14.14"), (NEW, "6.16.13"))}
    declared = Declared("big", nodes, {POOL: Pool(POOL, "MI300X", "amd", NEW, policy)}, releases)
    seen = {name: _seen(name, out=index % 100 == 7) for index, name in enumerate(ids)}
    enrolled = {name: Enrolment(name, f"S{i}", "k", OLD, True, AT - timedelta(days=9)) for i, name in enumerate(ids)}
    rollout = Rollout(RolloutId("ro1"), POOL, NEW, AT - timedelta(hours=1), RolloutState.RUNNING, tuple(ids))
    return declared, Observed(AT, seen, Records(rollouts={rollout.id: rollout}, enrolled=enrolled))


def _domains(index: int) -> tuple[Domain, ...]:
    names = {
        DomainKind.POOL: POOL, DomainKind.RACK: f"r{index // 8}", DomainKind.FEED: "AB"[index % 2],
        DomainKind.LOOP: f"c{index // 64}", DomainKind.LEAF: f"l{index // 32}", DomainKind.NVLINK: f"x{index // 16}",
        DomainKind.QUOTA: f"q{index % 5}", DomainKind.SITE: "big",
    }  # fmt: skip
    return tuple(Domain(kind, name) for kind, name in names.items())


def _release(name: ReleaseId, driver: str) -> Release:
    packages = (Package("amdgpu-dkms", f"1:{driver}", "0" * 64, "driver"),)
    return Release(name, {"driver": driver}, packages=packages, vendor="amd", digest=name)


def _seen(name: NodeId, *, out: bool) -> NodeSeen:
    return NodeSeen(
        name, reachable=True, power=Power.ON, boot="b", shown={"driver": "6.14.14"}, accelerators=8,
        packages={"amdgpu-dkms": "1:6.14.14"}, cordons=(Cordon("alice", "cable"),) if out else (), scheduler_up=True,
        has_work=False,
    )  # fmt: skip


def measure() -> list[Figure]:
    """Best of five, in milliseconds."""
    found = []
    for count, (seconds, preview_seconds) in SIZES.items():
        declared, observed = site(count)
        decided = plan(declared, observed)
        assert decided.steps, "a plan that does nothing measures nothing"
        took = best(lambda d=declared, o=observed: plan(d, o))
        found.append(Figure(f"plan() of {count:,} nodes", took * 1000, "ms", seconds * 1000))
        took = best(lambda d=declared, o=observed: preview(d, o, POOL, NEW), runs=3)
        text = f"preview of {count:,} nodes, identity and bound included"
        found.append(Figure(text, took * 1000, "ms", preview_seconds * 1000))
    return found
