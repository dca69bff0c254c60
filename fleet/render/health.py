"""Cases in words: what is wrong, the evidence, which rung is tried, what comes next; and evidence not yet judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo

from fleet.model.ids import NodeId
from fleet.model.observation import Observed
from fleet.render.reasons import words
from fleet.render.standing import Standing
from fleet.render.text import Line, Span, line, moment, paragraph, table, title
from fleet.spec.nodesets import fold


def health(
    observed: Observed,
    found: Mapping[NodeId, Standing],
    nodes: Sequence[NodeId],
    *,
    width: int,
    zone: tzinfo | None = None,
) -> list[Line]:
    """What `fleet health` prints."""
    lines: list[Line] = []
    for node in nodes:
        case, each = observed.records.cases.get(node), found[node]
        if case is None or not case.open:
            continue
        head = f"{node}: {case.severity}, {', '.join(case.causes)}"
        lines += [title(head + (f" ({case.device})" if case.device else ""))]
        rows: list[tuple[str, str | Span]] = [
            ("case", f"{case.id}, open since {moment(case.opened, observed.at, zone)}")
        ]
        rows += [("evidence", text) for text in case.evidence[-4:]]
        order = each.order
        if order is not None:
            rows.append(("remedy", f"{order.rung or 'none chosen yet'}, {each.phase} ({order.id})"))
        if each.held is not None:
            rows.append(("waits", Span(words(each.held), "warn")))
        lines += [*table(("", ""), rows, width), line("")]
    fresh = _unjudged(observed, nodes)
    if fresh:
        lines += [title("seen, and no case yet"), *table(("", ""), fresh, width), line("")]
    unseen = [node for node in nodes if node not in observed.nodes or observed.nodes[node].gaps]
    well = len(nodes) - len([n for n in nodes if n in observed.records.cases]) - len(unseen)
    lines.append(line(Span(f"{well} of {len(nodes)} nodes without a case", "good" if well == len(nodes) else "")))
    if unseen:
        lines += paragraph(f"not wholly seen, so neither healthy nor sick: {fold(unseen)}", width, style="warn")
    return lines


def _unjudged(observed: Observed, nodes: Sequence[NodeId]) -> list[tuple[str, str]]:
    rows = []
    for node in nodes:
        seen, enrolled = observed.nodes.get(node), observed.records.enrolled.get(node)
        if seen is None or node in observed.records.cases:
            continue
        fit = enrolled.fit_since if enrolled is not None else None
        signals = [signal for signal in seen.signals if fit is None or signal.at > fit]
        rows += [(str(node), f"{signal.severity}: {signal.what} {signal.text}".strip()) for signal in signals[-3:]]
    return rows


def facts(observed: Observed, found: Mapping[NodeId, Standing], nodes: Sequence[NodeId]) -> dict[str, object]:
    """The same as facts."""
    cases = [
        {
            "id": case.id,
            "node": case.node,
            "severity": case.severity,
            "causes": list(case.causes),
            "device": case.device,
            "opened": case.opened.isoformat(),
            "last_seen": case.last_seen.isoformat(),
            "evidence": list(case.evidence),
            "phase": found[case.node].phase,
            "rung": order.rung if (order := found[case.node].order) is not None else None,
        }
        for case in observed.records.cases.values()
        if case.open and case.node in nodes
    ]
    gaps = {
        node: [f"{gap.what}: {gap.why}" for gap in observed.nodes[node].gaps]
        for node in nodes
        if node in observed.nodes
    }
    return {"cases": cases, "gaps": {node: listed for node, listed in gaps.items() if listed}}
