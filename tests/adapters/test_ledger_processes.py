"""Several processes on one ledger, and processes that are killed while they write."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from fleet.adapters.ledger_sql import open_ledger
from fleet.model.ids import NodeId, OrderId, Purpose, Verb
from fleet.model.order import Result, StepRecord
from fleet.model.plan import OrderOpened, StepEnded
from tests.adapters.ledgers import step

ROOT = Path(__file__).resolve().parents[2]

WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from fleet.adapters.ledger_sql import open_ledger
from fleet.model.ids import NodeId, OrderId, Purpose, Verb
from fleet.model.order import Done, StepRecord
from fleet.model.plan import OrderOpened, Step, StepEnded

path, holder = Path(sys.argv[1]), sys.argv[2]
ledger = open_ledger(path)
at = datetime.now(UTC)
assert ledger.take(holder, datetime(2100, 1, 1, tzinfo=UTC), 60)
known = ledger.records().orders
if "n1" not in known:
    ledger.commit([OrderOpened(OrderId("o1"), NodeId("n1"), Purpose.REPAIR)], holder, at)
elif known["n1"].running:
    ledger.commit([StepEnded(OrderId("o1"), "lost", "found by looking")], holder, at)
step = Step(OrderId("o1"), NodeId("n1"), Verb.CORDON, Purpose.REPAIR)
while True:
    token = ledger.begin(step, StepRecord(Verb.CORDON, 0, at), holder)
    print("began", token, flush=True)
    ledger.end(step, token, Done(), at)
    print("ended", token, flush=True)
"""


def test_killed_at_any_moment_loses_nothing_that_was_told(tmp_path: Path) -> None:
    """kill -9 in a loop: what the writer said was committed is there, and the chain holds."""
    path, chance = tmp_path / "ledger.db", random.Random(7)
    began: set[int] = set()
    ended: set[int] = set()
    for turn in range(6):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), f"ctl:{turn}"], stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        assert writer.stdout is not None
        first = writer.stdout.readline()  # at work
        time.sleep(chance.random() * 0.4)
        writer.send_signal(signal.SIGKILL)
        told = (first + writer.stdout.read()).splitlines()
        writer.wait(30)
        writer.stdout.close()
        for line in told:
            word, _, token = line.partition(" ")
            (began if word == "began" else ended).add(int(token))
        with open_ledger(path) as ledger:
            found = ledger.records().orders[NodeId("n1")].steps
            assert ledger.verify_trail().good
        assert began <= {record.token for record in found}
        assert ended <= {record.token for record in found if record.result is Result.DONE}
        tokens = [record.token for record in found]
        assert tokens == sorted(set(tokens))
        assert sum(record.result is Result.RUNNING for record in found) <= 1
    assert len(began) > 6


ACTOR = """
import sys, time
from datetime import UTC, datetime
from pathlib import Path
from fleet.adapters.ledger_sql import open_ledger
from fleet.errors import FleetError, NoLease
from fleet.model.ids import NodeId, OrderId, Purpose, Verb
from fleet.model.order import Done, StepRecord
from fleet.model.plan import Step, StepEnded

holder, ledger = sys.argv[2], open_ledger(Path(sys.argv[1]))
step = Step(OrderId("o1"), NodeId("n1"), Verb.CORDON, Purpose.REPAIR)
until = time.monotonic() + float(sys.argv[3])
while time.monotonic() < until:
    at = datetime.now(UTC)
    if not ledger.take(holder, at, 0.4):
        time.sleep(0.02)
        continue
    try:
        running = ledger.records().orders["n1"].running
        if running:
            ledger.commit([StepEnded(step.order, "lost", "found by looking")], holder, at)
        token = ledger.begin(step, StepRecord(Verb.CORDON, 0, at), holder)
        if ledger.still_ours(step.node, token):
            print(holder, token, flush=True)
        ledger.end(step, token, Done(), at)
    except NoLease:
        pass
    if token % 20 == 0:
        time.sleep(0.5)  # goes silent
"""


def test_two_controllers_take_turns_and_never_act_together(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with open_ledger(path) as ledger:
        ledger.commit([OrderOpened(OrderId("o1"), NodeId("n1"), Purpose.REPAIR)], "alice", datetime.now(UTC))
    both = [
        subprocess.Popen(
            [sys.executable, "-c", ACTOR, str(path), name, "5"], stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        for name in ("ctl:a", "ctl:b")
    ]
    told = [process.communicate(timeout=60)[0].split() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    tokens = [int(word) for words in told for word in words[1::2]]
    assert len(tokens) == len(set(tokens)), "no token is given twice"
    assert all(words for words in told), "both had their turn"
    with open_ledger(path) as ledger:
        running = ""
        for entry in ledger.trail(node="n1"):
            if entry.what == "step began":
                assert not running, "two steps at once"
                running = str(entry.detail["token"])
            elif entry.what == "step ended":
                assert str(entry.detail["token"]) == running
                running = ""
        takes = [entry.who for entry in ledger.trail() if entry.what == "lease taken"]
        assert all(before != after for before, after in pairwise(takes))
        assert ledger.verify_trail().good


def test_a_frozen_controller_finds_itself_replaced(tmp_path: Path) -> None:
    """SIGSTOP, takeover, SIGCONT: what the thawed one does next is refused."""
    path = tmp_path / "ledger.db"
    frozen = subprocess.Popen(
        [
            sys.executable,
            "-c",
            WRITER.replace("2100", "2099") + "    import time; time.sleep(2)\n",
            str(path),
            "ctl:old",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert frozen.stdout is not None
    frozen.stdout.readline()
    frozen.stdout.readline()  # it pauses between two steps, and holds no transaction
    os.kill(frozen.pid, signal.SIGSTOP)
    try:
        at = datetime(2100, 1, 1, tzinfo=UTC)
        with open_ledger(path) as ledger:
            assert ledger.take("ctl:new", at, 60)
            if ledger.records().orders[NodeId("n1")].running:
                ledger.commit([StepEnded(OrderId("o1"), Result.LOST, "found by looking")], "ctl:new", at)
            token = ledger.begin(step(Verb.DRAIN), StepRecord(Verb.DRAIN, 0, at), "ctl:new")
            os.kill(frozen.pid, signal.SIGCONT)
            _, said = frozen.communicate(timeout=30)
            assert "NoLease" in said
            running = ledger.records().orders[NodeId("n1")].running
            assert running is not None
            assert running.token == token
    finally:
        frozen.kill()
        frozen.wait(30)
