"""What `fleet upgrade` is made of: the edit that declares a release, plan or open rollout, run, report."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from fleet.app import Fleet
from fleet.cli.live import Progress
from fleet.cli.passes import make_passes
from fleet.cli.say import ask, progress
from fleet.errors import Misuse, Untrusted
from fleet.execution.ending import Ending, ending, left
from fleet.model.ids import NodeId, PoolId, ReleaseId, RolloutId, Verb
from fleet.model.observation import Observed
from fleet.model.order import Rollout, RolloutState
from fleet.model.plan import Plan, RolloutPlan
from fleet.model.topology import Declared, Pool
from fleet.planning.bound import Work, bound
from fleet.planning.capacity import survey
from fleet.planning.preview import members, preview
from fleet.render import rollout as told
from fleet.render.history import NodeRun, durations, runs, steps_of
from fleet.render.text import Line, Span, line, title
from fleet.spec.edit import set_value
from fleet.spec.nodesets import resolve

OPEN = frozenset({RolloutState.PLANNED, RolloutState.RUNNING, RolloutState.PAUSED, RolloutState.HALTED})
REMEMBERED = 2000
"""How many entries of the trail durations are learnt from."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line asks for."""

    pool: PoolId
    canary: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """Either an open rollout to take up, or the plan of a fresh one; `ended` where there is nothing to begin."""

    wanted: Wanted
    plan: RolloutPlan
    rollout: Rollout | None = None
    ended: str | None = None  # nothing, held, halted, refused
    earlier: str = ""
    nodes: tuple[NodeId, ...] = ()
    measured: bool = True

    @property
    def code(self) -> int:
        """The exit code where nothing begins."""
        return {"nothing": 0, "held": 4, "halted": 4, "refused": 1}.get(self.ended or "", 0)

    def lines(self, width: int) -> list[Line]:
        """What is shown before anything begins."""
        if self.ended == "nothing":
            done = len(self.plan.already)
            return [
                line(Span(f"nothing to do: all {done} nodes of {self.plan.pool} are on {self.plan.release}", "good"))
            ]
        if self.rollout is None:
            return told.plan(self.plan, width=width, earlier=self.earlier, measured=self.measured)
        rollout = self.rollout
        counts = f"{len(rollout.passed)} of {len(rollout.nodes)} done"
        lines = [title(f"rollout {rollout.id} of {rollout.release} to {rollout.pool} is {rollout.state}, {counts}")]
        if self.ended is not None:
            lines.append(line("  ", rollout.why))
            lines.append(line("go on with: ", Span(told.again(rollout, self.ended), "bold")))
        return lines

    def facts(self) -> dict[str, object]:
        """The same for `--json`."""
        rollout = self.rollout.id if self.rollout is not None else None
        return {"result": self.ended or "planned", "rollout": rollout, **told.plan_facts(self.plan)}


def declare_release(fleet: Fleet, pool: Pool, release: ReleaseId, *, declare: bool, yes: bool) -> None:
    """Shows the edit that declares a release for a pool, and makes it where that was asked for."""
    declared = fleet.declared()
    if release not in declared.releases:
        known = ", ".join(found.id for found in declared.releases.values() if found.vendor == pool.vendor)
        raise Misuse(f"--to {release}", "there is no such release", f"releases for {pool.id}: {known}")
    edit = set_value(fleet.settings.inventory / "pools.yaml", "pools", pool.id, "release", release)
    progress([line(part) for part in edit.diff(fleet.settings.root).splitlines()])
    if not declare:
        cause = f"git declares {pool.release} for {pool.id}"
        raise Misuse(f"--to {release}", cause, "make the edit above and commit it, or let --declare make it")
    if not ask("Make this edit?", yes=yes):
        raise Misuse("nothing was edited", "you said no", "make the edit by hand")
    edit.write()
    progress([line(f"edited {edit.path}; commit it: git is the audit log")])


def find_or_plan(fleet: Fleet, wanted: Wanted) -> Asked:
    """The open rollout of the pool towards its declared release, or the plan of a fresh one."""
    declared, observed = fleet.controller().look()
    release = declared.pools[wanted.pool].release
    exclude, canary = (resolve(texts, declared) if texts else () for texts in (wanted.exclude, wanted.canary))
    concerned = tuple(node for node in members(declared, observed, wanted.pool) if node not in set(exclude))
    _must_be_of_pool(canary, concerned, wanted.pool)
    entries = fleet.store.trail(limit=REMEMBERED)
    measured = durations(entries)
    plan = preview(declared, observed, wanted.pool, release, exclude=exclude, canary=canary, durations=measured)
    mine = [r for r in observed.records.rollouts.values() if r.pool == wanted.pool]
    current = next((r for r in mine if r.state in OPEN and set(r.nodes) & set(concerned)), None)
    if plan.refused is not None:
        return Asked(wanted, plan, None, "refused")
    if current is not None and current.release == release:
        stopped = current.state in {RolloutState.HALTED, RolloutState.PAUSED}
        idle = not any(node in observed.records.orders for node in current.nodes)
        return Asked(wanted, plan, current, "halted" if stopped and idle else None)
    if current is not None and any(node in observed.records.orders for node in current.nodes):
        next_step = f"let it end, or end it: fleet rollout abort {current.id}"
        raise Misuse(f"rollout {current.id} of {current.release}", f"it is {current.state}", next_step)
    if not plan.waves and not any(node in observed.records.orders for node in concerned):
        return Asked(wanted, plan, None, "held" if plan.held else "nothing")
    last = max(mine, key=lambda r: r.opened, default=None)
    if last is not None and last.release == release and last.state is RolloutState.REVERTED:
        return Asked(wanted, plan, last, "halted")  # only a person's word tries a failed release again
    earlier = f"{last.id} was {last.state}: {last.why}" if last and last.release == release and last.failed else ""
    known = any(taken.verb is Verb.VERIFY for _, taken in steps_of(entries).values())
    return Asked(wanted, plan, None, None, earlier, concerned, known)


