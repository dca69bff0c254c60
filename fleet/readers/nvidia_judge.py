"""What nvidia-smi's facts mean: findings by tables, the same for every printed form."""

from collections.abc import Mapping, Sequence
from typing import Any

from fleet.readers.reading import Context, Fact, Finding
from fleet.readers.text import mapping, number, sequence
from fleet.readers.throttle import BITS
from fleet.readers.xid import RECOVERY

_Verdict = tuple[dict[str, Any], str, str, str]
# a flag that is true: code, severity, scope, action (XIDs 63 and 64 say the same of rows)
FLAGS: Mapping[str, tuple[Mapping[str, Any], str, str, Mapping[str, Any]]] = {
    "remapped_rows_pending": ({"ecc": "remap_pending"}, "warn", "none", {"then": "reset_gpu"}),
    "retired_pages_pending": ({"ecc": "retired_pages_pending"}, "warn", "none", {"then": "reset_gpu"}),
    "channel_repair_pending": ({"ecc": "channel_repair_pending"}, "warn", "none", {"then": "reset_gpu"}),
    "tpc_repair_pending": ({"ecc": "tpc_repair_pending"}, "warn", "none", {"then": "reset_gpu"}),
    "remapped_rows_failure": ({"ecc": "remap_failure"}, "fault", "rma", {}),
    "sram_threshold_exceeded": ({"ecc": "sram_threshold_exceeded"}, "fault", "rma", {}),
    "unrepairable_memory": ({"ecc": "unrepairable_memory"}, "fault", "rma", {}),
    "reset_required": ({"event": "reset_required"}, "fault", "reset_gpu", {}),
    "drain_recommended": ({"event": "drain_recommended"}, "warn", "reset_gpu", {"after": "drain"}),
}
THROTTLES = {
    "hw_thermal_slowdown": "hw_thermal",
    "power_brake_slowdown": "power_brake",
    "sw_thermal_slowdown": "sw_thermal",
}
UNCORRECTABLE = {
    "sram_uncorrectable_volatile": "SRAM",
    "sram_uncorrectable_parity_volatile": "SRAM",
    "sram_uncorrectable_secded_volatile": "SRAM",
    "dram_uncorrectable_volatile": "DRAM",
    "ecc_errors_uncorrected_volatile_sram": "SRAM",
    "ecc_errors_uncorrected_volatile_dram": "DRAM",
}
_TOTAL = "ecc_errors_uncorrected_volatile_total"


def judge(facts: Sequence[Fact], context: Context) -> tuple[Finding, ...]:
    """Findings from facts, each device on its own."""
    findings: list[Finding] = []
    ecc: dict[tuple[str | None, str], int] = {}
    totals: list[Fact] = []
    for fact in facts:
        if fact.name in FLAGS and fact.value is True:
            code, severity, action, more = FLAGS[fact.name]
            findings.append(Finding(code, fact.device, severity, "gpu", action, more=more))
        elif fact.name in THROTTLES and fact.value is True:
            row = next(bit for bit in BITS if bit[1] == THROTTLES[fact.name])
            findings.append(Finding({"throttle": row[1]}, fact.device, *row[2:]))
        elif fact.name == "recovery_action" and fact.value != "None":
            findings.append(_recovery(fact))
        elif isinstance(fact.value, int) and fact.value > 0 and fact.name in UNCORRECTABLE:
            key = (fact.device, UNCORRECTABLE[fact.name])
            ecc[key] = ecc.get(key, 0) + fact.value
        elif fact.name == _TOTAL and isinstance(fact.value, int) and fact.value > 0:
            totals.append(fact)
    for fact in totals:
        if not any(device == fact.device for device, _ in ecc):
            ecc[fact.device, "total"] = fact.value
    for (device, block), count in ecc.items():
        code = {"ecc": "uncorrectable", "block": block}
        findings.append(Finding(code, device, "fault", "gpu", "reset_gpu", count))
    return (*findings, *_links(facts, context))


def _recovery(fact: Fact) -> Finding:
    words = {"Reset": "GPU Reset Required", "Reboot": "Node Reboot Required"}
    text = str(fact.value)
    severity, scope, action = RECOVERY.get(words.get(text, text), ("warn", "gpu", "contact_support"))
    more = {"after": "drain"} if text == "Drain and Reset" else {}
    return Finding({"event": "recovery_action"}, fact.device, severity, scope, action, detail={"to": text}, more=more)


def _links(facts: Sequence[Fact], context: Context) -> list[Finding]:
    """PCIe width against what is declared; a generation changes with load and is judged only by tests under load."""
    declared = number(mapping(context.get("expected")).get("pcie_width"))
    if declared is None:
        return []
    return [
        Finding({"pcie": "width_below_expected"}, f.device, "fault", "gpu", "check_hardware", detail={"width": f.value})
        for f in facts
        if f.name == "pcie_width_current" and isinstance(f.value, int) and f.value < declared
    ]


def missing(facts: Sequence[Fact], count: int, context: Context) -> tuple[Finding, ...]:
    """GPUs of the inventory that a whole report does not list: by UUID if those are declared, else by number."""
    verdict = ("fault", "gpu", "reboot")
    seen = {str(fact.value) for fact in facts if fact.name == "uuid"}
    expected = [uuid for uuid in sequence(context.get("expected_uuids")) if isinstance(uuid, str)]
    if expected:
        lost = [Finding({"event": "gpu_missing"}, uuid, *verdict) for uuid in expected if uuid not in seen]
        new = sorted(seen.difference(expected))
        return (
            *lost,
            *(Finding({"config": "gpu_not_in_inventory"}, uuid, "warn", "node", "fix_config") for uuid in new),
        )
    total = context.get("expected_gpus")
    if isinstance(total, int) and count < total:
        return (Finding({"event": "gpu_missing"}, None, *verdict, count=total - count),)
    return ()
