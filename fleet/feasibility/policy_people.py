"""Approvals that nobody can give, and purposes that nobody works on."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from fleet.feasibility.boards import near
from fleet.feasibility.problem import Level, Problem
from fleet.feasibility.scope import Scope, named
from fleet.model.ids import Autonomy, Purpose
from fleet.model.policy import Approval, Matter
from fleet.model.topology import Declared

NAMESPACE = "fleet-approval"
"""What a key in allowed_signers must be allowed to sign."""

_RULE = f"an approval is signed with a key that allowed_signers lists for the namespace {NAMESPACE}"
_FIX = f'add a line: NAME namespaces="{NAMESPACE}" ssh-ed25519 KEY'


def people(declared: Declared, scope: Scope) -> Iterator[Problem]:
    """Whose word is needed and can't be had, and what `observe` leaves undone."""
    yield from _roles(scope)
    yield from _approvals(declared, scope)
    yield from _autonomy(scope)


def _roles(scope: Scope) -> Iterator[Problem]:
    rules = scope.policy.approvals
    for matter, needed in rules.matters.items():
        for role in needed.roles:
            if role not in rules.roles:
                what = f"policy {scope.policy.name} wants {matter} approved by the role {role}, which isn't declared"
                fix = near(role, rules.roles) or f"write `roles: {{{role}: [NAME]}}` in policy.yaml"
                where = scope.place("approvals", matter.value)
                yield Problem("policy-approval-role", Level.ERROR, where, what, fix, "roles of policy.yaml")


def _approvals(declared: Declared, scope: Scope) -> Iterator[Problem]:
    rules = scope.policy.approvals
    needed: dict[str, tuple[Approval, tuple[str, ...] | None, str]] = {
        matter.value: (rules.matters[matter], rules.people(matter), scope.place("approvals", matter.value))
        for matter in rules.matters
    }
    if scope.policy.approval_required and Matter.ROLLOUT not in rules.matters:
        needed["a rollout"] = (Approval(), None, scope.place("approval"))
    proposed = [purpose for purpose, how in scope.policy.autonomy.items() if how is Autonomy.PROPOSE]
    if proposed:
        needed[f"what is proposed ({named(proposed)})"] = (Approval(), None, scope.place("autonomy"))
    for matter, (approval, who, where) in needed.items():
        if who is not None and any(role not in rules.roles for role in approval.roles):
            continue  # said above
        wrong = _missing(declared, approval, who)
        if wrong:
            what = f"policy {scope.policy.name} wants {matter} approved, and nobody can: {wrong[0]}"
            yield Problem("policy-approval-nobody", Level.ERROR, where, what, wrong[1], _RULE, wrong[2])


def _missing(declared: Declared, approval: Approval, who: tuple[str, ...] | None) -> tuple[str, str, str] | None:
    """What keeps an approval from being given, what would mend it, and the count; None where it can be given."""
    keys, wanted = declared.approvers, approval.people
    if who is not None and len(who) < wanted:
        fix = f"name {wanted - len(who)} more in {named(approval.roles)}, or ask for {max(len(who), 1)}"
        return f"it takes {wanted}, and {named(approval.roles)} has {len(who)}", fix, f"{len(who)} of {wanted} people"
    if keys is None:
        return None
    if any(set("*?") & set(key) for key in keys) and who is None:
        return None
    able = keys if who is None else tuple(one for one in who if any(fnmatchcase(one, key) for key in keys))
    if len(able) >= wanted:
        return None
    lacking = f"no key of {named(one for one in who if one not in able)}" if who else "no key at all"
    return f"allowed_signers has {lacking} for {NAMESPACE}", _FIX, f"{len(able)} of {wanted} with a key"


def _autonomy(scope: Scope) -> Iterator[Problem]:
    policy = scope.policy
    watched = {purpose for purpose in Purpose if policy.may(purpose) is Autonomy.OBSERVE}
    acting = any(policy.may(purpose) is Autonomy.ACT for purpose in Purpose)
    found: list[tuple[str, str]] = []
    if Purpose.UPGRADE in watched:
        rules = [key for key, said in (("approval", policy.approval_required), ("windows", policy.windows)) if said]
        if rules:
            told = f"only observes UPGRADE, so that nothing comes of its {named(rules)}"
            found.append((told, "write `UPGRADE: propose`"))
    if Purpose.REPAIR in watched and policy.reserve_for_repair:
        told = f"only observes REPAIR, and keeps {policy.reserve_for_repair} slots for repairs that never begin"
        found.append((told, "write `REPAIR: act`, or keep no slots"))
    if acting and policy.may(Purpose.SHED) is not Autonomy.ACT:
        told = f"may not act on SHED ({policy.may(Purpose.SHED)}): an emergency of power or cooling waits for a person"
        found.append((told, "write `SHED: act`"))
    for text, fix in found:
        what, where = f"policy {policy.name} {text}", scope.place("autonomy")
        yield Problem("policy-autonomy", Level.WARNING, where, what, fix, "autonomy is per purpose")
