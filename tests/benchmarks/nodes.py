"""What it costs to reach nodes: our run of a playbook against bare `ansible-playbook`, our look against `setup`."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fleet.adapters.ansible import AnsibleConfigure, inventory
from fleet.adapters.paramiko_ssh import SshObserve, SshPool
from fleet.lab.containers import inside
from fleet.lab.home import Home, LabState
from fleet.lab.layout import layout
from fleet.model.ids import NodeId, OrderId, Purpose, Verb
from fleet.model.order import Done, Outcome
from fleet.model.plan import Step
from fleet.model.topology import DeclaredNode
from fleet.spec import load, load_access
from tests.benchmarks.figure import Figure, processor
from tools.containers import why_not

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
FLEET = str(BIN / "fleet")
TOKEN = 1


@dataclass(frozen=True, slots=True)
class Reach:
    """The lab's AMD nodes, and what is needed to get there."""

    nodes: tuple[DeclaredNode, ...]
    keys: dict[NodeId, str]
    user: str
    key: Path

    def host_key(self, node: NodeId) -> str:
        """The key that the node has; the lab is trusted here."""
        return self.keys.get(node, "")


def measure() -> list[Figure]:
    """Ratios of one run over all nodes of a pool."""
    reason = why_not()
    if reason:
        return [Figure("reaching nodes", None, "", note=f"left out: {reason}")]
    ours = LabState.read(Home(ROOT / ".fleet" / "lab")) is None
    if ours:
        subprocess.run((FLEET, "lab", "up"), cwd=ROOT, check=True)
    try:
        return measured(reach())
    finally:
        if ours:
            subprocess.run((FLEET, "lab", "down"), cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def reach() -> Reach:
    """The lab that is up."""
    declared, access = load(ROOT / "inventory" / "lab"), load_access(ROOT / "inventory" / "lab")
    names = [NodeId(node.name) for node in layout(6).members("train")]
    keys = {}
    for name in names:
        words = inside(f"fleet-lab-{name}", ["cat", "/etc/ssh/ssh_host_ed25519_key.pub"]).split()
        keys[name] = f"{words[0]} {words[1]}"
    return Reach(tuple(declared.nodes[name] for name in names), keys, access.ssh.user, access.ssh.key)


def measured(there: Reach) -> list[Figure]:
    """Both comparisons."""
    with tempfile.TemporaryDirectory(prefix="fleet-bench-") as place:
        bare = Bare(Path(place), there)
        ours = ours_verify(there)
        ours()
        bare.playbook()
        our_wall, our_cpu = processor(ours)
        bare_wall, bare_cpu = processor(bare.playbook)
        looked_wall, looked_cpu = processor(look(there))
        setup_wall, setup_cpu = processor(bare.setup)
    count = len(there.nodes)
    return [
        Figure(f"a step on {count} nodes through us / bare, wall clock", our_wall / bare_wall, "", 1.10,
               f"{our_wall:.2f} s / {bare_wall:.2f} s"),
        Figure(f"a step on {count} nodes through us / bare, processor", our_cpu / bare_cpu, "", 1.10,
               f"{our_cpu:.2f} s / {bare_cpu:.2f} s"),
        Figure(f"facts of {count} nodes / `ansible -m setup`, processor", looked_cpu / setup_cpu, "", 0.10,
               f"{looked_cpu:.2f} s / {setup_cpu:.2f} s"),
        Figure(f"facts of {count} nodes / `ansible -m setup`, wall clock", looked_wall / setup_wall, "", None,
               f"{looked_wall:.2f} s / {setup_wall:.2f} s"),
    ]  # fmt: skip


def steps(there: Reach) -> list[tuple[Step, DeclaredNode, int]]:
    """A verify of each node."""
    return [
        (Step(OrderId(f"bench-{node.id}"), node.id, Verb.VERIFY, Purpose.UPGRADE), node, TOKEN) for node in there.nodes
    ]


def ours_verify(there: Reach) -> Callable[[], None]:
    """A verify through the adapter that the product uses."""
    configure = AnsibleConfigure(
        ROOT / "playbooks", user=there.user, key=there.key, host_key=there.host_key, vendor=lambda node: "amd"
    )

    def run() -> None:
        ended: list[Outcome] = []
        configure.run(Verb.VERIFY, steps(there), None, lambda step, outcome: ended.append(outcome))
        assert all(isinstance(outcome, Done) for outcome in ended), ended

    return run


def look(there: Reach) -> Callable[[], object]:
    """The look at nodes that every pass takes, over connections that are open already, as in a loop."""
    observe = SshObserve(SshPool(user=there.user, key=there.key), there.host_key, packages=("amdgpu-dkms", "rocm-core"))
    observe.look(there.nodes)
    return lambda: observe.look(there.nodes)


class Bare:
    """`ansible-playbook` and `ansible` as a person runs them, on the same inventory and configuration."""

    def __init__(self, place: Path, there: Reach) -> None:
        known_hosts = place / "known_hosts"
        known_hosts.write_text(inventory.known_hosts_text({node.address: there.keys[node.id] for node in there.nodes}))
        hosts = inventory.inventory(
            steps(there), user=there.user, key=there.key, known_hosts=known_hosts,
            vendors={node.id: "amd" for node in there.nodes}, common=inventory.release_variables(None),
        )  # fmt: skip
        self._hosts = place / "hosts.json"
        self._hosts.write_text(json.dumps(hosts))
        self._environment = inventory.environment(place, ROOT / "playbooks")

    def _run(self, *words: str) -> None:
        subprocess.run(
            (*words, "-i", str(self._hosts)), cwd=ROOT / "playbooks", env=self._environment, check=True,
            capture_output=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def playbook(self) -> None:
        """The same playbook."""
        self._run(str(BIN / "ansible-playbook"), "verify.yml")

    def setup(self) -> None:
        """Ansible's own facts."""
        self._run(str(BIN / "ansible"), "all", "-m", "ansible.builtin.setup")