def _must_be_of_pool(canary: tuple[NodeId, ...], concerned: tuple[NodeId, ...], pool: PoolId) -> None:
    strange = [node for node in canary if node not in concerned]
    if strange:
        raise Misuse(f"--canary {', '.join(strange)}", f"not a node of the rollout to {pool}", "name nodes of the pool")


def open_rollout(fleet: Fleet, asked: Asked, by: str) -> Rollout:
    """Writes the rollout that was shown and confirmed into the ledger."""
    release = fleet.declared().releases[asked.plan.release]
    if not fleet.store.accept(release.id, release.serial):
        cause = f"its serial {release.serial} is behind one that this ledger has accepted"
        raise Untrusted(f"release {release.id}", cause, "declare the newer release")
    now = fleet.clock.now()
    salt = hashlib.sha256(f"{now.isoformat()} {asked.wanted.pool}".encode()).hexdigest()[:4]
    required = fleet.declared().pools[asked.wanted.pool].policy.approval_required
    opened = Rollout(
        id=RolloutId(f"ro-{now:%y%m%d}-{asked.wanted.pool}-{salt}"),
        pool=asked.wanted.pool,
        release=asked.plan.release,
        opened=now,
        state=RolloutState.PLANNED if required else RolloutState.RUNNING,
        nodes=asked.nodes,
        canaries=asked.plan.canaries if asked.wanted.canary else (),
        by=by,
        why=f"ordered by {by}",
        plan=asked.plan.identity,
        changed=now,
    )
    fleet.store.open_rollout(opened, by)
    return opened


def follow(fleet: Fleet, rollout: Rollout) -> told.Report:
    """Run or follow the rollout until it is over, with live progress; gives its report."""
    view = Progress(fleet.clock, lambda: rollout.nodes, fleet.settings.patience, rollout.pool)
    endings: list[Ending] = []

    def over(plan: Plan, observed: Observed) -> bool:
        found = ending(plan, observed, rollout.id, view.out_of_sight())
        if found is not None:
            endings.append(found)
        return found is not None

    try:
        whole = make_passes(fleet, view, over)
    except KeyboardInterrupt:
        whole = False
        fleet.engine.stop()
    finally:
        view.close()
    result = str(endings[-1]) if whole and endings else "interrupted"
    return report(fleet, rollout.id, view, result)


def report(fleet: Fleet, rollout_id: RolloutId, view: Progress, result: str) -> told.Report:
    """What came of a rollout, from the trail and from what was seen."""
    rollout = fleet.store.records().rollouts[rollout_id]
    both = view.seen()
    declared, observed = both if both is not None else (fleet.declared(), None)
    found = runs(fleet.store.trail(since=rollout.opened), rollout.id)
    shown = {n: observed.nodes[n].shown for n in rollout.nodes if n in observed.nodes} if observed is not None else {}
    policy = declared.pools[rollout.pool].policy
    floor, size = policy.floor.get("pool"), len([n for n in declared.nodes.values() if n.pool == rollout.pool])
    began = [run.began for run in found.values() if run.began is not None]
    opened = [run.opened for run in found.values() if run.opened is not None]
    makespan = (max(opened) - min(began)).total_seconds() if opened and began else None
    held = left(rollout, view.last) if view.last is not None and result != "done" else ()
    return told.Report(
        result=result,
        rollout=rollout,
        runs=found,
        shown=shown,
        held=held,
        makespan=makespan,
        bound=_bound(declared, observed, rollout, found, view) if makespan and observed is not None else None,
        lowest=view.lowest,
        floor=floor.as_floor(size) if floor is not None else 0,
        troubles=view.troubles,
    )


def _bound(
    declared: Declared, observed: Observed, rollout: Rollout, found: Mapping[NodeId, NodeRun], view: Progress
) -> float | None:
    """The bound with the durations that were real; nodes that were held at the end are left out."""
    policy = declared.pools[rollout.pool].policy
    whole = {node: run for node, run in found.items() if run.opened is not None and run.began is not None}
    if not whole:
        return None
    start = min(run.began for run in whole.values() if run.began is not None)
    capacity = survey(declared, observed)
    slots = {}
    for node in whole:
        for domain in declared.nodes[node].domains:
            free = capacity.slots(domain, policy)
            if free is not None:
                slots[domain] = max(free, 1)

    def work(node: NodeId, run: NodeRun) -> Work:
        free_at = view.free_at.get(node) if view.began <= start else None  # who came later saw no beginning
        ready = max((free_at - start).total_seconds(), 0.0) if free_at is not None else 0.0
        soak = policy.soak.total_seconds() if node in rollout.canaries else 0.0
        takes = run.worked + soak + sum(step.seconds for step in run.steps if step.verb is Verb.CORDON)
        return Work(node, takes, ready, declared.nodes[node].domains)

    first = [work(node, run) for node, run in whole.items() if node in rollout.canaries]
    rest = [work(node, run) for node, run in whole.items() if node not in rollout.canaries]
    return bound([stage for stage in (first, rest) if stage], slots).seconds
