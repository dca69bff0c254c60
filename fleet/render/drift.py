"""Three-way: what git declares, what was last made true, what the node shows; by part, and what it means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fleet.lifecycle.fold import is_on
from fleet.model.ids import NodeId, ReleaseId
from fleet.model.observation import NodeSeen, Observed
from fleet.model.release import Release
from fleet.model.topology import Declared
from fleet.render.text import Cell, Line, Span, line, table, title
from fleet.spec.nodesets import fold

KINDS = {
    "same": ("as declared", "good"),
    "pending": ("a pending change: git declares more than was applied", "warn"),
    "drift": ("drift: somebody changed the node", "bad"),
    "conflict": ("both: changed by somebody, and git declares something new", "bad"),
    "unknown": ("could not be seen", "warn"),
    "retired": ("retired", "dim"),
}
DRIFTED = frozenset({"drift", "conflict"})


@dataclass(frozen=True, slots=True)
class Part:
    """One version three times; empty where nothing is said or seen."""

    name: str
    declared: str
    applied: str
    observed: str


@dataclass(frozen=True, slots=True)
class Compared:
    """One node: `kind` is a key of KINDS."""

    node: NodeId
    kind: str
    declared: ReleaseId
    applied: ReleaseId | None
    parts: tuple[Part, ...] = ()


def compare(declared: Declared, observed: Observed, name: NodeId) -> Compared:
    """How one node stands to what is declared and to what was last made true of it."""
    node, enrolled = declared.nodes[name], observed.records.enrolled.get(name)
    target = declared.target(node)
    applied = enrolled.applied if enrolled is not None else None
    if enrolled is not None and enrolled.retired:
        return Compared(name, "retired", target, applied)
    seen = observed.nodes.get(name) or NodeSeen(name)
    wanted = declared.releases[target]
    baseline = declared.releases.get(applied) if applied is not None else wanted
    known = baseline if applied is not None else None  # what was never applied isn't said to be
    return Compared(name, _kind(seen, wanted, baseline), target, applied, _parts(seen, wanted, known))


def _kind(seen: NodeSeen, wanted: Release, baseline: Release | None) -> str:
    if baseline is None:
        return "unknown"
    on = is_on(seen, baseline)
    if on is None:
        return "unknown"
    if baseline.id == wanted.id:
        return "same" if on else "drift"
    return "pending" if on else ("same" if is_on(seen, wanted) else "conflict")


def _parts(seen: NodeSeen, wanted: Release, baseline: Release | None) -> tuple[Part, ...]:
    found = [
        Part(part, version, baseline.versions.get(part, "") if baseline else "", seen.shown.get(part, ""))
        for part, version in wanted.versions.items()
    ]
    known = {p.name: p.version for p in baseline.packages} if baseline else {}
    found += [Part(p.name, p.version, known.get(p.name, ""), seen.packages.get(p.name, "")) for p in wanted.packages]
    return tuple(found)


def lines(found: Sequence[Compared], width: int) -> list[Line]:
    """What `fleet drift` prints: the nodes that differ by part, the others in one line each kind."""
    printed: list[Line] = []
    for kind, (text, style) in KINDS.items():
        names = [each.node for each in found if each.kind == kind]
        if names:
            printed.append(line(Span(f"{fold(names)}: ", "bold"), Span(text, style)))
    for each in found:
        if each.kind in {"same", "retired"}:
            continue
        rows: list[tuple[Cell, ...]] = [
            (
                p.name,
                p.declared,
                p.applied or "-",
                Span(p.observed or "not seen", "" if p.observed == (p.applied or p.declared) else "bad"),
            )
            for p in each.parts
            if len({p.declared, p.applied, p.observed}) > 1
        ]
        printed += [line(""), title(f"{each.node}: declared {each.declared}, applied {each.applied or '-'}")]
        printed += table(("part", "declared", "applied", "observed"), rows, width)
    return printed


def facts(found: Sequence[Compared]) -> dict[str, object]:
    """The same as facts."""
    return {
        "nodes": {
            each.node: {
                "kind": each.kind,
                "declared": each.declared,
                "applied": each.applied,
                "parts": [
                    {"part": p.name, "declared": p.declared, "applied": p.applied, "observed": p.observed}
                    for p in each.parts
                ],
            }
            for each in found
        }
    }
