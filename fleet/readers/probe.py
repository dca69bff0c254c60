"""What fleet's own probe prints on a node, as a partial `NodeSeen`.

The probe only carries text from the node's tools; what that text means is said here and in the readers of those tools.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree

from fleet.model.health import Gap, Severity, Signal
from fleet.model.ids import NodeId
from fleet.model.observation import NodeSeen
from fleet.readers import kernel_log
from fleet.readers.faults import fault_of

HOTTEST_CELSIUS = 105.0  # AMD MI300X and NVIDIA H100 slow down below this; neither runs above it
IMPOSSIBLE_CELSIUS = (-40.0, 200.0)
SEVERITIES = {"fault": Severity.FATAL, "warn": Severity.WATCH}
_UNSET = ("", "N/A", "[N/A]", "None", "Unknown Error")


@dataclass(frozen=True, slots=True)
class Carried:
    """What is kept between two looks at one boot of a node: the journal's cursor and the kernel's lines so far."""

    boot: str = ""
    cursor: str = ""
    lines: tuple[tuple[int, str], ...] = ()  # microseconds since 1970, text
    hung: frozenset[str] = frozenset()  # tools that gave no answer in time


@dataclass(slots=True)
class _Tools:
    """What the accelerator tools of a node said."""

    shown: dict[str, str] = field(default_factory=dict)
    count: int | None = None
    signals: list[tuple[str, Severity, str, str]] = field(default_factory=list)  # what, severity, device, text
    gaps: list[Gap] = field(default_factory=list)
    hung: set[str] = field(default_factory=set)


def read(node: NodeId, document: Mapping[str, Any], carried: Carried) -> tuple[NodeSeen, Carried]:
    """The node as its probe saw it, and what to carry to the next look. Strange values become gaps."""
    gaps = [Gap(str(gap.get("what")), str(gap.get("why"))) for gap in document.get("gaps") or ()]
    at = datetime.fromtimestamp(float(document.get("now") or 0), UTC)
    tools = read_tools(document.get("tools") or {})
    boot = str(document.get("boot") or "")
    after = replace(_carry(carried, boot, document.get("log")), hung=frozenset(tools.hung))
    for tool in sorted(tools.hung & carried.hung):  # once may be a busy machine; twice in a row is a fault
        text = f"{tool} gave no answer in time, twice in a row"
        tools.signals.append((f"{tool.replace('-', '_')}_hung", Severity.FATAL, "", text))
    log = kernel_signals(node, after.lines, at, tools.shown.get("driver", ""))
    seen = tuple(Signal(node, what, bad, at, device, text, "tools") for what, bad, device, text in tools.signals)
    lock = document.get("lock") or {}
    packages = document.get("packages")
    return (
        NodeSeen(
            id=node,
            reachable=True,
            boot=boot,
            serial=_serial(str(document.get("serial") or ""), gaps),
            kernel=str(document.get("kernel") or ""),
            packages={str(k): str(v) for k, v in (packages or {}).items()},
            shown=tools.shown,
            accelerators=tools.count,
            holders=tuple(f"{kind} {name} (pid {pid})" for kind, pid, name in document.get("processes") or ()),
            lock=str(lock.get("order", "")) if isinstance(lock, Mapping) else "",
            token=_whole(document.get("token"), "fencing token", gaps),
            signals=(*log, *seen),
            gaps=(*gaps, *tools.gaps),
        ),
        after,
    )


def kernel_signals(
    node: NodeId, lines: Sequence[tuple[int, str]], now: datetime, driver: str = ""
) -> tuple[Signal, ...]:
    """Signals of kernel lines, each at the time of the last line that says so."""
    if not lines:
        return ()
    start = datetime(1970, 1, 1, tzinfo=UTC)
    times = ((start + timedelta(microseconds=at)).isoformat(timespec="microseconds") for at, _ in lines)
    said = (" ".join(line.split()) for _, line in lines)
    text = "\n".join(f"{time} node kernel: {line}" for time, line in zip(times, said, strict=True))
    log = kernel_log.read_log(text, {"time_zone": "UTC", "driver": driver or None})
    findings = kernel_log.finish(log)
    last: dict[tuple[str, str | None], datetime] = {}
    for draft in log.drafts:
        when = draft.last_at or draft.at
        if when is not None:
            key = (repr(dict(draft.code)), draft.device)
            last[key] = max(when, last.get(key, when))
    found = []
    for finding in findings:
        severity = SEVERITIES.get(finding.severity)
        if severity is None or finding.more.get("state", "open") != "open":
            continue
        if finding.scope == "app" or "follows" in finding.more:
            severity = Severity.WATCH
        at = last.get((repr(dict(finding.code)), finding.device), now)
        advice = f"{finding.count} lines, {finding.action.replace('_', ' ')}"
        found.append(
            Signal(
                node, fault_of(finding.code), severity, at, finding.device or "", advice, "kernel log", standing=False
            )
        )
    return tuple(found)


def read_tools(outcomes: Mapping[str, Mapping[str, Any]]) -> _Tools:
    """Versions, the number of accelerators, and what is wrong with them, as the vendors' tools say."""
    tools = _Tools()
    readers = {"amd-smi version": _amd_version, "amd-smi metric": _amd_metric, "nvidia-smi": _nvidia}
    for name, outcome in outcomes.items():
        if outcome.get("timed_out"):
            tools.hung.add(name.split()[0])
            tools.gaps.append(Gap(name, "it gave no answer in time and was ended"))
        elif outcome.get("exit_code") != 0:
            said = str(outcome.get("stderr") or outcome.get("stdout") or "").strip().splitlines()
            tools.gaps.append(
                Gap(name, f"exit {outcome.get('exit_code')}: {said[-1][:200] if said else 'said nothing'}")
            )
        elif name in readers:
            try:
                readers[name](str(outcome.get("stdout") or ""), tools)
            except (
                ValueError,
                TypeError,
                LookupError,
                AttributeError,
                RecursionError,
                ElementTree.ParseError,
            ) as error:
                tools.gaps.append(Gap(name, f"its answer can't be read: {error}"))
    if not outcomes:
        tools.gaps.append(Gap("accelerators", "neither amd-smi nor nvidia-smi is installed"))
    return tools


