"""rocm-smi --json: the same fields under a name per release, so every fact has a list of names.

"N/A" is not a serial number; the star marks the present PCIe state; firmware is printed in decimal or hex and
compared in one form.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fleet.readers.reading import Beside, Context, Fact, Finding, Gap, Reading, Text
from fleet.readers.text import absent, decode, json_documents, mapping, number, pci, printable

# fact, unit (None: text, "hex": a number in hex), names by age, newest first (compared without case)
FIELDS: tuple[tuple[str, str | None, tuple[str, ...]], ...] = (
    ("device_id", "hex", ("Device ID", "GPU ID")),
    ("unique_id", "hex", ("Unique ID",)),
    ("serial", None, ("Serial Number",)),
    ("vbios", None, ("VBIOS version",)),
    ("gfx", None, ("GFX Version",)),
    ("product_name", None, ("Device Name", "Card Series")),
    ("temperature_edge", "C", ("Temperature (Sensor edge) (C)",)),
    ("temperature_junction", "C", ("Temperature (Sensor junction) (C)",)),
    ("temperature_memory", "C", ("Temperature (Sensor memory) (C)",)),
    ("power_average", "W", ("Average Graphics Package Power (W)",)),
    ("power_current", "W", ("Current Socket Graphics Package Power (W)",)),
    ("power_max", "W", ("Max Graphics Package Power (W)",)),
    ("utilization_gpu", "%", ("GPU use (%)",)),
    ("memory_activity", "%", ("Memory Activity",)),
    ("voltage", "mV", ("Voltage (mV)",)),
    ("pcie_replays", "", ("PCIe Replay Count",)),
    ("vram_total", "B", ("VRAM Total Memory (B)",)),
    ("vram_used", "B", ("VRAM Total Used Memory (B)",)),
    ("numa_node", "", ("(Topology) Numa Node",)),
)
_PLAUSIBLE = {"C": (-40, 150), "mV": (300, 2000), "W": (0, 3000), "%": (0, 100)}
_PCIE = re.compile(r"(\d+(?:\.\d+)?)\s*GT/s\s*x(\d+)")
_CARD = re.compile(r"card\d+")


def read(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`rocm-smi -a --json`."""
    decoded = decode(text)
    documents, _ = json_documents(decoded)
    report = next((mapping(doc) for doc in documents if any(map(_CARD.fullmatch, mapping(doc)))), None)
    if report is None:
        reason = "unparseable_line" if decoded.strip() else "empty_output"
        return Reading("rocm_smi_json", gaps=(Gap("all GPU readings", reason),))
    facts: list[Fact] = []
    gaps: list[Gap] = []
    cards = [(name, mapping(body)) for name, body in report.items() if _CARD.fullmatch(name)]
    facts.append(Fact(None, "gpu_count", len(cards)))
    driver = next((v for k, v in mapping(report.get("system")).items() if k.lower() == "driver version"), None)
    if not absent(driver):
        facts.append(Fact(None, "driver", str(driver)))
    for name, body in cards:
        _card(name, body, facts, gaps)
    findings = gone(len(cards), context)
    return Reading("rocm_smi_json", findings, tuple(gaps), tuple(facts))


def gone(count: int, context: Context) -> tuple[Finding, ...]:
    """Fewer GPUs than the inventory has (row SMI-GONE)."""
    expected = context.get("expected_gpus")
    if not isinstance(expected, int) or count >= expected:
        return ()
    return (Finding({"amd": "SMI-GONE"}, None, "fault", "gpu", "reboot", expected - count),)


def _card(name: str, body: Mapping[str, Any], facts: list[Fact], gaps: list[Gap]) -> None:
    values = {key.strip().lower(): value for key, value in body.items()}
    device = pci(values.get("pci bus")) or name
    for fact, unit, names in FIELDS:
        value = next((values[key.lower()] for key in names if key.lower() in values), None)
        if value is None:
            continue
        if absent(value):
            gaps.append(Gap(fact, "not_measured", device))
            continue
        typed = _typed(str(value), unit)
        low, high = _PLAUSIBLE.get(unit or "", (None, None))
        if low is not None and high is not None and not (isinstance(typed, int | float) and low <= typed <= high):
            gaps.append(Gap(fact, "implausible", device, more={"value": typed}))
        else:
            facts.append(Fact(device, fact, typed, unit if unit not in ("", "hex") else None))
    affinity = number(values.get("(topology) numa affinity"))
    if affinity is not None:
        facts.append(Fact(device, "numa_affinity", None if affinity < 0 else affinity))
    for key, value in values.items():
        if key.endswith(" firmware version") and not absent(value):
            part = re.sub(r"\W+", "_", key.removesuffix(" firmware version")).strip("_")
            facts.append(Fact(device, f"firmware_{part}", firmware(str(value))))
    _pcie(device, values, facts)


def _typed(text: str, unit: str | None) -> Any:
    text = text.strip()
    if unit == "hex":
        return text.lower()
    value = number(text) if unit is not None else None
    return printable(text) if value is None else value


def firmware(text: str) -> str:
    """One form for one version: numbers that fill 32 bits are hex, dotted ones stay as they are."""
    text = text.strip()
    if re.fullmatch(r"0[xX][0-9a-fA-F]{1,8}", text):
        return f"0x{int(text, 16):08x}"
    if re.fullmatch(r"\d{8,10}", text):
        return f"0x{int(text):08x}"
    return printable(text)


def _pcie(device: str, values: Mapping[str, Any], facts: list[Fact]) -> None:
    """The level line names the present state; older releases only star it in the list of possible ones."""
    present = next((str(v) for k, v in values.items() if k.rstrip(":") == "pcie clock level"), "")
    found = _PCIE.search(present)
    if found is None:
        starred = (str(v) for v in values.values() if str(v).rstrip().endswith("*"))
        found = next((hit for text in starred if (hit := _PCIE.search(text))), None)
    if found:
        facts.append(Fact(device, "pcie_speed_current", float(found.group(1)), "GT/s"))
        facts.append(Fact(device, "pcie_width_current", int(found.group(2)[:4])))
