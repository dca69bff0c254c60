"""nvidia-smi: `-q`, `-q -x`, `--query-gpu`, `-L` and the error lines that it prints instead.

All forms end in the same facts, and findings are judged from the facts alone. `N/A` is not measured, never 0; a
deprecated sentence is no value; a report that names fewer GPUs than it claims is incomplete, which is not the same
as GPUs being lost.
"""

import csv
import re
from collections.abc import Mapping, Sequence

from fleet.readers import nvidia_fields as fields
from fleet.readers.nvidia_judge import judge, missing
from fleet.readers.nvidia_tree import Gpu, Report, from_text, from_xml
from fleet.readers.reading import Beside, Context, Fact, Finding, Gap, Reading, Text
from fleet.readers.text import DEPRECATED, absent, decode, lines, pci, plain

_HANDLE = re.compile(r"Unable to determine the device handle for GPU\s?([0-9a-fA-F:.]+): (.*)", re.I)
_ON_LIST = re.compile(r"GPU (\d+): (.*?) \(UUID: (GPU-[0-9a-fA-F-]+)\)\s*$")
_TABLE_GPU = re.compile(r"\|\s+(\d+)\s+(\S.*?)\s+(?:On|Off|N/A)\s+\|\s+([0-9a-fA-F]{8}:[0-9a-fA-F:.]+) ")
_NO_DRIVER = (
    "couldn't communicate with the NVIDIA driver",
    "Driver/library version mismatch",
    "Failed to initialize NVML",
)
ALL = "all GPU readings"


