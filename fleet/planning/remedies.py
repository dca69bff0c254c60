"""Which rung of the ladder a case begins on, and which comes after a failure.

The lowest rung that policy names for the causes, never below what was tried in vain: a relapse in probation begins one
rung higher than the last remedy, and tries within `repeat` add up. Rungs that the release forbids, or that cannot help
against a cause, are passed over. Where it can't be seen which release runs, what any candidate forbids is forbidden.
"""

from __future__ import annotations

from datetime import datetime

from fleet.lifecycle.table import LADDER
from fleet.model.health import Case
from fleet.model.ids import Verb
from fleet.model.observation import Enrolment, NodeSeen
from fleet.model.policy import Policy
from fleet.model.topology import Declared, DeclaredNode

MEANING_DEPENDS_ON_DRIVER = frozenset(f"xid_{number}" for number in range(144, 151))
"""Causes whose remedy can't be chosen while the driver's version is unknown (the NVLink 5 decode tables)."""


def forbidden(
    node: DeclaredNode, seen: NodeSeen, enrolled: Enrolment, case: Case, declared: Declared
) -> frozenset[Verb]:
    """Rungs that must not be taken on the node for this case."""
    pool = declared.pools[node.pool]
    applied = declared.releases.get(enrolled.applied) if enrolled.applied else None
    if applied is not None and all(part in seen.shown for part in applied.versions):
        releases = [applied]
    else:
        releases = [release for release in declared.releases.values() if release.vendor in ("", pool.vendor)]
    found = {rung for release in releases for rung in release.forbids}
    for cause in case.causes:
        found |= set(pool.policy.skip.get(cause, ()))
    return frozenset(found)


def undecided(seen: NodeSeen, case: Case) -> str:
    """Why no remedy can be chosen yet; empty where one can."""
    dark = {gap.what for gap in seen.gaps}
    if "driver" in dark and MEANING_DEPENDS_ON_DRIVER & set(case.causes):
        return f"what {', '.join(case.causes)} asks for depends on the driver, whose version can't be read"
    return ""


def rung_for(case: Case, policy: Policy, barred: frozenset[Verb], enrolled: Enrolment, at: datetime) -> Verb | None:
    """Where the ladder begins for a case; None where the fault goes by itself (`recover`)."""
    if policy.recover and all(cause in policy.recover for cause in case.causes):
        return None
    least = max((height(policy.first_rung[cause]) for cause in case.causes if cause in policy.first_rung), default=0)
    if enrolled.probation_until is not None and at < enrolled.probation_until and enrolled.probation_rung:
        least = max(least, height(Verb(enrolled.probation_rung)) + 1)
    recent = [rung for when, rung in enrolled.tries if at - when <= policy.repeat]
    spent = {rung for rung in policy.ladder if recent.count(rung) >= policy.tries(rung)} if recent else set()
    barred |= spent
    return next((rung for rung in policy.ladder if height(rung) >= least and rung not in barred), Verb.RMA)


def next_rung(taken: Verb | None, policy: Policy, barred: frozenset[Verb]) -> Verb:
    """The rung above one that failed; a person where there is none."""
    return next((rung for rung in policy.ladder if height(rung) > height(taken) and rung not in barred), Verb.RMA)


def height(rung: Verb | None) -> int:
    """How high a rung stands on the ladder of all remedies; below all of them where there is none."""
    return LADDER.index(rung) if rung is not None else -1
