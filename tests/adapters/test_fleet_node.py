"""The node's own door: one step at a time, no older token, nobody at work, and a result that outlives who asked."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

WRAPPER = Path(__file__).parents[2] / "playbooks" / "node" / "fleet-node"
SAYS_DONE = 'import json; print(json.dumps({"changed": True, "detail": "ok", "shown": {"driver": "1"}}))'
COUNTS = "import json; open({file!r}, 'a').write('x'); print(json.dumps({{'changed': True}}))"
SLEEPS = "import time; time.sleep(30)"


class Node:
    """A node's state directory, and its door."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.proc = home / "proc"
        self.proc.mkdir()
        self.state = home / "state"
        self.environment = dict(os.environ, FLEET_NODE_STATE=str(self.state), FLEET_NODE_PROC=str(self.proc))

    def request(self, token: int, program: str = SAYS_DONE, **more: Any) -> bytes:
        step = {"order": "o1", "token": token, "verb": "converge", "program": program, "limit": 20, **more}
        return json.dumps(step).encode()

    def start(self, token: int, program: str = SAYS_DONE, **more: Any) -> subprocess.Popen[bytes]:
        running = subprocess.Popen(
            [sys.executable, WRAPPER, "run"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment
        )
        assert running.stdin is not None
        running.stdin.write(self.request(token, program, **more))
        running.stdin.close()
        running.stdin = None
        return running

    def run(self, token: int, program: str = SAYS_DONE, **more: Any) -> tuple[int, dict[str, Any]]:
        running = self.start(token, program, **more)
        out, _ = running.communicate(timeout=30)
        return running.returncode, json.loads(out)

    def show(self) -> dict[str, Any]:
        shown = subprocess.run(
            [sys.executable, WRAPPER, "show"], env=self.environment, capture_output=True, timeout=30, check=True
        )
        return dict(json.loads(shown.stdout))

    def works(self, pid: int, name: str, holds: str = "") -> None:
        """A process in the table that the door looks at."""
        folder = self.proc / str(pid) / "fd"
        folder.mkdir(parents=True)
        (folder.parent / "comm").write_text(name + "\n")
        if holds:
            (folder / "3").symlink_to(holds)


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def until(true: Callable[[], bool], seconds: float = 10) -> None:
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends, "it did not come true"
        time.sleep(0.02)


def test_a_step_runs_and_says_what_it_did(node: Node) -> None:
    assert node.run(7) == (0, {"changed": True, "detail": "ok", "shown": {"driver": "1"}, "code": 0})
    assert node.show() == {
        "lock": {},
        "token": 7,
        "last": {"order": "o1", "token": 7, "verb": "converge"} | _boot(node),
    }


def _boot(node: Node) -> dict[str, str]:
    return {"boot": json.loads((node.state / "last").read_text())["boot"]}


def test_a_lower_token_is_fenced_off_for_good(node: Node) -> None:
    node.run(7)
    code, said = node.run(6, order="o2")
    assert (code, said["highest"]) == (76, 7)
    assert node.run(8, order="o2")[0] == 0


def test_a_token_file_that_cannot_be_read_lets_nobody_in(node: Node) -> None:
    node.run(7)
    (node.state / "token").write_text("seven")
    assert node.run(9)[0] == 76


def test_a_second_step_is_refused_while_one_runs_and_the_first_is_named(node: Node) -> None:
    first = node.start(5, SLEEPS, order="o-first")
    try:
        until(lambda: bool(node.show()["lock"]))
        assert node.show()["lock"]["order"] == "o-first"
        code, said = node.run(6, order="o-second")
        assert (code, said["holder"]) == (75, "o-first")
    finally:
        os.killpg(node.show()["lock"]["pid"], signal.SIGKILL)
        first.communicate(timeout=10)


def test_a_killed_controllers_step_goes_on_under_its_lock_and_its_result_is_kept(node: Node) -> None:
    mark = node.home / "ran"
    program = "import time; time.sleep(1.5);" + COUNTS.format(file=str(mark))
    asked = node.start(5, program, order="o-orphan")
    until(lambda: bool(node.show()["lock"]))
    asked.kill()
    asked.communicate()
    assert node.show()["lock"]["order"] == "o-orphan"
    assert node.run(6, order="o-next")[0] == 75
    until(lambda: not node.show()["lock"])
    assert mark.read_text() == "x"
    assert json.loads((node.state / "results" / "5.json").read_text())["code"] == 0


def test_the_lock_outlives_even_the_wrapper_while_the_verbs_program_runs(node: Node) -> None:
    asked = node.start(5, SLEEPS)
    until(lambda: bool(node.show()["lock"]))
    program = node.show()["lock"]["pid"]
    parent = int(Path(f"/proc/{program}/stat").read_text().rsplit(")", 1)[1].split()[1])
    os.kill(parent, signal.SIGKILL)
    asked.communicate(timeout=10)
    try:
        assert node.show()["lock"]["pid"] == program
        assert node.run(6)[0] == 75
    finally:
        os.kill(program, signal.SIGKILL)
    until(lambda: node.run(7)[0] == 0)


def test_the_same_token_repeats_nothing(node: Node) -> None:
    file = node.home / "count"
    program = COUNTS.format(file=str(file))
    assert node.run(5, program)[1].get("repeated") is None
    assert node.run(5, program)[1]["repeated"] is True
    assert file.read_text() == "x"


def test_a_reboot_that_happened_is_not_repeated(node: Node) -> None:
    node.run(5, SAYS_DONE)
    last = {"order": "o1", "token": 6, "verb": "reboot", "boot": "another/1"}
    (node.state / "last").write_text(json.dumps(last))
    (node.state / "token").write_text("6\n")
    code, said = node.run(6, "raise SystemExit('rebooted twice')", verb="reboot")
    assert (code, said["repeated"], said["changed"]) == (0, True, False)


@pytest.mark.parametrize(
    ("processes", "step", "code"),
    [
        pytest.param([(11, "slurmstepd", "")], {"disruptive": True}, 77, id="a step of the scheduler"),
        pytest.param([(12, "python3", "/dev/kfd")], {"disruptive": True}, 77, id="a process on an AMD accelerator"),
        pytest.param([(13, "python3", "/dev/nvidia3")], {"disruptive": True}, 77, id="a process on an NVIDIA one"),
        pytest.param([(14, "nvidia-persiste", "/dev/nvidia0")], {"disruptive": True}, 0, id="a daemon is no work"),
        pytest.param([(15, "bash", "/dev/null")], {"disruptive": True}, 0, id="a shell is no work"),
        pytest.param([(16, "slurmstepd", "")], {"disruptive": False}, 0, id="a verb that disrupts nothing"),
        pytest.param([(17, "slurmstepd", "")], {"disruptive": True, "force": True}, 0, id="policy said so beforehand"),
    ],
)
def test_work_on_the_node(node: Node, processes: list[tuple[int, str, str]], step: dict[str, bool], code: int) -> None:
    for process in processes:
        node.works(*process)
    assert node.run(5, **step)[0] == code


@pytest.mark.parametrize(
    ("program", "limit", "code", "why"),
    [
        pytest.param("raise SystemExit('boom')", 20, 1, "exit 1: boom", id="fails"),
        pytest.param("pass", 20, 1, "exit 0: it said nothing", id="success that says nothing is none"),
        pytest.param("print('{')", 20, 1, "exit 0: it said nothing", id="cut off"),
        pytest.param(SLEEPS, 0.3, 124, "converge did not end in 0.3 s and was ended", id="hangs"),
        pytest.param('import sys; print(\'{"why": "no"}\'); sys.exit(78)', 20, 78, "no", id="refused"),
    ],
)
def test_how_a_program_may_end(node: Node, program: str, limit: float, code: int, why: str) -> None:
    found, said = node.run(5, program, limit=limit)
    assert (found, said["why"]) == (code, why)
    assert node.show()["lock"] == {}


@pytest.mark.parametrize("broken", [b"", b"{}", b"[]", b'{"order": "../x", "token": 1, "verb": "v", "program": ""}'])
def test_a_request_that_cannot_be_read(node: Node, broken: bytes) -> None:
    done = subprocess.run([sys.executable, WRAPPER, "run"], input=broken, env=node.environment, capture_output=True)
    assert done.returncode == 64


def test_old_results_go(node: Node) -> None:
    for token in range(1, 25):
        node.run(token)
    assert len(list((node.state / "results").iterdir())) == 20
