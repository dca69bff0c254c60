"""How an order ends: what it made true, what becomes of its case and of its rollout."""

from __future__ import annotations

from dataclasses import replace

from fleet.lifecycle.fold import is_on, verified
from fleet.lifecycle.table import LADDER
from fleet.model.health import Case
from fleet.model.ids import Purpose, ReleaseId, Verb
from fleet.model.order import Result, Rollout, RolloutState, WorkOrder
from fleet.model.plan import CaseMoved, OrderClosed
from fleet.planning.draft import PLANNED_WORK, Draft


def close(draft: Draft, order: WorkOrder) -> None:
    """Close an order that has walked its route."""
    good = not order.reverting
    case = draft.observed.records.cases.get(order.node)
    rollout = draft.rollouts.get(order.rollout) if order.rollout else None
    reached = _reached(draft, order, rollout)
    ended = OrderClosed(order.id, order.node, good, "done" if good else f"back on {order.release}", reached)
    if order.purpose is Purpose.REPAIR:
        policy = draft.policy(draft.declared.nodes[order.node])
        ended = replace(ended, probation_until=draft.at + policy.probation, rungs=_rungs(order, case))
    draft.changes.append(ended)
    if order.purpose is Purpose.REPAIR:
        if case is not None and case.open:
            passed = verified(order)
            closed = replace(case, closed=draft.at)
            draft.changes.append(CaseMoved(closed, f"verified {passed.detail if passed else ''}"))
        _put_right(draft, order)
    rollout = draft.rollouts.get(order.rollout) if order.rollout else None
    if rollout is not None and good and reached == rollout.release and order.node not in rollout.passed:
        draft.move(replace(rollout, passed=(*rollout.passed, order.node)), f"{order.node} passed")


def _reached(draft: Draft, order: WorkOrder, rollout: Rollout | None) -> ReleaseId | None:
    """The release that an order made true. A repair that took over an upgrade may have ended on the new one."""
    if order.purpose in PLANNED_WORK:
        return order.release
    if order.purpose is not Purpose.REPAIR or rollout is None or order.node in rollout.failed:
        return None
    release = draft.release(rollout.release)
    return rollout.release if release is not None and is_on(draft.seen(order.node), release) is True else None


def _rungs(order: WorkOrder, case: Case | None) -> tuple[Verb, ...]:
    """The remedies taken since the case opened; a reboot of the upgrade before it was none."""
    since = case.opened if case is not None else order.opened
    done = (step for step in order.steps if step.result is Result.DONE and step.began >= since)
    return tuple(step.verb for step in done if step.verb in LADDER)


def _put_right(draft: Draft, order: WorkOrder) -> None:
    """What failed in a rollout and was repaired and proved may be tried again; with nothing else failed it goes on."""
    for rollout in list(draft.rollouts.values()):
        if order.node not in rollout.failed or order.node in rollout.canaries:
            continue  # what a canary's failure says about the release isn't mended by mending the canary
        if rollout.state not in {RolloutState.RUNNING, RolloutState.HALTED}:
            continue
        failed = tuple(node for node in rollout.failed if node != order.node)
        state = rollout.state if failed else RolloutState.RUNNING
        draft.move(replace(rollout, state=state, failed=failed), f"{order.node} was put right and proved")