def _amd_version(text: str, tools: _Tools) -> None:
    rows = json.loads(text)
    row = rows[0] if isinstance(rows, list) else rows
    for part, key in (("rocm", "rocm_version"), ("driver", "amdgpu_version")):
        if (value := str(row.get(key) or "")) not in _UNSET:
            tools.shown[part] = value
        else:
            tools.gaps.append(Gap(f"{part} version", "amd-smi doesn't say it"))


def _amd_metric(text: str, tools: _Tools) -> None:
    rows = json.loads(text)
    rows = rows.get("gpu_data", []) if isinstance(rows, dict) else rows
    for row in rows:
        device = f"gpu:{row['gpu']}"
        _errors(tools, "ras_uncorrectable", device, _number(row.get("ecc", {}).get("total_uncorrectable_count")))
        heat = row.get("temperature", {})
        _heat(tools, device, [_number(heat.get(place)) for place in ("hotspot", "edge")])
    tools.count = len(rows)


def _nvidia(text: str, tools: _Tools) -> None:
    if "<!ENTITY" in text:
        raise ValueError("it declares entities")
    root = ElementTree.fromstring(text)
    for part, tag in (("driver", "driver_version"), ("cuda", "cuda_version")):
        if (value := (root.findtext(tag) or "").strip()) not in _UNSET:
            tools.shown[part] = value
        else:
            tools.gaps.append(Gap(f"{part} version", "nvidia-smi doesn't say it"))
    gpus = root.findall("gpu")
    for gpu in gpus:
        device = _bus(gpu.get("id") or "")
        counts = [_number(found.text) for found in _uncorrectable(gpu)]
        known = [count for count in counts if count is not None]
        _errors(tools, "ecc_uncorrectable", device, sum(known) if known else None)
        _heat(tools, device, [_number(gpu.findtext("temperature/gpu_temp"))])
    tools.count = len(gpus)


def _uncorrectable(gpu: ElementTree.Element) -> Iterator[ElementTree.Element]:
    for found in gpu.iterfind("ecc_errors/volatile/*"):
        if "uncorrectable" in found.tag or found.tag == "double_bit":
            yield found


def _errors(tools: _Tools, what: str, device: str, count: float | None) -> None:
    if count is None:
        tools.gaps.append(Gap(f"{device} uncorrectable errors", "not measured"))
    elif count > 0:
        tools.signals.append((what, Severity.FATAL, device, f"{count:g} uncorrectable errors since the driver loaded"))


def _heat(tools: _Tools, device: str, readings: Sequence[float | None]) -> None:
    low, high = IMPOSSIBLE_CELSIUS
    possible = [reading for reading in readings if reading is not None and low < reading < high]
    if not possible:
        tools.gaps.append(Gap(f"{device} temperature", "not measured, or impossible"))
    elif max(possible) >= HOTTEST_CELSIUS:
        tools.signals.append(("gpu_overheat", Severity.DEGRADED, device, f"{max(possible):g} °C"))


def _number(value: Any) -> float | None:
    """A measured number, bare, with its unit, or as {value, unit}; None where nothing was measured."""
    if isinstance(value, Mapping):
        value = value.get("value")
    if isinstance(value, bool) or value is None:
        return None
    found = re.match(r"\s*(-?\d+(?:\.\d+)?)(?:\s|$)", str(value))
    return float(found[1]) if found else None


def _bus(text: str) -> str:
    """A PCI address as `dddd:bb:dd.f` in lower case; nvidia-smi writes eight digits of domain."""
    found = re.fullmatch(r"[0-9a-f]*([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d)", text.lower())
    return found[1] if found else text.lower()


def _serial(text: str, gaps: list[Gap]) -> str:
    """The serial number; words that boards carry instead of one are a gap."""
    if text.lower() in ("", "none", "default string", "to be filled by o.e.m.", "not specified", "0123456789"):
        gaps.append(Gap("serial", f"the board says {text!r}" if text else "the board says none"))
        return ""
    return text


def _whole(value: Any, what: str, gaps: list[Gap]) -> int:
    try:
        return int(str(value or "0"))
    except ValueError:
        gaps.append(Gap(what, f"its file holds {str(value)[:40]!r}"))
        return 0


def _carry(carried: Carried, boot: str, log: Any, most: int = 4000) -> Carried:
    """The lines of this boot seen so far, with those of this look. Another boot starts anew."""
    if boot != carried.boot:
        carried = Carried(boot)
    if not isinstance(log, list) or not log:
        return carried
    lines = (*carried.lines, *((int(at), str(text)) for _, at, text in log))
    return Carried(boot, str(log[-1][0]), lines[-most:], carried.hung)
