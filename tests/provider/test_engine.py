"""`pulumi up`, `preview`, `refresh`, `import` and `destroy` with the real engine over machines that don't exist."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

from tests.provider.stack import NODES, Stack, bmc

pytestmark = pytest.mark.pulumi


def test_up_makes_the_declared_nodes_exist(stack: Stack) -> None:
    said = stack.run("preview")
    assert "+ 15 to create" in said
    assert stack.world.calls() == []
    assert not (stack.root / ".fleet").exists()  # not even a ledger

    said = stack.up()
    assert "warning" not in said
    assert stack.nodes() == list(NODES)
    assert {node: each.serial for node, each in stack.enrolled().items()} == {
        node: f"LAB000{number}" for number, node in enumerate(NODES, 1)
    }
    assert sorted(stack.world.calls("turn_on")) == [f"turn_on {node}" for node in NODES]
    n01 = stack.state()["n01"]
    assert n01["protect"] is True
    assert n01["inputs"]["bmcSecret"] == "file:.fleet/lab/bmc/n01/password"

    before = stack.world.calls()
    stack.run("up", "--yes", "--expect-no-changes")
    assert stack.world.calls() == before


def test_refresh_finds_what_was_changed_by_hand(standing: Stack) -> None:
    standing.world.machine(bmc("n02"), power="off")
    standing.world.machine(bmc("n03"), serial="XYZ9")
    standing.world.machine(bmc("n04"), bmc="dead")

    said = standing.run("refresh", "--yes", "--skip-preview")

    assert "what the BMC shows is not known" in said
    outputs = {name: each["outputs"] for name, each in standing.state().items()}
    assert outputs["n02"]["power"] == "off"
    assert outputs["n03"]["serial"] == "XYZ9"
    assert outputs["n04"]["power"] == "on"  # unknown is not off

    standing.world.machine(bmc("n04"), bmc="")
    said = standing.run("up", "--yes", "--continue-on-error", expect=None)
    assert "n03: wrong serial" in said
    assert "says XYZ9, declared is LAB0003" in said
    assert standing.world.calls("turn_on").count("turn_on n02") == 2
    assert standing.state()["n02"]["outputs"]["power"] == "on"


def test_no_node_is_deleted_that_is_not_retired(standing: Stack) -> None:
    said = standing.run("destroy", "--preview-only", expect=None)
    assert "protect" in said
    said = standing.run("destroy", "--yes", expect=None)
    assert "protect" in said

    # even where somebody takes the protection away
    standing.run("state", "unprotect", "--all", "--yes")
    said = standing.run("destroy", "--yes", "--skip-preview", "--continue-on-error", expect=None)
    assert said.count("can't be deleted: it is not retired") >= len(NODES)
    assert "fleet retire n01" in said
    assert standing.nodes() == list(NODES)

    # nor where it vanishes from the inventory: named in the preview
    standing.edit("nodes.yaml", r"^  n06: .*\n", "")
    said = standing.run("preview", expect=None)
    assert "n06 is gone from the inventory and not retired" in said


def test_a_retired_node_may_go(standing: Stack) -> None:
    standing.edit("nodes.yaml", r"^(  n06: \{.*)\}", r"\1, disposition: retired}")
    standing.up()
    assert standing.state()["n06"]["protect"] is True

    standing.retire("n06")
    standing.up()  # takes the protection off; the machine stays as it was left
    assert "protect" not in standing.state()["n06"]
    assert standing.world.state()["machines"][bmc("n06")]["power"] == "off"

    standing.edit("nodes.yaml", r"^  n06: .*\n", "")
    said = standing.up()
    assert "n06 deleted" in said
    assert standing.nodes() == list(NODES[:5])
    assert standing.enrolled()["n06"].retired  # the name is remembered for ever


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_up_then_again(stack: Stack, how: signal.Signals) -> None:
    stack.delay = 0.3
    running = stack.start("up", "--yes", "--skip-preview")
    stack.wait(lambda: len(stack.world.calls("turn_on")) >= 2)
    running.send_signal(how)
    said = stack.finish(running, expect=None)
    if how is signal.SIGKILL:
        stack.wait(lambda: not plugins(stack))  # it doesn't outlive its engine
        stack.run("cancel", "--yes")  # the dead engine's lock
    else:
        assert "cancel" in said

    stack.delay = 0
    stack.up()

    assert sorted(stack.world.calls("turn_on")) == [f"turn_on {node}" for node in NODES]  # each once
    assert stack.nodes() == list(NODES) == sorted(stack.enrolled())
    stack.run("preview", "--expect-no-changes")


def plugins(stack: Stack) -> list[str]:
    """The plugin's processes of this stack that are alive."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as environ, open(f"/proc/{pid}/cmdline", "rb") as command:
                if str(stack.world.path).encode() in environ.read() and b"tests.provider.world" in command.read():
                    found.append(pid)
        except OSError:
            continue
    return found


def test_half_made_nodes_are_kept_and_finished_later(stack: Stack) -> None:
    stack.world.machine(bmc("n04"), ssh="dead")

    said = stack.up(expect=None)
    assert "n04 is on and has not been seen to boot" in said
    assert stack.state()["n04"]["initErrors"]
    assert "n04" not in stack.enrolled()

    stack.world.machine(bmc("n04"), ssh="")
    stack.up()
    assert "initErrors" not in stack.state()["n04"]
    assert sorted(stack.enrolled()) == list(NODES)
    assert stack.world.calls("turn_on").count("turn_on n04") == 1


def test_a_node_lost_from_the_state_is_adopted_or_imported(standing: Stack) -> None:
    for node in ("n01", "n02"):
        urn = standing.state()[node]["urn"]
        standing.run("state", "delete", "--force", "--yes", urn)
    assert standing.nodes() == list(NODES[2:])

    standing.up()

    assert standing.nodes() == list(NODES)
    assert len(standing.world.calls("turn_on")) == len(NODES)


BAD = {
    "a slot that is taken": ("nodes.yaml", r"^(  n02: .*)slot: 2", r"\1slot: 1", "nodes.yaml:3"),
    "a pool that isn't there": ("nodes.yaml", r"^(  n03: .*)pool: train", r"\1pool: trian", "nodes.yaml:4"),
    "no YAML at all": ("racks.yaml", r"^racks:", "racks: [", "racks.yaml:"),
}


@pytest.mark.parametrize(("file", "pattern", "replacement", "place"), BAD.values(), ids=BAD)
def test_bad_inventory(stack: Stack, file: str, pattern: str, replacement: str, place: str) -> None:
    stack.edit(file, pattern, replacement)

    said = stack.run("preview", expect=None)

    assert place in said
    assert "run `fleet check`" in said
    assert stack.world.calls() == []


def test_the_plugin_starts_fast_and_ends_quietly(stack: Stack) -> None:
    slow = {"pulumi", "sqlalchemy", "paramiko", "sushy", "pydantic"}
    code = (
        "import sys; from fleet.cli import provider; import fleet.provider.server; "
        f"print(sorted(set(sys.modules) & {slow!r}))"
    )
    done = subprocess.run(["python", "-c", code], env=stack.environ, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

    plugin = subprocess.Popen(
        [stack.root / "bin/pulumi-resource-fleet"],
        env=stack.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert plugin.stdout is not None
    assert plugin.stdout.readline().strip().isdigit()
    plugin.send_signal(signal.SIGINT)
    _, complaints = plugin.communicate(timeout=5)
    assert (plugin.returncode, complaints) == (0, "")