def read_q(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`nvidia-smi -q`."""
    return _report("nvidia_smi_q", from_text(decode(text)), decode(text), context)


def read_xml(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`nvidia-smi -q -x`. A document that defines entities is refused whole: the tool never does."""
    decoded = decode(text)
    if re.search(r"<!ENTITY", decoded, re.I) or re.search(r"<!DOCTYPE[^>]*\[", decoded, re.I):
        finding = Finding(
            {"event": "tool_output_suspicious"}, None, "warn", "node", "none", detail={"tool": "nvidia-smi"}
        )
        return Reading("nvidia_smi_xml", (finding,), (Gap(ALL, "refused"),))
    report = from_xml(decoded)
    if report is None:
        known = _failed(decoded, context)
        ended = "<nvidia_smi_log" in decoded and "</nvidia_smi_log>" not in decoded
        gaps = known[1] or (Gap(ALL, "truncated_line" if ended else _why_nothing(decoded)),)
        return Reading("nvidia_smi_xml", known[0], gaps)
    return _report("nvidia_smi_xml", report, decoded, context)


def read_csv(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`nvidia-smi --query-gpu=... --format=csv`, units or none; without a header the command names the columns."""
    decoded = decode(text)
    rows = [(at, row) for at, row in enumerate(_csv_rows(decoded), 1) if any(cell.strip() for cell in row)]
    findings, gaps = _failed(decoded, context)
    header = [cell.strip() for cell in rows[0][1]] if rows else []
    named = re.search(r"--query-gpu=([\w.,]+)", str(context.get("command", "")))
    if header and not any(
        name.split(" ")[0] in ("index", "uuid", "name", "pci.bus_id", "timestamp") for name in header
    ):
        if named is None or len(named.group(1).split(",")) != len(header):
            return Reading("nvidia_smi_csv", findings, gaps or (Gap(ALL, _why_nothing(decoded)),))
        header = named.group(1).split(",")
    else:
        rows = rows[1:]
    more_gaps: list[Gap] = []
    facts: list[Fact] = []
    count = 0
    for at, row in rows:
        if len(row) != len(header):
            if not _HANDLE.search(", ".join(row)):
                more_gaps.append(Gap("row of the table", "truncated_line", line=at))
            continue
        count += 1
        _csv_facts(header, row, facts, more_gaps)
    if header:
        facts.insert(0, Fact(None, "gpu_count", count))
    else:
        more_gaps.append(Gap(ALL, _why_nothing(decoded)))
    judged = judge(facts, context)
    lost = missing(facts, count, context) if header and not findings else ()
    return Reading("nvidia_smi_csv", (*findings, *judged, *lost), (*gaps, *more_gaps), tuple(facts))


def _csv_rows(decoded: str) -> list[list[str]]:
    try:
        return list(csv.reader(decoded.replace("\x00", "").replace("\r\n", "\n").split("\n"), skipinitialspace=True))
    except csv.Error:
        return []


def _csv_facts(header: list[str], row: list[str], facts: list[Fact], gaps: list[Gap]) -> None:
    cells = {name.split(" ")[0]: cell.strip() for name, cell in zip(header, row, strict=True)}
    device = pci(cells.get("pci.bus_id") or cells.get("gpu_bus_id")) or cells.get("uuid") or cells.get("gpu_uuid")
    if device is None and cells.get("index", cells.get("gpu_index", "")).isdigit():
        device = f"gpu:{cells.get('index', cells.get('gpu_index'))}"
    for name, cell in zip(header, row, strict=True):
        column = name.split(" ")[0]
        fact = fields.CSV_NAMES.get(column, column.replace(".", "_"))
        if column in ("index", "timestamp"):
            continue
        value = cell.strip()
        if DEPRECATED in value:
            gaps.append(Gap(fact, "deprecated", device))
        elif absent(value):
            gaps.append(Gap(fact, "not_supported" if "not supported" in value.lower() else "not_measured", device))
        elif value.strip("[]").lower() in ("unknown error", "err!", "gpu is lost", "gpu requires reset"):
            gaps.append(Gap(fact, "tool_failed", device))
        else:
            _keep(Fact(device, fact, *fields.typed(value, fields.csv_unit(name))), facts, gaps)


def _keep(fact: Fact, facts: list[Fact], gaps: list[Gap]) -> None:
    if fields.implausible(fact):
        gaps.append(Gap(fact.name, "implausible", fact.device, more={"value": fact.value}))
    else:
        facts.append(fact)


def read_list(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`nvidia-smi -L`. Indexes close up when a GPU is missing; only UUIDs say which one."""
    decoded = decode(text)
    facts: list[Fact] = []
    count = 0
    for _, line in lines(decoded):
        if found := _ON_LIST.match(plain(line)):
            count += 1
            facts.append(Fact(f"gpu:{found.group(1)}", "uuid", found.group(3)))
    findings, gaps = _failed(decoded, context)
    if not count and not findings and "No devices" not in decoded:
        return Reading("nvidia_smi_list", gaps=gaps or (Gap(ALL, _why_nothing(decoded)),))
    lost = missing(facts, count, context) if not findings else ()
    return Reading("nvidia_smi_list", (*findings, *lost), gaps, (Fact(None, "gpu_count", count), *facts))


def read_table(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`nvidia-smi` without arguments, which one dead GPU turns into a single line."""
    decoded = decode(text)
    findings, gaps = _failed(decoded, context)
    facts: list[Fact] = []
    if found := re.search(r"Driver Version: (\S+)", decoded):
        facts.append(Fact(None, "driver", found.group(1)))
    count = 0
    for _, line in lines(decoded):
        if (gpu := _TABLE_GPU.match(plain(line))) and (device := pci(gpu.group(3))):
            count += 1
            facts.append(Fact(device, "product_name", gpu.group(2).strip()))
    if facts or "No devices" in decoded:
        facts.insert(0, Fact(None, "gpu_count", count))
        lost = missing(facts, count, context) if not findings else ()
        return Reading("nvidia_smi_table", (*findings, *lost), gaps, tuple(facts))
    return Reading("nvidia_smi_table", findings, gaps or (Gap(ALL, _why_nothing(decoded)),))


def _why_nothing(decoded: str) -> str:
    return "unparseable_line" if decoded.strip() else "empty_output"


def _failed(decoded: str, context: Context) -> tuple[tuple[Finding, ...], tuple[Gap, ...]]:
    """What the tool's own error lines say: one dead GPU hides the others, a missing driver hides all."""
    findings: list[Finding] = []
    for found in _HANDLE.finditer(decoded):
        device = pci(found.group(1))
        detail = {"text": found.group(2).strip()[:120]}
        findings.append(Finding({"event": "gpu_handle_lost"}, device, "fault", "gpu", "reboot", detail=detail))
    if findings:
        expected = context.get("expected_gpus")
        listed = len(re.findall(r"^GPU \d+: ", decoded, re.M))
        rest = expected - len(findings) - listed if isinstance(expected, int) else None
        what = f"state of the other {rest} GPUs" if rest is not None else "state of the other GPUs"
        return tuple(findings), ((Gap(what, "tool_failed"),) if rest != 0 else ())
    if "Driver/library version mismatch" in decoded:
        code = {"config": "driver_library_mismatch"}
        return (Finding(code, None, "fault", "node", "fix_config"),), (Gap(ALL, "tool_failed"),)
    if any(words in decoded for words in _NO_DRIVER):
        finding = Finding({"event": "tool_failed"}, None, "warn", "node", "none", detail={"tool": "nvidia-smi"})
        return (finding,), (Gap(ALL, "tool_failed"),)
    return (), ()


def _report(kind: str, report: Report, decoded: str, context: Context) -> Reading:
    facts: list[Fact] = []
    gaps: list[Gap] = []
    findings, failed = _failed(decoded, context)
    gaps.extend(failed)
    if not report.gpus and report.claimed is None:
        return Reading(kind, findings, tuple(gaps) or (Gap(ALL, _why_nothing(decoded)),))
    listed = len(report.gpus)
    claimed = report.claimed if report.claimed is not None else listed
    facts.append(Fact(None, "gpu_count_claimed", claimed))
    facts.append(Fact(None, "gpu_count_listed", listed))
    if claimed == listed:
        facts.append(Fact(None, "gpu_count", listed))
    for name, value in report.node.items():
        facts.append(Fact(None, name, value))
    for gpu in report.gpus:
        _gpu_facts(gpu, facts, gaps)
    if claimed > listed:
        gaps.append(Gap(f"{claimed - listed} of {claimed} GPUs", "missing_from_report"))
    judged = judge(facts, context)
    lost = missing(facts, claimed, context) if not findings and claimed == listed else ()
    return Reading(kind, (*findings, *judged, *lost), tuple(gaps), tuple(facts))


def _gpu_facts(gpu: Gpu, facts: list[Fact], gaps: list[Gap]) -> None:
    device = gpu.device
    for name, unit, paths in fields.FIELDS:
        value = next((gpu.values[path] for path in paths if path in gpu.values), None)
        if value is None or absent(value) or DEPRECATED in value:
            continue
        if value.strip().lower() in ("unknown error", "err!", "gpu is lost"):
            gaps.append(Gap(name, "tool_failed", device))
            continue
        _keep(Fact(device, name, *fields.typed(value, unit)), facts, gaps)
    if gpu.migs or gpu.values.get("mig_mode/current", gpu.values.get("mig_mode/current_mig")) == "Enabled":
        facts.append(Fact(device, "mig_devices", len(gpu.migs)))
    for at, mig in enumerate(gpu.migs):
        _mig_facts(f"{device}/mig{mig.get('index', at)}", mig, facts)
    gaps.extend(_absent_gaps(gpu.values, device))


def _mig_facts(device: str, values: Mapping[str, str], facts: list[Fact]) -> None:
    for name, unit, paths in fields.MIG_FIELDS:
        value = next((values[path] for path in paths if path in values), None)
        if value is not None and not absent(value):
            facts.append(Fact(device, name, *fields.typed(value, unit)))


def _absent_gaps(values: Mapping[str, str], device: str | None) -> list[Gap]:
    """Deprecated fields by name, and the watched blocks of which nothing was measured."""
    gaps: list[Gap] = []
    blocks: dict[str, list[str]] = {}
    for path, value in values.items():
        blocks.setdefault(path.split("/")[0], []).append(value)
    for block, found in blocks.items():
        if all(DEPRECATED in value for value in found):
            gaps.append(Gap(block, "deprecated", device))
        elif block in fields.WATCHED and all(absent(value) for value in found):
            gaps.append(Gap(fields.WATCHED[block], "not_measured", device))
    return gaps
