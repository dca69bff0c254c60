"""A scrape of the DCGM exporter: second-hand, with blanks for what is not supported and nothing at all for what is
gone.

The XID gauge holds the last code and sticks, so it confirms and never counts; the kernel log counts where both are
there.
"""

import math
from collections.abc import Sequence
from typing import Any

from fleet.readers import catalogue, kernel_log
from fleet.readers.prometheus import Sample, samples
from fleet.readers.reading import Beside, Context, Fact, Finding, Gap, Reading, Text
from fleet.readers.text import decode, number, pci, sequence
from fleet.readers.throttle import from_mask

METRICS = {
    "DCGM_FI_DEV_GPU_TEMP": ("temperature_gpu", "C"),
    "DCGM_FI_DEV_MEMORY_TEMP": ("temperature_memory", "C"),
    "DCGM_FI_DEV_POWER_USAGE": ("power_draw", "W"),
    "DCGM_FI_DEV_GPU_UTIL": ("utilization_gpu", "%"),
    "DCGM_FI_DEV_SM_CLOCK": ("clock_sm", "MHz"),
    "DCGM_FI_DEV_MEM_CLOCK": ("clock_memory", "MHz"),
    "DCGM_FI_DEV_FB_USED": ("memory_used", "MiB"),
    "DCGM_FI_DEV_FB_FREE": ("memory_free", "MiB"),
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": ("pcie_replays", None),
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": ("ecc_uncorrectable_volatile", None),
    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": ("ecc_correctable_volatile", None),
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": ("remapped_rows_uncorrectable", None),
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS": ("remapped_rows_correctable", None),
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": ("remapped_rows_failure", None),
    "DCGM_FI_DEV_ROW_REMAP_PENDING": ("remapped_rows_pending", None),
}
_MASKS = ("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS")
_GAUGE, _COUNT = "DCGM_FI_DEV_XID_ERRORS", "DCGM_EXP_XID_ERRORS_COUNT"
_ABOVE_ZERO: dict[str, tuple[dict[str, Any], str, str, dict[str, Any]]] = {
    "ecc_uncorrectable_volatile": ({"ecc": "uncorrectable", "block": "total"}, "fault", "reset_gpu", {}),
    "remapped_rows_failure": ({"ecc": "remap_failure"}, "fault", "rma", {}),
    "remapped_rows_pending": ({"ecc": "remap_pending"}, "warn", "none", {"then": "reset_gpu"}),
}
# blanks of DCGM: 64-bit integer, 32-bit integer, double; each with a few codes above it (not found, not supported)
_BLANKS = ((0x7FFFFFFFFFFFFFF0, 2048), (0x7FFFFFF0, 15), (0x7FFFFFFFFFFF, 16))


def blank(text: str) -> bool:
    """DCGM's ways to say that there is no value, compared before the digits are lost, and with a margin after."""
    if text.isdigit() and len(text) < 25:
        value = int(text)
    else:
        try:
            as_float = float(text)
        except ValueError:
            return False
        if not math.isfinite(as_float) or as_float < 2e9 or as_float != int(as_float):
            return False
        value = int(as_float)
    return any(base - 16 <= value <= base + margin for base, margin in _BLANKS)


def device_of(sample: Sample) -> str | None:
    """Address, else UUID, else index."""
    labels = sample.labels
    uuid = labels.get("UUID") or labels.get("uuid")
    return pci(labels.get("pci_bus_id")) or uuid or (f"gpu:{labels['gpu']}" if labels.get("gpu") else None)


def read(text: Text, context: Context, also: Sequence[Beside] = ()) -> Reading:
    """One scrape, with the kernel log of the node beside it if there is one."""
    findings: list[Finding] = []
    gaps: list[Gap] = []
    values: dict[tuple[str | None, str], list[Sample]] = {}
    uuids: dict[str, str | None] = {}
    for sample in samples(decode(text)):
        device = device_of(sample)
        if uuid := sample.labels.get("UUID") or sample.labels.get("uuid"):
            uuids.setdefault(uuid, device)
        if sample.name == _COUNT:
            _window(sample, device, findings, gaps)
        else:
            values.setdefault((device, sample.name), []).append(sample)
    if not values and not findings and not gaps:
        reason = "unparseable_line" if decode(text).strip() else "empty_output"
        return Reading("dcgm_scrape", gaps=(Gap("all metrics", reason),))
    facts: list[Fact] = [Fact(None, "gpu_count", len(uuids))] if uuids else []
    gauges: dict[str | None, int] = {}
    for (device, name), found in values.items():
        value = _settle(device, name, found, gaps)
        if value is None:
            continue
        if name == _GAUGE:
            gauges[device] = int(value)
        elif name in _MASKS:
            findings.extend(from_mask(int(value), device))
        elif name in METRICS:
            _fact(device, METRICS[name], value, facts, gaps, findings)
    findings.extend(_gauges(gauges, also, context, gaps))
    findings.extend(_missing(uuids, context, gaps))
    return Reading("dcgm_scrape", tuple(findings), tuple(gaps), tuple(facts))


