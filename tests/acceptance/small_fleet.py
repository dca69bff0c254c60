"""The lab as the acceptance tests see it: asked and broken past the product, and put back to how it began."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fleet.lab import containers, slurm
from fleet.lab.containers import CONTROLLER_CONTAINER, inside, try_inside
from fleet.lab.faults import CURED_BY_BOOT, Order, apply, standing
from fleet.lab.home import Home
from fleet.lab.layout import LabNode, Layout
from fleet.lab.releases import release
from fleet.lab.up import wait_scheduler
from tools.trial import ROOT, Said, Trial

# What a trial may have left on a node: tokens and locks, other packages. What is loaded is what a boot would load.
AS_NEW = """
set -e
systemctl stop 'fleet-*' 2>/dev/null || true
rm -rf /var/lib/fleet /run/fleet
for pair in "$@"; do
    [ "$(dpkg-query -W -f '${Version}' "${pair%%=*}" 2>/dev/null)" = "${pair#*=}" ] || stale=yes
done
if [ -n "${stale:-}" ]; then
    apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y --allow-downgrades install "$@"
fi
/usr/lib/fleet-lab/bin/boot load
systemctl is-active --quiet slurmd || systemctl restart slurmd
systemctl is-active --quiet ssh || systemctl restart ssh
"""
NO_JOBS = """
scancel --quiet $(squeue -h -o %i) 2>/dev/null
i=0
while [ -n "$(squeue -h)" ] && [ $i -lt 60 ]; do sleep 0.5; i=$((i+1)); done
"""


@dataclass(slots=True)
class Lab:
    """The lab of this session. `spoilt` asks for a new one before the next test."""

    home: Home
    plan: Layout
    spoilt: bool = False
    template: Path | None = None

    @property
    def nodes(self) -> tuple[LabNode, ...]:
        """All nodes."""
        return self.plan.nodes

    def node(self, name: str) -> LabNode:
        """The node of that name."""
        found = self.plan.node(name)
        assert found is not None
        return found

    def names(self, pool: str) -> tuple[str, ...]:
        """The nodes of a pool, by name."""
        return tuple(node.name for node in self.plan.members(pool))

    def fault(self, node: str, kind: str, *words: str, off: bool = False, persistent: bool = False) -> str:
        """Break something, or mend it."""
        return apply(self.home, Order(node, kind, words, off=off, persistent=persistent))

    def says(self, node: str, *command: str) -> str:
        """What the node itself answers, asked past the product."""
        return inside(self.node(node).container, list(command)).strip()

    def boots(self, node: str) -> str:
        """What changes with each boot, and with nothing else: when its first process began."""
        return containers.seen()[self.node(node).container].started

    def installed(self, node: str) -> dict[str, str]:
        """Versions of the accelerator packages that dpkg has."""
        names = [package.name for package in release(self.node(node).pool.release).packages]
        rows = self.says(node, "dpkg-query", "-W", "-f", "${Package} ${Version}\n", *names).splitlines()
        return dict(row.split(" ", 1) for row in rows)

    def carries(self, node: str, name: str) -> bool:
        """Whether a node has a release: each package of it, and the driver that its tools show."""
        wanted = release(name)
        packages = {package.name: package.version for package in wanted.packages}
        return self.installed(node) == packages and dict(wanted.shows)["driver"] in self.driver(node)

    def driver(self, node: str) -> str:
        """What the vendor's tool on the node says of its driver."""
        if self.node(node).pool.vendor == "amd":
            return self.says(node, "amd-smi", "version")
        return self.says(node, "nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")

    def reset(self) -> None:
        """Everything as `fleet lab up` left it."""
        try_inside(CONTROLLER_CONTAINER, ["systemctl", "start", "slurmctld"])
        inside(CONTROLLER_CONTAINER, ["sh", "-c", NO_JOBS])
        for name in ("controller", *(node.name for node in self.nodes)):
            for kind in standing(self.home, name):
                if kind not in CURED_BY_BOOT or kind in ("freeze", "power"):
                    apply(self.home, Order(name, kind, off=True))
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(self._reset_node, self.nodes))
        for node in self.nodes:
            slurm.control("update", f"nodename={node.name}", "comment=")
            if "DRAIN" in slurm.node_states().get(node.name, "") or "DOWN" in slurm.node_states().get(node.name, ""):
                slurm.control("update", f"nodename={node.name}", "state=resume")
        wait_scheduler(self.plan)

    def _reset_node(self, node: LabNode) -> None:
        if standing(self.home, node.name) or not containers.seen()[node.container].running:
            containers.power_off(node.container, grace_s=0)
            containers.power_on(node.container)
            (self.home.faults / f"{node.name}.json").unlink(missing_ok=True)
        wanted = [f"{package.name}={package.version}" for package in release(node.pool.release).packages]
        inside(node.container, ["sh", "-c", AS_NEW, "as-new", *wanted], timeout_s=120)


def lab_command(*words: str) -> Said:
    """`fleet lab WORDS` in this checkout."""
    return Trial(ROOT / ".fleet" / "acceptance").run("fleet", "lab", *words, seconds=600)
