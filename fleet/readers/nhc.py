"""NHC: what its checks found, which is not always what they say.

Threads and cores compare exactly, memory with a tolerance that may be wider than a module, so memory is judged by
modules.
"""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from fleet.readers.reading import Beside, Context, Gap, Reading, Text
from fleet.readers.text import decode, lines, number, plain, printable

_RUN = re.compile(r"(?:\[\d+\] - )?Running check:\s+\"(\w+)(?:\s+([^\"]*))?\"")
_FAILED = re.compile(r"(?:\[\d+\] - )?ERROR:\s+nhc:\s+Health check failed:\s+(\w+):\s*(.*)")
_FOUND_RAM = re.compile(r"Found (\d+) kB RAM")
_ENDED = re.compile(r"Node Health Check completed|health checks? failed")
_CPU = re.compile(r"Actual (?:CPU )?(socket|core|thread) count \((\d+)\) does not match expected \((\d+)\)", re.I)
_RAM = re.compile(r"Actual RAM size \((\d+) kB\) (?:less than minimum|greater than maximum) allowed \((\d+) kB\)")
_IB = re.compile(r"No IB port (\S+) is (\w+) \((\w+) (\d+) Gb/sec\)")
_KIB_PER_GIB = 1 << 20
_UNITS = {"k": 1, "m": 1 << 10, "g": 1 << 20, "t": 1 << 30}
_PROBLEMLESS = ("check_without_tolerance",)
Check = dict[str, Any]


def _kib(text: str) -> int | None:
    found = re.match(r"(\d+(?:\.\d+)?)\s*([kmgt])", text.strip().lower())
    return int(float(found.group(1)[:12]) * _UNITS[found.group(2)]) if found else None


def read(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`nhc -v`, with or without `-a` and `-d`."""
    checks: list[Check] = []
    gaps: list[Gap] = []
    arguments: dict[int, list[str]] = {}
    ended = hung = False
    for _, raw in lines(decode(text)):
        line = plain(raw)
        if run := _RUN.match(line):
            checks.append({"check": run.group(1), "passed": True})
            arguments[len(checks) - 1] = (run.group(2) or "").split()
        elif failed := _FAILED.match(line):
            if not checks or checks[-1]["check"] != failed.group(1) or not checks[-1]["passed"]:
                checks.append({"check": failed.group(1), "passed": True})
                arguments[len(checks) - 1] = []
            checks[-1].update(passed=False, message=printable(failed.group(2))[:200])
            ended = True
        elif (ram := _FOUND_RAM.search(line)) and checks and checks[-1]["check"] == "check_hw_physmem":
            checks[-1]["found"] = {"ram_kib": int(ram.group(1)[:15])}
        ended = ended or bool(_ENDED.search(line))
        hung = hung or "Watchdog timer" in line
    for at, check in enumerate(checks):
        judge = _JUDGES.get(str(check["check"]), _other)
        judge(check, arguments[at], context, gaps)
    if not ended or hung:
        gaps.append(Gap("result of NHC", "truncated_line" if checks else "empty_output", why="it did not end"))
    problems = [check for check in checks if "kind" in check and check["kind"] not in _PROBLEMLESS]
    verdict = "problem" if problems else "ok" if ended and not hung else "unknown"
    failed_count = sum(not check["passed"] for check in checks)
    return Reading("nhc_output", gaps=tuple(gaps), more={"verdict": verdict, "failed": failed_count, "checks": checks})


def _cpu(check: Check, arguments: list[str], context: Context, gaps: list[Gap]) -> None:
    found = _CPU.search(str(check.get("message", "")))
    if not found:
        _other(check, arguments, context, gaps)
        return
    what, have, want = found.group(1).lower() + "s", int(found.group(2)[:9]), int(found.group(3)[:9])
    expected = {
        key: value
        for key, text in zip(("sockets", "cores", "threads"), arguments, strict=False)
        if isinstance(value := number(text), int)
    }
    check.update(found={what: have}, expected=expected or {what: want})
    if what == "threads" and have * 2 == want:
        check.update(kind="smt_off", scope="config", action="change_request")
    elif what == "threads" and have == want * 2:
        check.update(kind="smt_on", scope="config", action="change_request")
    elif have < want:
        check.update(kind=f"{what}_missing", scope="node", action="hands")
    else:
        check.update(kind="check_not_for_this_node", scope="config", action="change_request")


def _memory(check: Check, arguments: list[str], context: Context, gaps: list[Gap]) -> None:
    """By modules: less than one short is a check without tolerance, and a module can hide inside the tolerance."""
    if found := _RAM.search(str(check.get("message", ""))):
        check["found"] = {"ram_kib": int(found.group(1)[:15])}
        check["expected"] = {"min_kib": int(found.group(2)[:15])}
    have = number(check.get("found", {}).get("ram_kib"))
    nominal = _kib(arguments[0]) if arguments else None
    minimum = number(check.get("expected", {}).get("min_kib"))
    nominal = nominal or (int(minimum) if minimum is not None else None)
    if have is None or nominal is None:
        if not check["passed"]:
            _other(check, arguments, context, gaps)
        return
    check["short_gib"] = round((nominal - have) / _KIB_PER_GIB, 2)
    dimm, twins = number(context.get("dimm_gib")), number(context.get("ram_kib_of_twins"))
    if not dimm:
        if not check["passed"]:
            check.update(kind="memory_short", scope="node", action="look")
            gaps.append(Gap("missing memory modules", "not_reported", why="the size of a module is not known"))
        return
    short = (twins if twins is not None else nominal) - have
    exact = twins is not None
    missing = max(0, round(short / (dimm * _KIB_PER_GIB)) if exact else math.floor(short / (dimm * _KIB_PER_GIB)))
    check["missing_dimms"] = missing
    if missing:
        check.update(kind="dimm_missing", scope="node", action="hands")
    elif not check["passed"]:
        check.update(kind="check_without_tolerance", scope="config", action="change_request")


def _infiniband(check: Check, arguments: list[str], context: Context, gaps: list[Gap]) -> None:
    """The message names what was expected; what was found it does not say."""
    found = _IB.search(str(check.get("message", "")))
    if not found:
        _other(check, arguments, context, gaps)
        return
    port, state, physical, rate = found.groups()
    expected = {"port": port, "state": state, "phys_state": physical, "rate_gbps": int(rate[:9])}
    check.update(expected=expected, found=None, kind="ib_port_not_as_expected", scope="port", action="look")
    gaps.append(Gap(f"state of {port}", "not_reported", why="the message names what was expected, not what was found"))


def _other(check: Check, arguments: list[str], context: Context, gaps: list[Gap]) -> None:  # noqa: ARG001 (a judge's shape)
    if not check["passed"]:
        check.update(kind="check_failed", scope="node", action="look")


_JUDGES: dict[str, Callable[[Check, list[str], Context, list[Gap]], None]] = {
    "check_hw_cpuinfo": _cpu,
    "check_hw_physmem": _memory,
    "check_hw_ib": _infiniband,
}
