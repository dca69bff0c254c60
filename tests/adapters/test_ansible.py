"""Runs of ansible-playbook through ansible-runner: each trap that is known of them, sprung here on purpose.

The playbooks beside this file stand in for the real ones and need no node.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from fleet.adapters.ansible import AnsibleConfigure, Settings, processes
from fleet.errors import Misuse
from fleet.model.ids import NodeId, OrderId, PoolId, Purpose, ReleaseId, Verb
from fleet.model.order import Again, Done, Failed, Lost, Outcome
from fleet.model.plan import Step
from fleet.model.release import Release
from fleet.model.topology import DeclaredNode

HERE = Path(__file__).parent
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHvOH31Dl53zZs7FTyuq+YkRXyHcxDEmur6zecIjQfxE"
RELEASE = Release(ReleaseId("r"), versions={"driver": "1"}, vendor="amd")


class Bench:
    """An adapter over the stand-in playbooks, and what it reported."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.notes = home / "notes"
        self.notes.mkdir()
        self.told: list[tuple[str, Outcome]] = []
        self.configure = self.adapter()

    def adapter(self, **limits: float) -> AnsibleConfigure:
        return AnsibleConfigure(
            HERE / "playbooks",
            user="root",
            key=self.home / "key",
            host_key=lambda node: "" if node.startswith("unpinned") else KEY,
            vendor=lambda node: "amd",
            settings=Settings(limits={Verb(verb): seconds for verb, seconds in limits.items()}),
        )

    def run(self, verb: str, *names: str, release: Release | None = RELEASE) -> dict[str, Outcome]:
        self.configure.run(
            Verb(verb), steps(verb, *names), release, lambda step, out: self.told.append((step.node, out))
        )
        assert len(self.told) == len({node for node, _ in self.told}), "each node is reported once"
        return dict(self.told)


def steps(verb: str, *names: str) -> list[tuple[Step, DeclaredNode, int]]:
    return [
        (
            Step(OrderId(f"o-{name}"), NodeId(name), Verb(verb), Purpose.UPGRADE),
            DeclaredNode(NodeId(name), PoolId("p"), f"S-{name}", (), address="127.0.0.1", accelerators=8),
            number,
        )
        for number, name in enumerate(names, 1)
    ]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    with tempfile.TemporaryDirectory(prefix="fb-", dir="/tmp") as short:  # ssh's sockets need a short path
        monkeypatch.setattr(tempfile, "tempdir", short)
        yield Bench(tmp_path)
        assert runs() == set(), "a run's directory stayed behind"


def runs() -> set[str]:
    return {entry.name for entry in Path(tempfile.gettempdir()).glob("fleet-run-*")}


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def until(file: Path, seconds: float = 30) -> str:
    ends = time.monotonic() + seconds
    while not file.exists() or not file.read_text():
        assert time.monotonic() < ends, f"{file} did not appear"
        time.sleep(0.05)
    return file.read_text()


def test_one_run_for_a_batch_and_a_result_for_each_node(bench: Bench) -> None:
    found = bench.run("converge", "good1", "bad1", "busy1", "broke1", "unpinned1")
    assert found["good1"] == Done("ok", {"driver": "1"})
    assert found["bad1"] == Failed("7 of 8 accelerators")
    assert found["busy1"] == Again(timedelta(seconds=10), "a step of order o9 runs here")
    assert found["broke1"] == Lost("the connection ended with exit 143")
    assert isinstance(found["unpinned1"], Again)


def test_a_broken_connection_is_only_asked_again_where_nothing_changes(bench: Bench) -> None:
    assert isinstance(bench.run("verify", "broke1")["broke1"], Again)


def test_a_node_that_cannot_be_reached_has_not_failed(bench: Bench) -> None:
    found = bench.run("reboot", "good1", "good2")
    assert all(isinstance(outcome, Again) and "unreachable" in outcome.why for outcome in found.values())


def test_each_node_gets_its_own_order_token_and_no_force(bench: Bench) -> None:
    bench.run("converge", "good1", "good2")
    text = (bench.notes / "good2").read_text()
    assert '"order": "o-good2"' in text
    assert '"token": 2' in text
    assert '"disruptive": true, "force": false' in text


def test_an_exception_in_the_callers_callback_ends_the_run_and_reaches_the_caller(bench: Bench) -> None:
    def breaks(step: Step, outcome: Outcome) -> None:
        raise RuntimeError("the ledger is gone")

    began = time.monotonic()
    with pytest.raises(RuntimeError, match="the ledger is gone"):
        bench.configure.run(Verb.VERIFY, steps("verify", "good1", "slow1"), RELEASE, breaks)
    assert time.monotonic() - began < 30
    pids = (
        [int(pid) for pid in until(bench.notes / "slow1.pids").split()] if (bench.notes / "slow1.pids").exists() else []
    )
    assert not any(alive(pid) for pid in pids)


