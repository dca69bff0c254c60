"""SSH with pinned keys and time limits, against a server in this process that runs what it is told right here."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import paramiko
import pytest

from fleet.adapters.paramiko_ssh import (
    SshIdentity,
    SshObserve,
    SshPool,
    known_host_key,
    runner,
    scan_host_key,
)
from fleet.errors import Unavailable
from fleet.model.ids import NodeId, PoolId
from fleet.model.topology import DeclaredNode
from tests.adapters.ssh_server import Server, key_pair

OTHER = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHvOH31Dl53zZs7FTyuq+YkRXyHcxDEmur6zecIjQfxE"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    return key_pair(tmp_path_factory.mktemp("ssh"))


@pytest.fixture
def server(keys: tuple[Path, str]) -> Iterator[Server]:
    made = Server(keys[1], paramiko.ECDSAKey.generate())
    made.start()
    yield made
    made.close()


@pytest.fixture
def pool(keys: tuple[Path, str]) -> Iterator[SshPool]:
    made = SshPool(user="root", key=keys[0], connect_seconds=3)
    yield made
    made.close()


def test_arguments_reach_the_program_as_they_are(server: Server, pool: SshPool) -> None:
    nasty = ["a b", "$(id)", "'; true", "*", "ü\n"]
    answer = pool.run(server.target(), ["printf", "%s|", *nasty])
    assert (answer.rc, answer.out) == (0, "a b|$(id)|'; true|*|ü\n|")


def test_the_far_shell_is_only_ever_given_one_fixed_command(server: Server, pool: SshPool) -> None:
    pool.run(server.target(), ["true", "x"])
    pool.run(server.target(), ["false", "$y"], stdin="z")
    assert len(set(server.commands)) == 1


def test_exit_code_and_both_outputs(server: Server, pool: SshPool) -> None:
    answer = pool.run(server.target(), ["sh", "-c", "cat; echo no >&2; exit 3"], stdin="in")
    assert (answer.rc, answer.out, answer.err) == (3, "in", "no\n")


def test_what_is_not_installed_there(server: Server, pool: SshPool) -> None:
    assert pool.run(server.target(), ["no-such-program"]).rc == 127


class TestHostKeys:
    def test_another_key_than_the_pinned_one_ends_it_before_we_log_in(self, server: Server, pool: SshPool) -> None:
        with pytest.raises(Unavailable, match="host key"):
            pool.run(server.target(OTHER), ["true"])
        assert server.commands == []

    def test_a_machine_without_a_pinned_key_is_not_even_called(self, server: Server, pool: SshPool) -> None:
        with pytest.raises(Unavailable, match="not pinned"):
            pool.run(server.target(""), ["true"])
        assert server.transports == []

    @pytest.mark.parametrize("garbage", ["x", "ssh-ed25519", "ssh-ed25519 !!", "ssh-rsa AAAA"])
    def test_a_pinned_key_that_cannot_be_read(self, server: Server, pool: SshPool, garbage: str) -> None:
        with pytest.raises(Unavailable, match="pinned host key"):
            pool.run(server.target(garbage), ["true"])

    def test_a_scan_believes_nothing_and_logs_in_nowhere(self, server: Server) -> None:
        assert scan_host_key("127.0.0.1", port=server.port) == server.target().host_key
        assert server.commands == []

    def test_known_hosts(self, tmp_path: Path) -> None:
        file = tmp_path / "known_hosts"
        file.write_text(f"10.77.0.2 {OTHER}\n")
        assert known_host_key(file, "10.77.0.2") == OTHER
        assert known_host_key(file, "10.77.0.3") == ""
        with pytest.raises(Unavailable):
            known_host_key(tmp_path / "none", "10.77.0.2")


class TestTime:
    def test_a_command_that_hangs_is_ended_there_with_its_children(self, server: Server, pool: SshPool) -> None:
        mark = f"fleet-test-{os.getpid()}"
        began = time.monotonic()
        answer = pool.run(server.target(), ["sh", "-c", f": {mark}; sleep 60 & sleep 60"], limit=0.5)
        assert answer.rc is None
        assert time.monotonic() - began < 5
        alive = [p for p in Path("/proc").glob("[0-9]*/cmdline") if mark.encode() in _content(p)]
        assert alive == []

    def test_a_machine_that_takes_the_command_and_says_nothing(self, server: Server, pool: SshPool) -> None:
        server.mute = True
        with pytest.raises(Unavailable):
            pool.call(server.target(), "run", {"argv": ["true"], "limit": 1}, limit=1)

    def test_nobody_listens(self, pool: SshPool, server: Server) -> None:
        target = server.target()
        server.close()
        with pytest.raises(Unavailable, match="refused"):
            pool.run(target, ["true"])


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


class TestPool:
    def test_a_connection_is_kept(self, server: Server, pool: SshPool) -> None:
        for _ in range(5):
            pool.run(server.target(), ["true"])
        assert len(server.transports) == 1

    def test_a_connection_that_died_is_made_again(self, server: Server, pool: SshPool) -> None:
        pool.run(server.target(), ["true"])
        server.break_connections()
        assert pool.run(server.target(), ["true"]).rc == 0

    def test_threads_share_it(self, server: Server, pool: SshPool) -> None:
        pool.run(server.target(), ["true"])
        with ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(lambda n: pool.run(server.target(), ["echo", str(n)]).out, range(24)))
        assert answers == [f"{n}\n" for n in range(24)]
        assert len(server.transports) == 1

    def test_a_key_that_is_not_ours_is_told_in_a_line(self, server: Server, tmp_path: Path) -> None:
        other = SshPool(user="root", key=key_pair(tmp_path)[0], connect_seconds=3)
        with pytest.raises(Unavailable, match="Authentication failed"):
            other.run(server.target(), ["true"])


def test_a_runner_for_other_adapters(server: Server, pool: SshPool) -> None:
    assert runner(pool, server.target)(["echo", "x"], 5.0) == (0, "x\n", "")


class TestLook:
    @staticmethod
    def node(name: str = "n01") -> DeclaredNode:
        return DeclaredNode(NodeId(name), PoolId("p"), "S", (), address="127.0.0.1", accelerators=8)

    def test_this_very_machine(self, server: Server, pool: SshPool, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("fleet.adapters.paramiko_ssh.observe.target_of", lambda node, keys: server.target())
        seen = SshObserve(pool, lambda node: "").look([self.node()])[NodeId("n01")]
        assert seen.reachable is True
        assert seen.boot.startswith(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        assert seen.kernel == os.uname().release
        assert seen.has_work is None, "that is the scheduler's to say"

    def test_a_node_that_was_never_enrolled_is_a_gap(self, pool: SshPool) -> None:
        seen = SshObserve(pool, lambda node: "").look([self.node()])[NodeId("n01")]
        assert (seen.reachable, seen.gaps[0].what, seen.gaps[0].why) == (False, "ssh", "its host key is not pinned")

    def test_an_answer_that_is_no_document_is_a_gap(
        self, server: Server, pool: SshPool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("fleet.adapters.paramiko_ssh.observe.target_of", lambda node, keys: server.target())
        monkeypatch.setattr("fleet.adapters.paramiko_ssh.pool.program", lambda name: b"print('[1]')")
        seen = SshObserve(pool, lambda node: "").look([self.node()])[NodeId("n01")]
        assert (seen.reachable, seen.gaps[0].what) == (True, "probe")

    def test_nodes_are_looked_at_side_by_side_and_one_that_hangs_delays_none(
        self, server: Server, pool: SshPool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def sleeper(name: str) -> bytes:
            return b"import time, json; time.sleep(1); print(json.dumps({'boot': 'b', 'now': 0}))"

        monkeypatch.setattr("fleet.adapters.paramiko_ssh.observe.target_of", lambda node, keys: server.target())
        monkeypatch.setattr("fleet.adapters.paramiko_ssh.pool.program", sleeper)
        began = time.monotonic()
        seen = SshObserve(pool, lambda node: "").look([self.node(f"n{i:02}") for i in range(8)])
        assert len(seen) == 8
        assert time.monotonic() - began < 6


def test_identity_is_read_with_the_key_that_the_scan_showed(server: Server, pool: SshPool) -> None:
    scanned = []

    def scan(address: str) -> str:
        scanned.append(address)
        return server.target().host_key

    identity = SshIdentity(pool, lambda node: "", scan=scan, port=server.port)
    node = TestLook.node()
    assert identity.host_key(node) == server.target().host_key
    assert identity.boot(node)
    assert scanned == ["127.0.0.1"]


def test_a_pinned_key_is_not_replaced_by_what_a_scan_shows(server: Server, pool: SshPool) -> None:
    identity = SshIdentity(pool, lambda node: OTHER, scan=lambda a: server.target().host_key, port=server.port)
    identity.host_key(TestLook.node())
    with pytest.raises(Unavailable, match="another host key"):
        identity.boot(TestLook.node())
