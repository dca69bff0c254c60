"""Signals become cases: one open case per node, with its causes, worst severity and evidence.

Evidence from before the node was last proven fit is history; what came while planned work of ours ran on the node
(a driver reload, a reboot, a flash) is recorded by the trail and not judged.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from fleet.lifecycle.table import DISRUPTIVE
from fleet.model.health import Case, Severity, Signal
from fleet.model.ids import CaseId, NodeId
from fleet.model.observation import Enrolment, Observed
from fleet.model.order import WorkOrder
from fleet.model.plan import CaseMoved
from fleet.model.topology import Declared

_RANK = {Severity.WATCH: 0, Severity.DEGRADED: 1, Severity.FATAL: 2}
_MOST_EVIDENCE = 20


def diagnose(declared: Declared, observed: Observed) -> tuple[CaseMoved, ...]:
    """Cases that open or gain evidence in this pass."""
    moved: list[CaseMoved] = []
    records = observed.records
    for seen in observed.nodes.values():
        if not seen.signals or seen.id not in declared.nodes:
            continue
        order = records.orders.get(seen.id)
        enrolled = records.enrolled.get(seen.id)
        signals = [s for s in seen.signals if s.severity is not Severity.WATCH and _counts(s, order, enrolled)]
        found = _judge(seen.id, records.cases.get(seen.id), signals, observed.at)
        if found is not None:
            moved.append(found)
    return tuple(moved)


def _counts(signal: Signal, order: WorkOrder | None, enrolled: Enrolment | None) -> bool:
    """Whether a signal says something about the node as it is now."""
    if enrolled is None or enrolled.retired or (enrolled.fit_since is not None and signal.at <= enrolled.fit_since):
        return False
    for step in order.steps if order is not None else ():
        if step.verb in DISRUPTIVE and step.began <= signal.at and (step.ended is None or signal.at <= step.ended):
            return False
    return True


def _judge(node: NodeId, case: Case | None, signals: list[Signal], at: datetime) -> CaseMoved | None:
    if case is not None and not case.open:
        signals = [signal for signal in signals if case.closed is not None and signal.at > case.closed]
    if not signals:
        return None
    causes = tuple(dict.fromkeys(signal.what for signal in signals))
    worst = max((signal.severity for signal in signals), key=_RANK.__getitem__)
    evidence = tuple(dict.fromkeys(f"{s.at:%Y-%m-%d %H:%M:%S} {s.source}: {s.text or s.what}" for s in signals))
    if case is None or not case.open:
        name = CaseId(f"case-{node}-{at:%y%m%dT%H%M%S}")
        device = next((signal.device for signal in signals if signal.device), "")
        opened = Case(name, node, causes, worst, at, max(s.at for s in signals), device, evidence[:_MOST_EVIDENCE])
        return CaseMoved(opened, f"{worst}: {', '.join(causes)}")
    grown = replace(
        case,
        causes=tuple(dict.fromkeys((*case.causes, *causes))),
        severity=max(case.severity, worst, key=_RANK.__getitem__),
        last_seen=max(case.last_seen, *(signal.at for signal in signals)),
        evidence=tuple(dict.fromkeys((*case.evidence, *evidence)))[:_MOST_EVIDENCE],
    )
    return None if grown == case else CaseMoved(grown, "more evidence")
