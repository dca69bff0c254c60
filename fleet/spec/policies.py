"""A policy as written becomes the model's Policy of one pool; and what in it contradicts itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from fleet.model.ids import NodeId
from fleet.model.policy import (
    Amount,
    Approval,
    ApprovalPolicy,
    BreakerPolicy,
    BurstPolicy,
    DrainPolicy,
    Gate,
    Matter,
    Policy,
    VerifyPolicy,
    Window,
    WipePolicy,
)
from fleet.spec.policy_file import BreakerFile, BudgetFile, DrainFile, FloorFile, GateFile, PolicyFile

_KINDS = ("rack", "feed", "loop", "leaf", "nvlink", "site")


def policy_of(
    name: str,
    written: PolicyFile,
    pool: str,
    *,
    roles: Mapping[str, Sequence[str]] | None = None,
    at: Callable[[tuple[str, ...]], str] | None = None,
) -> Policy:
    """The rules of one pool under a policy, its own amounts picked out where they are given by pool.

    `roles` are the people of the site by role; `at` gives the file and line of keys within the policy.
    """
    least = written.at_least_one
    return Policy(
        name=name,
        budget=_amounts(written.budget, pool),
        floor=_amounts(written.floor, pool),
        domains_out={str(kind): most for kind, most in written.budget.domains_out.items()},
        at_least_one=least if isinstance(least, bool) else pool in least,
        **_rollout(written),
        **_remedies(written),
        **_people(written),
        drain=_drain(written.drain),
        breaker=_breaker(written.breaker),
        heartbeat=written.heartbeat,
        step_deadline=written.step_deadline,
        stuck_after=written.stuck_after,
        wipe=WipePolicy(written.wipe.grade, written.wipe.deadline),
        burst=_burst(written),
        approvals=_approvals(written, roles or {}),
        places=dict(_places(written, at)) if at is not None else {},
    )


_DEPTH = 3
"""How deep the lines of keys are kept: `first_rung.xid_79`, `budget.pool.train`."""


def _places(written: BaseModel, at: Callable[[tuple[str, ...]], str]) -> Iterator[tuple[str, str]]:
    yield "", at(())
    waiting: list[tuple[tuple[str, ...], Any]] = [((), written)]
    while waiting:
        keys, value = waiting.pop()
        inner: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
        if isinstance(value, BaseModel):
            inner = {key: getattr(value, key) for key in value.model_fields_set}
        for key, found in inner.items():
            deeper = (*keys, str(key))
            yield ".".join(deeper), at(deeper)
            if len(deeper) < _DEPTH:
                waiting.append((deeper, found))


def _approvals(written: PolicyFile, roles: Mapping[str, Sequence[str]]) -> ApprovalPolicy:
    asked = ((matter, getattr(written.approvals, matter.value)) for matter in Matter)
    return ApprovalPolicy(
        roles={role: tuple(people) for role, people in roles.items()},
        matters={matter: Approval(tuple(one.role), one.people) for matter, one in asked if one is not None},
        expires=written.approvals.expires,
    )


def _rollout(written: PolicyFile) -> dict[str, Any]:
    """Waves, canaries, and what ends a roll."""
    canary, limit = written.canary, written.failure_limit
    named = tuple(map(NodeId, canary.nodes)) if isinstance(canary.nodes, list) else ()
    return {
        "wave_sizes": tuple(size if isinstance(size, int) else 0 for size in written.waves.sizes),
        "listed_order": written.waves.order == "listed",
        "canary": canary.nodes if isinstance(canary.nodes, int) else len(named),
        "canary_nodes": named,
        "soak": canary.soak or written.soak or timedelta(0),
        "gate": _gate(canary.gate or written.gate),
        "failure_limit": (limit.nodes or limit.share) if limit is not None else None,
        "windows": tuple(Window(one.opens, one.closes, one.every) for one in written.windows),
    }


def _remedies(written: PolicyFile) -> dict[str, Any]:
    """The ladder, tries, and how fitness is proved."""
    verify = written.verify
    return {
        "attempts": written.attempts,
        "ladder": tuple(written.ladder),
        "first_rung": written.first_rung,
        "skip": {fault: tuple(rungs) for fault, rungs in written.skip.items()},
        "probation": written.probation,
        "repeat": written.repeat.within if written.repeat is not None else timedelta(0),
        "recover": written.recover,
        "verify": VerifyPolicy(tuple(verify.tests), tuple(verify.after_relapse), verify.load, verify.unit),
        "reserve_for_repair": written.reserve_for_repair,
    }


def _people(written: PolicyFile) -> dict[str, Any]:
    """What people decide, and what is done about their cordons."""
    return {
        "foreign_cordon": written.foreign_cordon,
        "override_until_new_evidence": written.override == "until_new_evidence",
        "approval_required": written.approval == "required",
        "autonomy": written.autonomy,
        "confirm_retire": written.retire.confirm == "serial",
    }


def _drain(written: DrainFile) -> DrainPolicy:
    return DrainPolicy(
        how=written.how,
        deadline=written.deadline,
        then=written.then,
        ask_checkpoint=written.ask_checkpoint,
        checkpoint_wait=written.checkpoint_wait,
        stop_services=tuple(written.stop_services),
    )


def contradictions(written: PolicyFile) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """What in a policy can't be meant: where it stands, what it is, what to write instead."""
    ladder = [rung.value for rung in written.ladder]
    for fault, rung in written.first_rung.items():
        if rung not in written.ladder:
            yield ("first_rung", fault), f"'{rung}' is not on the ladder", f"one of {', '.join(ladder)}"
    if len(set(ladder)) != len(ladder):
        yield ("ladder",), "a rung stands on the ladder twice", "name each rung once"
    if written.drain.then != "wait" and written.drain.deadline is None:
        yield ("drain", "then"), f"'{written.drain.then}' needs a deadline", "add `deadline: 2h`"
    if written.breaker is not None and (written.breaker.share is None) == (written.breaker.nodes is None):
        yield ("breaker",), "the breaker needs either `share` or `nodes`", "write `share: 20%`"
    limit = written.failure_limit
    if limit is not None and (limit.nodes is None) == (limit.share is None):
        yield ("failure_limit",), "the limit needs either `nodes` or `share`", "write `nodes: 2`"
    for index, one in enumerate(written.windows):
        if one.closes <= one.opens:
            yield ("windows", str(index)), "the window closes before it opens", "write `to` later than `from`"
        elif one.every is not None and one.every < one.closes - one.opens:
            yield ("windows", str(index)), "the window is longer than `every`", "leave `windows` out to work always"
    if "rest" in written.waves.sizes[:-1]:
        yield ("waves", "sizes"), "`rest` leaves nothing for the sizes after it", "write `rest` last"


def _amounts(written: BudgetFile | FloorFile, pool: str) -> Mapping[str, Amount]:
    own = written.pool.get(pool, written.pool.get(""))
    found: dict[str, Amount | None] = {"pool": own, **{kind: getattr(written, kind) for kind in _KINDS}}
    return {kind: amount for kind, amount in found.items() if amount is not None}


def _gate(written: GateFile | None) -> Gate | None:
    return Gate(written.figure, written.worst_drop) if written is not None else None


def _breaker(written: BreakerFile | None) -> BreakerPolicy | None:
    if written is None:
        return None
    share = written.share or written.nodes or Amount(percent=100.0)
    ramp = written.ramp
    return BreakerPolicy(
        window=written.window,
        share=share,
        quiet=written.quiet,
        ramp=ramp.nodes if ramp is not None else None,
        once_per=written.once_per,
        ramp_per=ramp.per if ramp is not None else None,
    )


def _burst(written: PolicyFile) -> BurstPolicy | None:
    burst = written.burst
    return BurstPolicy(burst.lifetime, burst.boot_deadline, tuple(burst.types)) if burst is not None else None
