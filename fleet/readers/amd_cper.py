"""AMD's CPER records: of each GPU only the newest counts, by its time (which has no zone), not by its place in the
list.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from fleet.readers import catalogue
from fleet.readers.reading import Beside, Context, Finding, Gap, Reading, Text
from fleet.readers.records import moment, zone_of
from fleet.readers.text import decode, json_documents, mapping, number, printable, sequence

_SEVERITIES = {"CORRECTED": ("warn", "none"), "UNCORRECTED": ("fault", "reset_gpu"), "FATAL": ("fault", "reboot")}


def false_fatal(context: Context) -> bool:
    """MI300X from amdgpu 6.16.13 (package 30.30.1) on: fatal records are seen while the GPU works (row AFID-30)."""
    if "MI300X" not in str(context.get("gpu_model", "")):
        return False
    parts = [number(part) for part in str(context.get("amdgpu", "")).split(" ")[0].split(".")[:3]]
    version = tuple(int(part) for part in parts if part is not None)
    return version >= ((30, 30, 1) if version and version[0] >= 10 else (6, 16, 13))


def read(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """The agent's document of CPER entries by GPU."""
    documents, _ = json_documents(decode(text))
    body = next((mapping(doc) for doc in documents if "CPER" in mapping(doc)), None)
    if body is None:
        reason = "unparseable_line" if decode(text).strip() else "empty_output"
        return Reading("amd_cper_json", gaps=(Gap("CPER records", reason),))
    findings: list[Finding] = []
    gaps: list[Gap] = []
    if str(body.get("ApiStatus", "API_STATUS_OK")) != "API_STATUS_OK":
        gaps.append(Gap("CPER records", "tool_failed"))
    zone = zone_of(context)
    for gpu in map(mapping, sequence(body.get("CPER"))):
        device = printable(str(gpu.get("GPU")))[:64]
        dated: list[tuple[datetime, dict[str, Any]]] = []
        for entry in sequence(gpu.get("CPEREntry")):
            at = moment(mapping(entry).get("Timestamp"), zone)
            if at is None:
                gaps.append(Gap("time of a CPER record", "impossible_time", device))
            else:
                dated.append((at.replace(tzinfo=None) if at.tzinfo is None else at, dict(mapping(entry))))
        if dated:
            newest = max(
                dated,
                key=lambda pair: (
                    pair[0].timestamp()
                    if pair[0].tzinfo
                    else pair[0].toordinal() * 86400.0 + pair[0].hour * 3600 + pair[0].minute * 60 + pair[0].second
                ),
            )
            findings.extend(_judge(device, newest[0], newest[1], context))
    return Reading("amd_cper_json", tuple(findings), tuple(gaps))


def _judge(device: str, at: datetime, entry: dict[str, Any], context: Context) -> list[Finding]:
    detail: dict[str, Any] = {"record": entry.get("RecordId"), "at": at.isoformat()}
    now, limit = moment(context.get("now"), at.tzinfo), number(context.get("cper_max_age_s"))
    stale = False
    if now is not None and limit is not None and (now.tzinfo is None) == (at.tzinfo is None):
        stale = (now - at).total_seconds() > limit
    codes: list[int | None] = [code for code in sequence(entry.get("AFId")) if isinstance(code, int)]
    findings: list[Finding] = []
    for code in codes or [None]:
        if code is None:
            word = str(entry.get("Severity", "")).rpartition("_")[2]
            severity, action = _SEVERITIES.get(word, ("warn", "contact_support"))
            key: dict[str, Any] = {"amd": "CPER-SEV"}
        else:
            row = catalogue.afid(code)
            severity, action, key = row.severity, row.action, {"afid": code}
        if code == 30 and severity == "fault" and false_fatal(context):
            severity, action = "warn", "none"
            detail["doubt"] = "seen while the GPU works on this driver"
        if stale:
            findings.append(Finding(key, device, "info", "gpu", "none", detail=detail, more={"state": "stale"}))
        else:
            findings.append(Finding(key, device, severity, "gpu", action, detail=detail))
    return findings
