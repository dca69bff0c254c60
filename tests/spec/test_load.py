"""An inventory becomes a Declared, or every mistake in it is told with file and line and what to write instead."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet.errors import InventoryError, Misuse
from fleet.model.ids import Autonomy, NodeId, PoolId, Purpose, ReleaseId, Verb
from fleet.model.policy import Amount, AtDeadline, BreakerPolicy, Policy
from fleet.model.topology import Disposition, Domain, DomainKind
from fleet.spec import find_inventory, load, load_access, project_root
from tests.spec.sites import FILES, write

ROOT = Path(__file__).resolve().parents[2]


def told(site: Path) -> list[str]:
    """The problems of a site, with paths shortened to the file."""
    with pytest.raises(InventoryError) as caught:
        load(site)
    return [str(problem).replace(f"{site}/", "") for problem in caught.value.problems]


def policy(tmp_path: Path, text: str) -> Policy:
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    return load(write(tmp_path, {"policy.yaml": f"policies:\n  default:\n{lines}"})).pools[PoolId("train")].policy


class TestGood:
    def test_the_whole_site(self, tmp_path: Path) -> None:
        found = load(write(tmp_path))
        assert (found.site, found.region) == ("here", "north")
        first, second = found.nodes[NodeId("n01")], found.nodes[NodeId("n02")]
        assert first.domains == (
            Domain(DomainKind.POOL, "train"),
            Domain(DomainKind.RACK, "r1"),
            Domain(DomainKind.FEED, "A"),
            Domain(DomainKind.LEAF, "l1"),
            Domain(DomainKind.SITE, "here"),
        )
        assert (first.serial, first.address, first.accelerators, first.slot) == ("S1", "10.0.1.1", 8, 1)
        assert second.disposition is Disposition.PARKED
        assert first.place.endswith("nodes.yaml:2")
        assert found.pools[PoolId("train")].partition == "gpu"
        assert found.target(first) == "amd-1"

    def test_a_version_is_text(self, tmp_path: Path) -> None:
        release = load(write(tmp_path)).releases[ReleaseId("amd-1")]
        assert release.versions == {"driver": "6.10", "rocm": "7.0"}
        assert release.needs == (Verb.REBOOT,)
        assert len(release.digest) == 64

    def test_the_shipped_inventory(self) -> None:
        found = load(ROOT / "inventory" / "lab")
        assert len(found.nodes) == 6
        assert {release.untrusted for release in found.releases.values()} == {""}

    def test_access(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        found = load_access(write(tmp_path))
        assert found.root == tmp_path.resolve()
        assert found.ssh.key == found.root / "keys/operator"
        assert "secret" not in repr(found)
        (tmp_path / "bmc" / "n01").mkdir(parents=True)
        (tmp_path / "bmc" / "n01" / "password").write_text("secret\n")
        assert found.bmc.password.read("n01") == "secret"
        with pytest.raises(Misuse, match="No such file") as caught:
            found.bmc.password.read("n02")
        assert "n02" in caught.value.cause

    def test_a_secret_from_the_environment(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        site = FILES["site.yaml"].replace("file:bmc/{node}/password", "env:BMC_{node}")
        reference = load_access(write(tmp_path, {"site.yaml": site})).bmc.password
        with pytest.raises(Misuse, match="BMC_n01 is not set"):
            reference.read("n01")
        monkeypatch.setenv("BMC_n01", "secret")
        assert reference.read("n01") == "secret"

    def test_a_thousand_nodes_in_well_under_a_second(self, tmp_path: Path) -> None:
        rows = "".join(
            f"  x{n}: {{serial: L{n}, rack: r{1 + n % 2}, pool: train, address: 10.1.{n >> 8}.{n & 255}, "
            f'bmc: "https://10.2.{n >> 8}.{n & 255}", accelerators: 8}}\n'
            for n in range(1000)
        )
        site = write(tmp_path, {"nodes.yaml": f"nodes:\n{rows}"})
        load(site)
        began = time.process_time()
        assert len(load(site).nodes) == 1000
        assert time.process_time() - began < 0.7


class TestPolicy:
    def test_nothing_named_limits_nothing(self, tmp_path: Path) -> None:
        assert policy(tmp_path, "canary: 0") == Policy()

    def test_amounts(self, tmp_path: Path) -> None:
        found = policy(
            tmp_path, "budget: {pool: 25%, rack: 2, domains_out: {nvlink: 1}}\nfloor: {pool: 7, feed: 12.5%}"
        )
        assert found.budget == {"pool": Amount(percent=25), "rack": Amount(nodes=2)}
        assert found.floor == {"pool": Amount(nodes=7), "feed": Amount(percent=12.5)}
        assert found.domains_out == {"nvlink": 1}

    def test_amounts_by_pool(self, tmp_path: Path) -> None:
        found = policy(tmp_path, "budget: {pool: {train: 3, infer: 1}}\nat_least_one: [train]")
        assert found.budget == {"pool": Amount(nodes=3)}
        assert found.at_least_one

    @pytest.mark.parametrize(
        ("written", "canary", "named", "soak"),
        [
            ("canary: 2", 2, (), 0),
            ("canary: {nodes: [n01, n02], soak: 1h30m}", 2, ("n01", "n02"), 5400),
            ("canary: 1\nsoak: 10s", 1, (), 10),
        ],
    )
    def test_canary(self, tmp_path: Path, written: str, canary: int, named: tuple[str, ...], soak: int) -> None:
        found = policy(tmp_path, written)
        assert (found.canary, found.canary_nodes, found.soak) == (canary, named, timedelta(seconds=soak))

    def test_breaker(self, tmp_path: Path) -> None:
        found = policy(tmp_path, "breaker: {window: 10m, share: 20%, quiet: 20m, ramp: {nodes: 1, per: 5m}}").breaker
        minutes = [timedelta(minutes=number) for number in (10, 20, 5)]
        assert found == BreakerPolicy(minutes[0], Amount(percent=20), minutes[1], 1, "", minutes[2])

    def test_autonomy(self, tmp_path: Path) -> None:
        assert policy(tmp_path, "autonomy: observe").may(Purpose.REPAIR) is Autonomy.OBSERVE
        found = policy(tmp_path, "autonomy: {UPGRADE: propose}")
        assert (found.may(Purpose.UPGRADE), found.may(Purpose.REPAIR)) == (Autonomy.PROPOSE, Autonomy.ACT)

    def test_the_rest(self, tmp_path: Path) -> None:
        found = policy(
            tmp_path,
            "waves: {sizes: [1, 4, rest], order: listed}\n"
            "drain: {deadline: 2h, then: requeue, stop_services: [exporter]}\n"
            "failure_limit: {share: 0%}\n"
            "attempts: {converge: 3}\n"
            "skip: {dpu: [reboot, flash]}\n"
            "recover: {port_flap: 30m}\n"
            "repeat: {within: 24h}\n"
            "verify: {tests: [short], after_relapse: [short, load], load: 1h, unit: nvlink}\n"
            "windows: [{from: '2026-01-05T22:00Z', to: '2026-01-06T04:00Z', every: 7d}]\n"
            "approval: required\n"
            "override: until_new_evidence\n"
            "wipe: {grade: purge, deadline: 24h}\n"
            "burst: {lifetime: 8h, boot_deadline: 15m, types: [big, other]}\n"
            "retire: {confirm: serial}\n"
            "foreign_cordon: work\n"
            "probation: 2d\n"
            "canary: {nodes: 1, gate: {figure: allreduce, worst_drop: 5%}}\n",
        )
        assert (found.wave_sizes, found.listed_order) == ((1, 4, 0), True)
        assert found.drain.then is AtDeadline.REQUEUE
        assert found.drain.stop_services == ("exporter",)
        assert found.failure_limit == Amount(percent=0)
        assert found.tries(Verb.CONVERGE) == 3
        assert found.skip == {"dpu": (Verb.REBOOT, Verb.FLASH)}
        assert found.recover == {"port_flap": timedelta(minutes=30)}
        assert found.verify.after_relapse == ("short", "load")
        assert found.windows[0].every == timedelta(days=7)
        assert found.approval_required
        assert found.override_until_new_evidence
        assert found.wipe.grade == "purge"
        assert found.burst is not None
        assert found.burst.types == ("big", "other")
        assert found.gate is not None
        assert found.gate.worst_drop == Amount(percent=5)
        assert found.probation == timedelta(days=2)


MISTAKES = yaml.safe_load((Path(__file__).parent / "mistakes.yaml").read_text())


@pytest.mark.parametrize("mistake", MISTAKES, ids=[mistake["title"] for mistake in MISTAKES])
def test_mistake(tmp_path: Path, mistake: dict[str, Any]) -> None:
    assert told(write(tmp_path, mistake["files"])) == mistake["told"]


def test_all_are_told_at_once(tmp_path: Path) -> None:
    site = write(
        tmp_path,
        {
            "nodes.yaml": FILES["nodes.yaml"].replace("rack: r2", "rack: r9").replace("pool: train", "pool: tain"),
            "pools.yaml": FILES["pools.yaml"].replace("accelerator:", "acelerator:"),
            "policy.yaml": "policies:\n\tdefault: {}\n",
            "racks.yaml": FILES["racks.yaml"].replace("feed: A", "feed: Z"),
        },
    )
    files = [problem.split(":")[0] for problem in told(site)]
    assert set(files) == {"nodes.yaml", "pools.yaml", "policy.yaml", "racks.yaml"}


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)

HOSTILE: list[tuple[str, bytes, str]] = [
    ("aliases of aliases", BOMB.encode(), "more than"),
    ("an alias inside itself", b"nodes: &x {a: *x}\n", "stands inside itself"),
    ("depth", b"nodes: " + b"[" * 40 + b"]" * 40, "nested deeper"),
    ("great depth", b"nodes: " + b"[" * 100_000, "no YAML"),
    ("size", b"# " + b"x" * (17 << 20), "more than the"),
    ("no text", b"\xff\xfe\x00nodes", "not UTF-8"),
    ("a control character", b"nodes: {n01: \x07}\n", "does not allow"),
    ("a key that is no word", b"nodes: {[a, b]: 1}\n", "a key must be a word"),
    ("an open bracket", b"nodes: {n01: {serial: S1\n", "no YAML"),
]


@pytest.mark.parametrize(("raw", "expected"), [row[1:] for row in HOSTILE], ids=[row[0] for row in HOSTILE])
def test_hostile_text_is_a_problem_and_quickly_so(tmp_path: Path, raw: bytes, expected: str) -> None:
    site = write(tmp_path)
    (site / "nodes.yaml").write_bytes(raw)
    began = time.process_time()
    problems = told(site)
    assert expected in problems[0]
    assert time.process_time() - began < 5


class TestFinding:
    def test_the_one_that_is_named(self, tmp_path: Path) -> None:
        site = write(tmp_path)
        assert find_inventory(site, environ={"FLEET_INVENTORY": "/elsewhere"}) == site

    def test_the_environment(self, tmp_path: Path) -> None:
        site = write(tmp_path)
        assert find_inventory(environ={"FLEET_INVENTORY": str(site)}) == site
        with pytest.raises(Misuse, match=r"no site\.yaml"):
            find_inventory(environ={"FLEET_INVENTORY": str(tmp_path)})

    def test_the_only_one_beneath(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        site = write(tmp_path)
        monkeypatch.chdir(tmp_path)
        assert find_inventory(environ={}).resolve() == site.resolve()
        assert find_inventory(tmp_path, environ={}) == site
        assert find_inventory(tmp_path / "inventory", environ={}) == site

    def test_several_or_none(self, tmp_path: Path) -> None:
        with pytest.raises(Misuse, match="no inventory"):
            find_inventory(tmp_path, environ={})
        for name in ("a", "b"):
            (tmp_path / "inventory" / name).mkdir(parents=True)
            (tmp_path / "inventory" / name / "site.yaml").write_text("site: x\n")
        with pytest.raises(Misuse, match="a, b"):
            find_inventory(tmp_path, environ={})

    def test_what_paths_are_relative_to(self, tmp_path: Path) -> None:
        assert project_root(tmp_path / "inventory" / "here") == tmp_path.resolve()
        assert project_root(tmp_path / ".fleet" / "lab" / "inventory") == tmp_path.resolve()
