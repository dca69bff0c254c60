"""The lab's scheduler: its configuration from the layout, and what tests and the demo ask it, run on the controller."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fleet.lab.containers import CONTROLLER_CONTAINER, inside
from fleet.lab.layout import CONTROLLER, Layout, Vendor

JOBCOMP = "/var/log/slurm/jobcomp.log"
CPUS = 64
MEMORY_MIB = 512_000
USER = "alice"
DEVICES = {Vendor.AMD: "/dev/dri/renderD[128-135]", Vendor.NVIDIA: "/dev/nvidia[0-7]"}

HEAD = f"""# The lab's Slurm: written by `fleet lab up`.
ClusterName=lab
SlurmctldHost=fleet-lab-ctl({CONTROLLER})
SlurmUser=slurm
AuthType=auth/munge
MpiDefault=none
# A container shows neither cgroups nor a boot of its own.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
# 1: a node that only was silent comes back by itself; one that an administrator or a fault took down doesn't.
ReturnToService=1
# Long enough for a busy 2-core machine, short enough that a dead node shows within a demo.
SlurmdTimeout=60
SlurmctldTimeout=30
MessageTimeout=20
InactiveLimit=0
KillWait=5
MinJobAge=86400
JobCompType=jobcomp/filetxt
JobCompLoc={JOBCOMP}
JobRequeue=1
StateSaveLocation=/var/lib/slurm/slurmctld
SlurmdSpoolDir=/var/lib/slurm/slurmd
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=3,sched_interval=5,batch_sched_delay=1,defer_batch
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
GresTypes=gpu
MailProg=/bin/true
"""


def configuration(plan: Layout) -> str:
    """slurm.conf for this layout."""
    lines = [
        f"NodeName={node.name} NodeAddr={node.address} CPUs={CPUS} RealMemory={MEMORY_MIB} "
        f"Gres=gpu:{node.pool.accelerator.lower()}:8 Feature={node.pool.vendor},{node.rack} State=UNKNOWN"
        for node in plan.nodes
    ]
    for number, pool in enumerate(plan.pools):
        members = ",".join(node.name for node in plan.members(pool.name))
        if members:
            default = "YES" if number == 0 else "NO"
            lines.append(
                f"PartitionName={pool.name} Nodes={members} Default={default} MaxTime=INFINITE State=UP "
                f"OverSubscribe=NO DefMemPerCPU=1000"
            )
    return HEAD + "\n".join(lines) + "\n"


def gres(plan: Layout) -> str:
    """gres.conf; Slurm drops an accelerator without a file, so each node has empty ones in their places."""
    return "AutoDetect=off\n" + "".join(
        f"NodeName={node.name} Name=gpu Type={node.pool.accelerator.lower()} File={DEVICES[node.pool.vendor]}\n"
        for node in plan.nodes
    )


@dataclass(frozen=True, slots=True)
class JobRecord:
    """What Slurm's own accounting file says of one end (or requeue) of a job."""

    job: int
    name: str
    state: str
    nodes: str


@dataclass(frozen=True, slots=True)
class JobNow:
    """What the scheduler knows of a job at this moment."""

    job: int
    name: str
    state: str
    restarts: int
    nodes: str


def submit(*, partition: str, seconds: int, nodes: int = 1, gpus: int = 1, name: str = "work", user: str = USER) -> int:
    """The id of a real job that sleeps `seconds` on each of `nodes` nodes and holds `gpus` accelerators there."""
    return _submit(partition, seconds, user, ["--nodes", str(nodes), "--gpus-per-node", str(gpus)], name)


def submit_on(node: str, *, partition: str, seconds: int, gpus: int = 1, name: str = "work") -> int:
    """The id of a job that asks for one node by name."""
    return _submit(partition, seconds, USER, ["--nodelist", node, "--gpus-per-node", str(gpus)], name)


def _submit(partition: str, seconds: int, user: str, where: list[str], name: str) -> int:
    minutes = seconds // 60 + 10
    script = f"#!/bin/sh\nsrun --kill-on-bad-exit=0 sleep {seconds:d}\n"
    args = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--reset-env"]
    args += ["sbatch", "--parsable", "--requeue", "--job-name", name, "--partition", partition, *where]
    args += ["--cpus-per-gpu", "4", "--time", str(minutes), "--chdir", "/tmp", "--output", "/dev/null"]
    return int(inside(CONTROLLER_CONTAINER, args, text=script).strip().split(";")[0])


def completions() -> tuple[JobRecord, ...]:
    """Slurm's accounting file, oldest first; empty before the first job ended."""
    text = inside(CONTROLLER_CONTAINER, ["sh", "-c", f"cat {JOBCOMP} 2>/dev/null || true"])
    records = []
    for line in text.splitlines():
        found = dict(re.findall(r"(\w+)=(\S*)", line))
        if "JobId" in found:
            records.append(JobRecord(int(found["JobId"]), found["Name"], found["JobState"], found.get("NodeList", "")))
    return tuple(records)


def jobs() -> tuple[JobNow, ...]:
    """Every job that the scheduler remembers, with its count of restarts."""
    text = inside(CONTROLLER_CONTAINER, ["scontrol", "--oneliner", "show", "job"])
    found = []
    for line in text.splitlines():
        fields = dict(re.findall(r"(\w+)=(\S*)", line))
        if "JobId" in fields:
            found.append(
                JobNow(
                    int(fields["JobId"]),
                    fields["JobName"],
                    fields["JobState"],
                    int(fields["Restarts"]),
                    fields.get("NodeList", ""),
                )
            )
    return tuple(found)


def node_states() -> dict[str, str]:
    """State words of every node as the scheduler says them, for example `IDLE+DRAIN`."""
    text = inside(CONTROLLER_CONTAINER, ["scontrol", "--oneliner", "show", "node"])
    return dict(re.findall(r"NodeName=(\S+).*? State=(\S+)", text))


def control(*words: str) -> str:
    """`scontrol` on the controller, as its administrator."""
    return inside(CONTROLLER_CONTAINER, ["scontrol", *words])
