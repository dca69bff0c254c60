"""Acceptance logs: the figure that is judged, speed and correctness apart, and whether the test tested what it
should.

Inconclusive is an answer of its own: a test that did not run, did not check its data, or ran on the wrong thing
proves nothing.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fleet.readers.reading import Beside, Context, Gap, Problem, Reading, Text
from fleet.readers.text import decode, lines, mapping, number

_SIZES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def _bytes(size: Any) -> int | None:
    found = re.fullmatch(r"\s*(\d+)\s*([KMGT]?)i?B?\s*", str(size))
    return int(found.group(1)[:12]) * _SIZES.get(found.group(2), 1) if found else None


def _gib(size: int) -> str:
    return f"{size // (1 << 30)} GiB" if size % (1 << 30) == 0 else f"{size} B"


def _rows(text: str) -> list[dict[str, Any]]:
    """The table of nccl-tests, in its older and newer layouts."""
    out: list[dict[str, Any]] = []
    for _, line in lines(text):
        words = line.split()
        if len(words) not in (12, 13) or not words[0].isdigit() or line.startswith("#"):
            continue
        tail = words[-8:]
        values = [number(word) for word in (tail[1], tail[2], tail[5], tail[6])]
        if any(value is None for value in values):
            continue
        wrong = [None if word in ("N/A", "N/A*") else number(word) for word in (tail[3], tail[7])]
        out.append(
            {
                "size": int(words[0][:18]),
                "busbw": float(values[1] or 0),
                "in_place": float(values[3] or 0),
                "wrong": wrong,
                "algbw": float(values[0] or 0),
            }
        )
    return out


def read_nccl(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """nccl-tests and rccl-tests: bus bandwidth at the largest size; the average mixes tiny messages with large ones."""
    decoded = decode(text)
    rows = _rows(decoded)
    limits = mapping(context.get("burnin_yaml"))
    wanted, limit = _bytes(limits.get("size")), number(limits.get("pass_busbw"))
    largest = re.search(r"maxBytes (\d+)", decoded)
    size = wanted or (int(largest.group(1)[:18]) if largest else None)
    validation = re.search(r"validation: (\d)", decoded)
    row = next((row for row in rows if row["size"] == size), None)
    bad = next((row for row in rows if any(isinstance(value, int) and value > 0 for value in row["wrong"])), None)
    checked = any(value is not None for row in rows for value in row["wrong"]) and not (
        validation and validation.group(1) == "0"
    )
    correctness = "fail" if bad else "pass" if checked and row is not None else "not_tested"
    speed = "not_judged" if row is None or limit is None else "pass" if row["busbw"] >= limit else "fail"
    if bad:
        speed = "not_judged" if row is None else speed
    gaps: list[Gap] = []
    if row is None:
        at = _gib(size) if size else "the largest size"
        reason = "truncated_line" if rows else "empty_output" if not decoded.strip() else "not_reported"
        gaps.append(Gap(f"figure at {at}", reason, why="output ends before the largest size and the summary"))
    if correctness == "not_tested" and rows:
        gaps.append(Gap("correctness", "not_measured", why="validation: 0, error column N/A"))
    required = mapping(context.get("policy")).get("data_check_required") is True
    verdict, because = _nccl_verdict(bad, row, speed, correctness, required=required)
    average = re.search(r"# Avg bus bandwidth\s*:\s*([\d.]+)", decoded)
    more: dict[str, Any] = {
        "verdict": verdict,
        "because": because,
        "figure": None if row is None or bad else {"name": f"busbw at {size} B, out-of-place", "GBps": row["busbw"]},
        "in_place_GBps": None if row is None else row["in_place"],
        "speed": speed,
        "correctness": correctness,
        "average_GBps": number(average.group(1)) if average else None,
        "average_is_the_figure": False,
    }
    if bad:
        more["wrong_values"] = max(value for value in bad["wrong"] if isinstance(value, int))
        more["at_size_b"] = bad["size"]
    return Reading("nccl_tests", gaps=tuple(gaps), more=more)


def _nccl_verdict(
    bad: Mapping[str, Any] | None, row: Mapping[str, Any] | None, speed: str, correctness: str, *, required: bool
) -> tuple[str, list[str]]:
    if bad is not None:
        return "fail", ["wrong_values"]
    if row is None:
        return "inconclusive", ["test_did_not_finish"]
    if speed == "fail":
        return "fail", ["below_limit"]
    if correctness == "not_tested" and required:
        return "inconclusive", ["data_not_validated"]
    return ("pass", []) if speed == "pass" else ("inconclusive", ["no_limit"])


def read_hpl(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """HPL: PASSED speaks of the residual. A matrix larger than all GPU memory shows that the CPUs computed."""
    decoded = decode(text)
    result = re.search(
        r"(?m)^W\w+\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+([\d.]+)\s+([\d.]+e[+-]?\d+|[\d.]+)\s*(?:\(.*\))?\s*$", decoded
    )
    if result is None:
        empty = "unparseable_line" if decoded.strip() else "empty_output"
        gap = Gap("figure of HPL", "truncated_line" if "HPLinpack" in decoded else empty)
        nothing = {"verdict": "inconclusive", "because": ["test_did_not_finish"], "figure": None, "speed": "not_judged"}
        return Reading("hpl_log", gaps=(gap,), more=nothing)
    order, rows, columns = int(result.group(1)[:9]), int(result.group(3)[:6]), int(result.group(4)[:6])
    gflops = number(result.group(6))
    matrix = round(order * order * 8 / (1 << 30), 1)
    residuals = re.findall(r"\.\.\.\.\.\. (PASSED|FAILED)", decoded)
    correctness = "not_tested" if not residuals else "fail" if "FAILED" in residuals else "pass"
    processes = rows * columns
    gpus, memory = number(context.get("gpus")), number(context.get("hbm_gib_total"))
    on_cpu = memory is not None and matrix > memory
    gaps: list[Gap] = []
    if on_cpu:
        why = f"matrix of {matrix:.0f} GiB does not fit {memory} GiB of HBM, {processes} processes for {gpus} GPUs"
        gaps.append(Gap("GPU speed", "not_measured", why=why))
    speed = "not_judged" if on_cpu else _hpl_speed(gflops, context)
    verdict, because = _hpl_verdict(correctness, speed, on_cpu=on_cpu)
    more: dict[str, Any] = {
        "verdict": verdict,
        "because": because,
        "figure": {"name": "Gflops", "value": gflops},
        "correctness": correctness,
        "speed": speed,
        "matrix_gib": matrix,
        "processes": processes,
    }
    if on_cpu:
        more["suspicion"] = "ran on the CPUs"
    return Reading("hpl_log", gaps=tuple(gaps), more=more)


def _hpl_speed(gflops: int | float | None, context: Context) -> str:
    """Against the median of the fleet, if that is told."""
    median, allowed = number(context.get("fleet_median_gflops")), number(context.get("allowed_below_median_percent"))
    if not median or allowed is None or gflops is None:
        return "not_judged"
    return "pass" if gflops >= median * (1 - allowed / 100) else "fail"


def _hpl_verdict(correctness: str, speed: str, *, on_cpu: bool) -> tuple[str, list[str]]:
    if correctness == "fail":
        return "fail", ["residual_failed"]
    if on_cpu:
        return "inconclusive", ["gpus_not_used"]
    if speed == "fail":
        return "fail", ["below_median"]
    passed = speed == "pass" and correctness == "pass"
    return ("pass", []) if passed else ("inconclusive", ["no_limit" if speed == "not_judged" else "not_validated"])


def read_gpcnet(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """GPCNet: it needs ten nodes, and refusing to start says nothing of the network."""
    decoded = decode(text)
    needed = re.search(r"must be run on at least (\d+) nodes", decoded)
    given = context.get("nodes")
    count = len(given) if isinstance(given, list) else None
    ran = re.search(r"(?i)network tests? with congestion|congestion impact", decoded)
    if needed or not ran:
        minimum = int(needed.group(1)[:6]) if needed else None
        more: dict[str, Any] = {
            "verdict": "inconclusive",
            "because": ["test_did_not_run"],
            "figure": None,
            "needed_nodes": minimum,
            "given_nodes": count,
            "retry_with": f"at least {minimum} nodes, or another test" if minimum else "another test",
        }
        return Reading("gpcnet_log", gaps=(Gap("network under load", "not_measured", why="not tested"),), more=more)
    factors = [float(value) for value in re.findall(r"(\d+\.\d+)X", decoded)]
    limit = number(context.get("congestion_factor_limit"))
    worst = max(factors, default=None)
    verdict = "inconclusive" if worst is None or limit is None else "pass" if worst <= limit else "fail"
    figure = None if worst is None else {"name": "worst congestion factor", "value": worst}
    findings = (Problem("fabric", "congestion_above_limit", "fabric", "look"),) if verdict == "fail" else ()
    return Reading(
        "gpcnet_log", findings, more={"verdict": verdict, "because": [], "figure": figure, "given_nodes": count}
    )