def _settle(device: str | None, name: str, found: Sequence[Sample], gaps: list[Gap]) -> int | float | None:
    """The one value of a series, or the gap that says why there is none."""
    what = METRICS.get(name, (name.removeprefix("DCGM_FI_DEV_").lower(), None))[0]
    if any(sample.cut for sample in found):
        gaps.append(Gap(what, "truncated_line", device))
        return None
    if all(blank(sample.value) for sample in found):
        gaps.append(Gap(what, "not_supported", device))
        return None
    numbers = [number(sample.value) for sample in found]
    if any(value is None for value in numbers):
        gaps.append(Gap(what, "not_a_number", device))
        return None
    different = [value for value in dict.fromkeys(numbers) if value is not None]
    if len(different) > 1 and not any(sample.labels.get("GPU_I_ID") for sample in found):
        plain = [int(value) if value == int(value) else value for value in different]
        gaps.append(Gap(what, "contradictory", device, more={"values": plain}))
        return None
    return different[0]


def _fact(
    device: str | None,
    named: tuple[str, str | None],
    value: int | float,
    facts: list[Fact],
    gaps: list[Gap],
    findings: list[Finding],
) -> None:
    name, unit = named
    if unit == "C" and not -40 <= value <= 150:
        gaps.append(Gap(name, "implausible", device, more={"value": value}))
        return
    facts.append(Fact(device, name, value, unit))
    if name in _ABOVE_ZERO and value > 0:
        code, severity, action, more = _ABOVE_ZERO[name]
        findings.append(Finding(code, device, severity, "gpu", action, int(value) if "block" in code else 1, more=more))


def _xid(code: int, device: str | None, count: int, detail: dict[str, Any]) -> Finding:
    verdict = catalogue.xid(code)
    more = {"then": verdict.then} if verdict.then else {}
    return Finding({"xid": code}, device, verdict.severity, verdict.scope, verdict.action, count, detail, more)


def _window(sample: Sample, device: str | None, findings: list[Finding], gaps: list[Gap]) -> None:
    """Counts of a sliding window, per GPU and XID. Old exporters put the blank into the label."""
    code = sample.labels.get("xid", "")
    if blank(code) or not code.isdigit():
        gaps.append(Gap(f"xid of gpu {sample.labels.get('gpu', '?')}", "not_supported", device))
        return
    count = number(sample.value)
    if count is None or sample.cut:
        gaps.append(Gap(f"count of XID {code}", "truncated_line" if sample.cut else "not_a_number", device))
    elif count >= 1:
        window = number(sample.labels.get("window_size_in_ms"))
        findings.append(_xid(int(code[:9]), device, int(count), {"window_ms": window}))


def _gauges(gauges: dict[str | None, int], also: Sequence[Beside], context: Context, gaps: list[Gap]) -> list[Finding]:
    """The gauge shows the last code only: repeats are not to be seen in it."""
    logs = [beside.content for beside in also if b"NVRM" in beside.content or beside.name.startswith("kernel_log")]
    from_log = [
        finding
        for content in logs
        for finding in kernel_log.read(content, context).findings
        if isinstance(finding, Finding) and "xid" in finding.code
    ]
    findings = [
        Finding(
            f.code, f.device, f.severity, f.scope, f.action, f.count, {**f.detail, "authority": "kernel_log"}, f.more
        )
        for f in from_log
    ]
    for device, code in gauges.items():
        if code <= 0:
            continue
        gaps.append(Gap("repeats of one XID in the DCGM gauge", "not_reported", device))
        if not any(f.device == device and f.code.get("xid") == code for f in from_log):
            findings.append(_xid(code, device, 1, {"authority": "dcgm_gauge"}))
    return findings


def _missing(uuids: dict[str, str | None], context: Context, gaps: list[Gap]) -> list[Finding]:
    """A GPU that is gone leaves no value. An exporter can lose one that works, so this only warns."""
    findings: list[Finding] = []
    event = {"event": "gpu_missing_from_scrape"}
    expected = [uuid for uuid in sequence(context.get("expected_uuids")) if isinstance(uuid, str)]
    for uuid in expected:
        if uuid not in uuids:
            detail = {"confirm_with": "nvidia-smi -L"}
            findings.append(Finding(event, uuid, "warn", "gpu", "none", detail=detail))
            gaps.append(Gap("all metrics", "device_missing_from_report", uuid))
    return findings
