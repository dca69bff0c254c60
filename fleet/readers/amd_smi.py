"""amd-smi --json: metrics, firmware, partitions, lists; one document or several, with text around them.

Expected values come from the declaration (`context.expected`), never from a guess about the model. "N/A" hides in
places where an object or a number stands otherwise and is a gap everywhere.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from fleet.readers.amd_ecc import judge_ecc
from fleet.readers.reading import Beside, Context, Fact, Finding, Gap, Reading, Text
from fleet.readers.rocm_smi import gone
from fleet.readers.text import absent, decode, json_documents, lines, mapping, number, pci, printable, sequence

_GROUPS = re.compile(
    r"missing the following required groups|permission denied|must be run as root|requires (?:sudo|root)", re.I
)
_COUNTERS = (("replay_count", "replay"), ("nak_sent_count", "nak_sent"), ("nak_received_count", "nak_received"))
# block, key, fact, unit
METRICS: tuple[tuple[str, str, str, str], ...] = (
    ("temperature", "edge", "temperature_edge", "C"),
    ("temperature", "hotspot", "temperature_hotspot", "C"),
    ("temperature", "mem", "temperature_memory", "C"),
    ("usage", "gfx_activity", "gfx_activity", "%"),
    ("usage", "umc_activity", "umc_activity", "%"),
    ("power", "socket_power", "power_socket", "W"),
    ("mem_usage", "total_vram", "vram_total", "MB"),
    ("mem_usage", "used_vram", "vram_used", "MB"),
    ("pcie", "width", "pcie_width_current", ""),
    ("pcie", "speed", "pcie_speed_current", "GT/s"),
    ("pcie", "replay_count", "pcie_replays", ""),
)
_TEXTS = (
    ("driver", "version", "driver"),
    ("driver", "driver_version", "driver"),
    ("asic", "market_name", "product_name"),
    ("asic", "asic_serial", "serial"),
    ("vbios", "version", "vbios"),
)
_GAP_BLOCKS = ("temperature", "usage", "power", "mem_usage")


def read(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """Any `amd-smi ... --json`; the plain text of `amd-smi list` too."""
    decoded = decode(text)
    documents, rest = json_documents(decoded)
    gpus = [gpu for document in documents for gpu in _gpus(document)] or _plain_list(decoded)
    facts: list[Fact] = []
    gaps: list[Gap] = []
    findings: list[Finding] = []
    if any(_GROUPS.search(line) for line in rest):
        detail = {"tool": "amd-smi"}
        findings.append(Finding({"event": "tool_lacks_permission"}, None, "warn", "node", "fix_config", detail=detail))
    if not gpus:
        reason = "unparseable_line" if decoded.strip() else "empty_output"
        return Reading("amd_smi_json", tuple(findings), (Gap("all GPU readings", reason),))
    facts.append(Fact(None, "gpu_count", len({device_of(gpu) for gpu in gpus})))
    expected = mapping(context.get("expected"))
    for gpu in gpus:
        device = device_of(gpu)
        _metrics(gpu, device, facts, gaps)
        findings.extend(_pcie(gpu.get("pcie"), device, expected, gaps))
        if "ecc" in gpu or "ecc_blocks" in gpu:
            findings.extend(judge_ecc(gpu, device, mapping(mapping(context.get("previous_counts")).get(device)), gaps))
    findings.extend(_partitions(gpus, expected, facts))
    findings.extend(_firmware(gpus, expected, facts, gaps))
    findings.extend(gone(int(facts[0].value), context))
    return Reading("amd_smi_json", tuple(findings), tuple(gaps), tuple(facts))


def _gpus(document: Any) -> list[Mapping[str, Any]]:
    """The entries of GPUs in a document: a list, `{"gpu_data": [...]}`, or one object."""
    if isinstance(document, Mapping):
        inner = document.get("gpu_data")
        document = inner if isinstance(inner, list) else [document]
    return [entry for entry in sequence(document) if isinstance(entry, Mapping) and isinstance(entry.get("gpu"), int)]


def device_of(gpu: Mapping[str, Any]) -> str:
    """The address where the tool gives one, else the index."""
    return pci(gpu.get("bdf") or mapping(gpu.get("bus")).get("bdf")) or f"gpu:{gpu.get('gpu')}"


def _plain_list(decoded: str) -> list[Mapping[str, Any]]:
    """`amd-smi list` without --json."""
    gpus: list[dict[str, Any]] = []
    for _, line in lines(decoded):
        key, _, value = line.strip().partition(":")
        if key == "GPU" and value.strip().isdigit():
            gpus.append({"gpu": int(value.strip()[:6])})
        elif gpus and re.fullmatch(r"[A-Z_]+", key):
            gpus[-1][key.lower()] = value.strip()
    return list(gpus)


def _value(value: Any) -> tuple[int | float | None, str | None]:
    """A bare number or `{"value": 52, "unit": "C"}`."""
    if isinstance(value, Mapping):
        unit = value.get("unit")
        return number(value.get("value")), unit if isinstance(unit, str) else None
    return number(value), None


def _metrics(gpu: Mapping[str, Any], device: str, facts: list[Fact], gaps: list[Gap]) -> None:
    for block, key, fact, unit in METRICS:
        body = mapping(gpu.get(block))
        if key not in body:
            continue
        amount, told = _value(body[key])
        if amount is None:
            if block in _GAP_BLOCKS:
                gaps.append(Gap(fact, "not_measured", device))
        elif unit == "C" and not -40 <= amount <= 150:
            gaps.append(Gap(fact, "implausible", device, more={"value": amount}))
        else:
            facts.append(Fact(device, fact, amount, told or unit or None))
    for block, key, fact in _TEXTS:
        value = mapping(gpu.get(block)).get(key)
        if isinstance(value, str) and not absent(value):
            facts.append(Fact(device, fact, printable(value)))
    for key in ("uuid", "bdf", "gpu"):
        if not absent(gpu.get(key)):
            facts.append(Fact(device, "index" if key == "gpu" else key, gpu[key]))


def _pcie(block: Any, device: str, expected: Mapping[str, Any], gaps: list[Gap]) -> list[Finding]:
    if block is None:
        return []
    body = mapping(block)
    if not body or all(_value(value)[0] is None for value in body.values()):
        gaps.append(Gap("pcie", "not_measured", device))
        return []
    findings: list[Finding] = []
    hardware = ("fault", "gpu", "check_hardware")
    for key, code, detail, declared in (
        ("width", "width_below_expected", "width", number(expected.get("pcie_width"))),
        ("speed", "speed_below_expected", "speed_GTs", number(expected.get("pcie_speed_GTs"))),
    ):
        amount = _value(body.get(key))[0]
        if amount is None:
            gaps.append(Gap(f"pcie_{key}", "not_measured", device))
        elif declared is not None and amount < declared:
            findings.append(Finding({"pcie": code}, device, *hardware, detail={detail: amount}))
    recoveries = _value(body.get("l0_to_recovery_count"))[0] or 0
    warn, error = number(expected.get("l0_recovery_warn_above")), number(expected.get("l0_recovery_error_above"))
    if error is not None and recoveries > error:
        findings.append(Finding({"pcie": "l0_recovery"}, device, *hardware, detail={"value": recoveries}))
    elif warn is not None and recoveries > warn:
        detail_ = {"value": recoveries}
        findings.append(Finding({"pcie": "l0_recovery"}, device, "warn", "gpu", "none", detail=detail_))
    for key, code in _COUNTERS:
        amount = _value(body.get(key))[0]
        if amount:
            findings.append(Finding({"pcie": code}, device, "warn", "gpu", "none", detail={"value": amount}))
    return findings


def _partitions(gpus: Sequence[Mapping[str, Any]], expected: Mapping[str, Any], facts: list[Fact]) -> list[Finding]:
    """Partition modes against what is declared, else against what most GPUs of the node have."""
    modes: dict[str, tuple[str, str]] = {}
    for gpu in gpus:
        body = gpu if "memory_partition" in gpu or "compute_partition" in gpu else mapping(gpu.get("partition"))
        pair = (body.get("memory_partition"), body.get("compute_partition"))
        device = device_of(gpu)
        for name, value in zip(("memory_partition", "compute_partition"), pair, strict=True):
            if isinstance(value, str) and not absent(value):
                facts.append(Fact(device, name, value))
        if isinstance(pair[0], str) and isinstance(pair[1], str) and not any(map(absent, pair)):
            modes[device] = (pair[0], pair[1])
    declared = (expected.get("memory_partition"), expected.get("compute_partition"))
    ranked = Counter(modes.values()).most_common(2)
    if all(isinstance(mode, str) for mode in declared):
        wanted = (str(declared[0]), str(declared[1]))
    elif len(ranked) == 2 and ranked[0][1] > ranked[1][1]:
        wanted = ranked[0][0]
    else:
        return []
    return [
        Finding(
            {"config": "partition_mode_differs"},
            device,
            "warn",
            "node",
            "fix_config",
            detail={"memory": memory, "compute": compute, "others": list(wanted)},
        )
        for device, (memory, compute) in modes.items()
        if (memory, compute) != wanted
    ]


def _firmware(
    gpus: Sequence[Mapping[str, Any]], expected: Mapping[str, Any], facts: list[Fact], gaps: list[Gap]
) -> list[Finding]:
    """Firmware by text: neither a number nor a SemVer. An unreadable version is neither equal nor different."""
    seen: dict[str, dict[str, str]] = {}
    for gpu in gpus:
        device = device_of(gpu)
        for entry in map(mapping, sequence(gpu.get("fw_list"))):
            name, version = str(entry.get("fw_id", "?")), entry.get("fw_version")
            if absent(version):
                gaps.append(Gap(f"firmware {name}", "not_measured", device))
            else:
                seen.setdefault(name, {})[device] = str(version)
                facts.append(Fact(device, f"firmware_{name}", str(version)))
    findings: list[Finding] = []
    for name, versions in seen.items():
        ranked = Counter(versions.values()).most_common(2)
        declared = expected.get(name)
        wanted = declared if isinstance(declared, str) else ranked[0][0] if _clear(ranked) else None
        for device, version in versions.items():
            if wanted is not None and version != wanted:
                detail = {
                    "fw_id": name,
                    "observed": version,
                    "declared": declared if isinstance(declared, str) else None,
                }
                findings.append(
                    Finding({"config": "firmware_differs"}, device, "warn", "node", "fix_config", detail=detail)
                )
    return findings


def _clear(ranked: Sequence[tuple[str, int]]) -> bool:
    return len(ranked) == 2 and ranked[0][1] > ranked[1][1]
