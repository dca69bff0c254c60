"""A scrape of AMD's device metrics exporter. Inside a VM all GPUs carry a zero UUID, so the index and `amd-smi
list` tell them apart.
"""

import re
from collections.abc import Sequence

from fleet.readers import amd_ecc, amd_smi, catalogue
from fleet.readers.amd_cper import false_fatal
from fleet.readers.prometheus import Sample, samples
from fleet.readers.reading import Beside, Context, Fact, Finding, Gap, Reading, Text
from fleet.readers.rocm_smi import gone
from fleet.readers.text import decode, number, pci

_ZERO = re.compile(r"[0-]*")
_ECC = re.compile(r"(?:amd_)?gpu_ecc_(correct|uncorrect|deferred)_(\w+)")
_UNITS = (("temperature", "C"), ("power", "W"), ("activity", "%"), ("usage", "%"), ("vram", "MB"), ("clock", "MHz"))
_UNSET = {"4294967295", "-1", ""}


def _addresses(also: Sequence[Beside]) -> dict[str, str]:
    """Index to address, from a list of amd-smi beside the scrape."""
    out: dict[str, str] = {}
    for beside in also:
        for fact in amd_smi.read(beside.content, {}).facts:
            if fact.name == "index" and fact.device and not fact.device.startswith("gpu:"):
                out[str(fact.value)] = fact.device
    return out


def read(text: Text, context: Context, also: Sequence[Beside] = ()) -> Reading:
    """One scrape, with `amd-smi list` beside it if there is one."""
    found = list(samples(decode(text)))
    if not found:
        reason = "unparseable_line" if decode(text).strip() else "empty_output"
        return Reading("amd_exporter_scrape", gaps=(Gap("all metrics", reason),))
    addresses = _addresses(also)
    devices: dict[str, dict[str, str]] = {}
    findings: list[Finding] = []
    gaps: list[Gap] = []
    facts: list[Fact] = []
    for sample in found:
        index = sample.labels.get("gpu_id")
        if index is None:
            continue
        device = pci(sample.labels.get("pcie_bus_id")) or addresses.get(index) or f"gpu:{index}"
        devices.setdefault(device, dict(sample.labels))
        _take(sample, device, context, findings, facts, gaps)
    for device, labels in devices.items():
        if _ZERO.fullmatch(labels.get("gpu_uuid", "")):
            gaps.append(Gap("gpu_uuid", "not_reported", device))
        if labels.get("gpu_partition_id", "0") in _UNSET:
            gaps.append(Gap("partition_id", "not_reported", device))
    facts.insert(0, Fact(None, "gpu_count", len(devices)))
    findings.extend(gone(len(devices), context))
    return Reading("amd_exporter_scrape", tuple(findings), tuple(gaps), tuple(facts))


def _take(
    sample: Sample, device: str, context: Context, findings: list[Finding], facts: list[Fact], gaps: list[Gap]
) -> None:
    name = re.sub(r"^(?:amd_)?gpu_", "", sample.name)
    value = number(sample.value)
    if sample.cut or value is None:
        gaps.append(Gap(name, "truncated_line" if sample.cut else "not_a_number", device))
        return
    if name == "health":
        if value == 0:
            row = catalogue.amd("SMI-HEALTH")
            severity = "warn" if false_fatal(context) else row.severity
            findings.append(Finding({"amd": "SMI-HEALTH"}, device, severity, row.scope, row.action))
    elif name == "afid_errors":
        row = catalogue.afid(int(value))
        if value > 0:
            doubtful = int(value) == 30 and false_fatal(context)
            severity, action = ("warn", "none") if doubtful else (row.severity, row.action)
            findings.append(Finding({"afid": int(value)}, device, severity, row.scope, action))
    elif (ecc := _ECC.fullmatch(sample.name)) and value > 0 and ecc.group(2) != "total":
        findings.append(
            amd_ecc.finding(
                f"{ecc.group(1)}able".replace("deferredable", "deferred"), ecc.group(2).upper(), device, int(value)
            )
        )
    unit = next((unit for part, unit in _UNITS if part in name), None)
    if unit == "C" and not -40 <= value <= 150:
        gaps.append(Gap(name, "implausible", device, more={"value": value}))
    else:
        facts.append(Fact(device, name, value, unit))
