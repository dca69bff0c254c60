"""AMD's error counters by block: corrected, deferred and uncorrected mean different things, and the total repeats
the blocks.
"""

from collections.abc import Mapping
from typing import Any

from fleet.readers import catalogue
from fleet.readers.reading import Finding, Gap
from fleet.readers.text import mapping, number

KINDS = ("correctable", "deferred", "uncorrectable")


def verdict(kind: str, block: str) -> tuple[str, str, str]:
    """Severity, scope and action of a counter above zero (rows RAS-* and DE)."""
    if kind == "correctable":
        return "warn", "gpu", "none"
    if kind == "deferred":
        row = catalogue.amd("DE")
        return row.severity, "gpu", row.action
    row = catalogue.amd(f"RAS-{block}")
    return ("fault", "gpu", "reset_gpu") if row is catalogue.UNKNOWN_CODE else (row.severity, row.scope, row.action)


def finding(kind: str, block: str, device: str, count: int) -> Finding:
    """One block's counter as a finding."""
    return Finding({"ecc": kind, "block": block}, device, *verdict(kind, block), count)


def judge_ecc(gpu: Mapping[str, Any], device: str, before: Mapping[str, Any], gaps: list[Gap]) -> list[Finding]:
    """Findings from `ecc` and `ecc_blocks` of one GPU. `before`: earlier counts of this boot by block and kind."""
    totals, blocks = mapping(gpu.get("ecc")), mapping(gpu.get("ecc_blocks"))
    counts: dict[tuple[str, str], int] = {}
    measured = False
    for block, body in blocks.items():
        for kind in KINDS:
            measured |= _count(counts, (block, kind), mapping(body).get(f"{kind}_count"))
    for kind in KINDS:
        measured |= _count(counts, ("cache", kind), totals.get(f"cache_{kind}_count"))
        total = number(totals.get(f"total_{kind}_count"))
        measured |= total is not None
        in_blocks = sum(count for (block, named), count in counts.items() if named == kind and block != "cache")
        if isinstance(total, int) and total > in_blocks + counts.get(("cache", kind), 0):
            counts["total", kind] = total - in_blocks
    if not measured:
        gaps.append(Gap("ecc", "not_measured", device))
    findings: list[Finding] = []
    for (block, kind), count in counts.items():
        earlier = number(mapping(before.get(block)).get(kind)) or 0
        if count > earlier:
            findings.append(finding(kind, block, device, int(count - earlier)))
    return findings


def _count(counts: dict[tuple[str, str], int], key: tuple[str, str], value: Any) -> bool:
    count = number(value)
    if not isinstance(count, int):
        return False
    if count > 0:
        counts[key] = count
    return True
