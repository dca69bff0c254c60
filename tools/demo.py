"""`make demo`: the product at work on a small real fleet, and what was proven, from the sources of truth.

What it shows is asked past the product wherever that is possible: jobs and nodes in service from Slurm, versions from
the nodes themselves. Where containers can't run it says why, and rolls the same release over a simulated fleet.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fleet.lab.containers import inside
from fleet.lab.home import Home, LabState
from fleet.lab.layout import layout
from fleet.lab.releases import release
from tools.containers import why_not
from tools.trial import COMMITTED, ROOT, Trial, began
from tools.witness import JobFigures, Load, Witness, wait_for_jobs

POOL, RELEASE, OTHERS = "train", "amd-2026.2", "infer"
BEGAN = time.monotonic()


@dataclass(frozen=True, slots=True)
class Proof:
    """One line of what was proven: the claim, the figure, who says so, and whether it holds."""

    claim: str
    figure: str
    source: str
    holds: bool


def say(text: str = "") -> None:
    """A line for the reader, on standard error, as progress is."""
    print(text, file=sys.stderr, flush=True)


def step(text: str) -> None:
    """The next thing that happens, with the time since the beginning."""
    say(f"\n[{time.monotonic() - BEGAN:4.0f} s] {text}")


def shown(trial: Trial, *words: str) -> int:
    """A command as a user types it, its output straight to the reader. Gives its exit code."""
    say(f"$ {' '.join(words)}")
    return subprocess.run(words, cwd=ROOT, env=trial.environment, stdin=subprocess.DEVNULL, check=False).returncode


def simulated(reason: str) -> int:
    """The same roll in virtual time."""
    say(f"Containers can't run here: {reason}.")
    say("So this is the same upgrade, decided by the same code, on a fleet that does not exist and in virtual time.\n")
    command = ("fleet", "simulate", "--inventory", str(COMMITTED.relative_to(ROOT)), "--pool", POOL, "--to", RELEASE)
    trial = Trial(ROOT / ".fleet" / "demo")
    return shown(trial, *command)


def prepare() -> Trial | None:
    """A lab as new, and its nodes made to exist by Pulumi; None where that failed."""
    if LabState.read(Home.here()) is not None:
        step("a lab is up already: it is taken down, so that every node starts on the old release")
        subprocess.run(("fleet", "lab", "down"), check=False, stdout=subprocess.DEVNULL)
    trial = Trial.begin("demo")
    step("six nodes, their BMCs, a scheduler and a package repository")
    if shown(trial, "fleet", "lab", "up"):
        return None
    step("make what is declared exist: BMC, serial, power, boot, pinned host key, a place in the ledger")
    say("$ cd stacks/lab && pulumi up")
    made = trial.enrol()
    say("\n".join(line for line in made.out.splitlines() if "fleet:index:Node" in line or "Resources" in line))
    if made.code:
        say(made.all)
        return None
    return trial


def upgrade(trial: Trial) -> tuple[int, str]:
    """The upgrade itself, its progress and report straight to the reader. Gives its exit code and its report."""
    words = ("fleet", "upgrade", "--rolling", POOL, "--to", RELEASE, "--declare", "--yes")
    say(f"$ {' '.join(words)}")
    done = subprocess.run(
        words, cwd=ROOT, env=trial.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False
    )
    print(done.stdout, flush=True)
    return done.returncode, done.stdout


def node_says(name: str) -> str:
    """The driver that a node's own tool shows."""
    text = inside(f"fleet-lab-{name}", ["amd-smi", "version"])
    return text.strip().rpartition("amdgpu version:")[2].split("|")[0].strip() or text.strip()


def proofs(
    trial: Trial, witness: Witness, figures: JobFigures, nodes: Sequence[str], code: int, report: str
) -> list[Proof]:
    """What can be said now, each with its source."""
    wanted = dict(release(RELEASE).shows)["driver"]
    versions = {name: node_says(name) for name in nodes}
    budget_floor = -(-len(nodes) // 2)
    lowest = witness.lowest(nodes)
    drains = witness.drains()
    waiting = witness.fewest_waiting()
    steps = Counter(entry["detail"]["verb"] for entry in began(trial.trail()))
    did = ", ".join(f"{count} {verb}" for verb, count in steps.items()) or "none"
    makespan = next((line.split(maxsplit=1)[1] for line in report.splitlines() if "makespan" in line), "not said")
    jobs = f"{figures.submitted} submitted, {figures.finished} finished, "
    jobs += f"{len(figures.killed)} killed, {len(figures.requeued)} requeued"
    good = not figures.killed and not figures.requeued and figures.finished == figures.submitted
    on = sum(1 for version in versions.values() if wanted in version)
    looks = f"Slurm, {len(witness.answered)} looks, at most {witness.longest_gap():.1f} s apart"
    return [
        Proof("the upgrade ended well", f"exit {code}", "fleet upgrade", code == 0),
        Proof("no job was lost", jobs, "Slurm: jobcomp file, Restarts", good),
        Proof("the queue was never empty", f"at least {waiting} waiting", looks, waiting > 0),
        Proof("each node had work when its drain began", f"{sum(drains.values())} of {len(drains)}", looks,
              len(drains) == len(nodes) and all(drains.values())),
        Proof("the floor held", f"lowest {lowest} of {len(nodes)} in service, floor {budget_floor}", looks,
              lowest >= budget_floor),
        Proof(f"each node runs driver {wanted}", f"{on} of {len(nodes)}", "amd-smi on each node", on == len(nodes)),
        Proof("makespan", makespan, "fleet upgrade", makespan != "not said"),
        Proof("steps taken", did, "reason trail", bool(steps)),
        Proof("the reason trail is whole", "chain checked", "fleet trail verify",
              trial.fleet("trail", "verify").code == 0),
    ]  # fmt: skip


def table(found: Sequence[Proof]) -> str:
    """The proofs as text of at most 100 columns or so."""
    rows = []
    for proof in found:
        rows.append(f"  {'ok ' if proof.holds else 'NO '} {proof.claim:41} {proof.figure}")
        rows.append(f"      {'':41} says: {proof.source}")
    return "\n".join(rows)


def main() -> int:
    """The whole demonstration."""
    reason = why_not()
    if reason:
        return simulated(reason)
    trial = prepare()
    if trial is None:
        return 1
    nodes = [node.name for node in layout(6).members(POOL)]
    with Witness() as witness:
        step(f"real jobs into the partition {POOL}: several sizes and lengths, and a queue that never runs empty")
        load = Load(POOL, witness, long_on=nodes[-1])
        load.begin(nodes)
        step(f"move the pool to {RELEASE} while they run (--declare edits the demo's copy of the inventory)")
        witness.mark()
        code, report = upgrade(trial)
        witness.mark()
        load.stop()
    step("waiting for the last jobs to end")
    figures = wait_for_jobs(load.jobs)
    found = proofs(trial, witness, figures, nodes, code, report)
    step("what was proven")
    print(table(found), flush=True)
    for trouble in load.trouble[:3]:
        say(f"note: handing a job in failed: {trouble}")
    say(f"\nDone in {time.monotonic() - BEGAN:.0f} s. The lab is still up; look around, then take it down:")
    say("  . .fleet/demo/env      # this shell now means the demo's inventory and ledger")
    say(f"  fleet status; fleet why {nodes[0]}; fleet drift; fleet trail show")
    say("  fleet lab down")
    return 0 if all(proof.holds for proof in found) else 1


if __name__ == "__main__":
    sys.exit(main())