def test_cancel_ends_every_process_of_the_run_whatever_session_it_went_to(bench: Bench) -> None:
    thread = threading.Thread(target=bench.run, args=("converge", "slow1", "good1"))
    thread.start()
    pids = [int(pid) for pid in until(bench.notes / "slow1.pids").split()]
    bench.configure.cancel()
    thread.join(timeout=20)
    assert not thread.is_alive()
    assert not any(alive(pid) for pid in pids)
    found = dict(bench.told)
    assert isinstance(found["slow1"], Lost)


def test_a_run_has_a_time_limit(bench: Bench) -> None:
    bench.configure = bench.adapter(converge=6.0, verify=6.0)
    found = bench.run("converge", "slow1")
    assert found["slow1"] == Lost("no end within 6 s; the run was ended")
    assert not any(alive(int(pid)) for pid in until(bench.notes / "slow1.pids").split())


def test_signal_handlers_are_as_they_were_before_while_and_after(bench: Bench) -> None:
    def mine(number: int, frame: object) -> None: ...

    kept = {number: signal.signal(number, mine) for number in (signal.SIGINT, signal.SIGTERM)}
    seen = []
    try:
        bench.configure.run(
            Verb.VERIFY,
            steps("verify", "good1"),
            RELEASE,
            lambda step, outcome: seen.extend(signal.getsignal(number) for number in kept),
        )
        seen.extend(signal.getsignal(number) for number in kept)
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
    assert seen == [mine] * 4


def test_a_run_has_a_fresh_directory_of_its_own_that_nobody_else_reads(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[int] = []
    prepare = AnsibleConfigure._prepare

    def noting(self: AnsibleConfigure, private: Path, *rest: object) -> None:
        modes.append(private.stat().st_mode & 0o777)
        assert [entry.name for entry in private.iterdir()] == ["owner"]
        prepare(self, private, *rest)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr(AnsibleConfigure, "_prepare", noting)
    bench.run("verify", "good1")
    assert modes == [0o700]


def test_a_mistake_in_a_playbook_is_no_nodes_failure(bench: Bench) -> None:
    found = bench.run("restart_service", "good1")["good1"]
    assert isinstance(found, Again)
    assert "no_such_module" in found.why


@pytest.mark.parametrize("value", ["{{ lookup('pipe', 'id') }}", "{% if x %}"])
def test_a_value_that_ansible_would_evaluate_is_refused(bench: Bench, value: str) -> None:
    release = Release(ReleaseId("r"), versions={"driver": value})
    with pytest.raises(Misuse, match="template"):
        bench.run("verify", "good1", release=release)


@pytest.mark.parametrize(
    ("release", "why"),
    [(None, "no release was named"), (Release(ReleaseId("r"), versions={}, untrusted="expired"), "expired")],
)
def test_what_is_not_trusted_is_not_applied(bench: Bench, release: Release | None, why: str) -> None:
    assert bench.run("converge", "good1", release=release) == {"good1": Failed(f"not applied: {why}")}


def test_what_a_killed_controller_left_running_is_ended_by_the_next_run(bench: Bench) -> None:
    """kill -9 leaves ansible-playbook and its workers alive; what guards the node meanwhile is the node's own lock."""
    script = textwrap.dedent(
        f"""
        import sys, tempfile; sys.path.insert(0, {str(HERE)!r}); tempfile.tempdir = {tempfile.gettempdir()!r}
        from pathlib import Path
        import test_ansible as t
        bench = t.Bench.__new__(t.Bench); bench.home = Path({str(bench.home)!r})
        bench.adapter().run(t.Verb.CONVERGE, t.steps("converge", "slow1"), t.RELEASE, print)
        """
    )
    controller = subprocess.Popen([sys.executable, "-c", script])
    pids = [int(pid) for pid in until(bench.notes / "slow1.pids").split()]
    controller.kill()
    controller.wait()
    try:
        assert any(alive(pid) for pid in pids)
        assert isinstance(bench.run("verify", "good1")["good1"], Done)
        assert not any(alive(pid) for pid in pids)
    finally:
        for mark in runs():
            processes.end_run(str(Path(tempfile.gettempdir(), mark)))


def test_a_run_of_another_living_controller_is_left_alone(bench: Bench) -> None:
    other = Path(tempfile.gettempdir(), "fleet-run-other")
    other.mkdir()
    processes.sign(other)
    assert processes.sweep(other.parent) == 0
    (other / "owner").write_text(f"{os.getpid()} 1")
    assert processes.sweep(other.parent) == 1
