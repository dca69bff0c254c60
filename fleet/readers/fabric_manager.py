"""Fabric Manager: its own log, and its starts and stops in the journal.

Its words ERROR and INFO say little. A restart on a running host breaks multicast although everything looks well,
unless all GPUs are reset after the stop; a success line speaks of the GPUs that it could see.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from fleet.readers import kernel_log, nvidia_log, switch_log
from fleet.readers.log_parts import Log
from fleet.readers.reading import Beside, Context, Reading, Text
from fleet.readers.records import Record, moment, records, zone_of
from fleet.readers.text import decode, lines, mapping, pci, plain, sequence

_OWN_HEAD = re.compile(
    r"(?:.*?nv-fabricmanager(?:\[\d+\])?: )?(?:\[[A-Z][a-z]{2} [ \d]\d \d{4} [\d:]{8}\] )?"
    r"(?:\[\w+\] )*(?:\[tid \d+\] )?"
)
_ERROR = re.compile(
    r"detected NVSwitch (non-fatal|fatal) error (\d+) on fid \d+ on NVSwitch pci bus id ([0-9a-fA-F:.]+)"
    r"(?:.*?port (\d+))?"
)
_COUNT = "detected number of NVSwitches don't match with any supported system topology"
_VERSION = re.compile(
    r"version (\S+?)[,.]? (?:don't|doesn't|does not|do not) match with (?:the )?driver version (\S+)", re.I
)
_UNIT = re.compile(r"nvidia-fabricmanager(?:\.service)?\b")
_BLACKWELL = re.compile(r"\b(?:G?B[123]\d0|GB\d+|B\d{3})\b")


def read_log(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`fabricmanager.log`, or its lines behind a syslog tag."""
    log = Log(context)
    for number, raw in lines(decode(text)):
        line = plain(raw)
        head = _OWN_HEAD.match(line)
        take_line(log, Record(number, line[head.end() :] if head else line, False))
    return Reading("fabric_manager_log", tuple(d.finish() for d in log.drafts), tuple(log.gaps), tuple(log.facts))


def take_line(log: Log, record: Record) -> None:
    """One message of Fabric Manager."""
    if found := _ERROR.match(record.text):
        _take_switch(log, record, found)
    elif record.text.startswith(_COUNT):
        log.add(record, {"event": "nvswitch_count_mismatch"}, None, ("fault", "nvswitch_domain", "isolate"))
        log.gap("which NVSwitch is missing", "not_reported")
    elif "NV_WARN_NOTHING_TO_DO" in record.text:
        _nothing_to_do(log, record)
    elif found := _VERSION.search(record.text):
        detail = {"fabric_manager": found.group(1), "driver": found.group(2)}
        verdict = ("fault", "nvswitch_domain", "fix_config")
        log.add(record, {"config": "fabric_manager_version_differs"}, None, verdict, detail=detail)


def _take_switch(log: Log, record: Record, found: re.Match[str]) -> None:
    word, code, address, port = found.groups()
    device = pci(address)
    number = int(port[:6]) if port else None
    if word == "fatal" and device:
        far = switch_log.far_end(log, device, number)
        if far is not None:
            gpu, via = far
            log.add(
                record,
                {"sxid": int(code[:9])},
                gpu,
                ("fault", "gpu", "isolate"),
                detail={"port": number},
                more={"via": via},
            )
            return
    verdict = ("fault", "nvswitch_domain", "check_fabric") if word == "fatal" else ("warn", "nvswitch_domain", "none")
    log.add(record, {"sxid": int(code[:9])}, device, verdict, detail={"port": number})


def _nothing_to_do(log: Log, record: Record) -> None:
    """Harmless where there is no NVSwitch; where there is one (on Blackwell behind NVLSM) the way to it is missing."""
    switches = log.context.get("expected_nvswitches")
    blackwell = bool(_BLACKWELL.search(str(log.context.get("gpu_model", ""))))
    expected = bool(switches) if isinstance(switches, int) else blackwell
    verdict = ("warn", "nvswitch_domain", "check_fabric") if expected else ("info", "node", "none")
    log.add(record, {"event": "fm_nothing_to_do"}, None, verdict)


def read_journal(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """A journal of several units: the kernel's lines, Fabric Manager's, and its starts and stops."""
    log = Log(context)
    state: str | None = None
    stopped: Record | None = None
    restarts: list[tuple[Record, Record]] = []
    for record in records(decode(text), context):
        if record.headless:
            log.gap("rest of one record", "unparseable_line", line=record.line)
        elif record.kernel:
            if record.text.startswith("Linux version ") or record.text.startswith("-- Boot "):
                stopped = None
            kernel_log.take(log, record)
        elif record.tag == "systemd" and _UNIT.search(record.text):
            if re.match(
                r"Stopped |nvidia-fabricmanager\S*: (?:Main process exited|Failed with|Deactivated)", record.text
            ):
                stopped, state = stopped or record, "inactive"
            elif record.text.startswith("Started "):
                if stopped is not None:
                    restarts.append((stopped, record))
                stopped, state = None, "active"
        elif record.tag == "nv-fabricmanager":
            take_line(log, record)
        elif record.tag in ("gpu-reset",):
            nvidia_log.take_agent(log, record)
    for stop, start in restarts:
        _restarted(log, stop, start)
    findings = kernel_log.finish(log)
    _facts(log, state)
    return Reading("journal", tuple(findings), tuple(log.gaps), tuple(log.facts))


def _restarted(log: Log, stop: Record, start: Record) -> None:
    complete = any(_covers(log, mapping(row), stop.at) for row in sequence(log.context.get("gpu_resets")))
    if complete:
        log.add(start, {"event": "fm_restarted"}, None, ("info", "nvswitch_domain", "none"))
    else:
        verdict = ("fault", "nvswitch_domain", "reset_all_gpus")
        log.add(start, {"event": "fm_restarted_without_gpu_reset"}, None, verdict)


def _covers(log: Log, reset: Any, since: datetime | None) -> bool:
    """Whether a reset was of all GPUs, succeeded, and came after the stop."""
    gpus, expected = reset.get("gpus"), log.context.get("expected_gpus")
    everything = gpus == "all" or (
        isinstance(gpus, list) and isinstance(expected, int) and len(set(map(str, gpus))) >= expected
    )
    at = moment(reset.get("at"), zone_of(log.context))
    if not everything or reset.get("ok") is not True or at is None or since is None:
        return False
    return (at.tzinfo is None) == (since.tzinfo is None) and at >= since


def _facts(log: Log, state: str | None) -> None:
    state = log.context.get("service_state") or state
    if state:
        log.fact(None, "fabric_manager", state)
    seen, expected = log.context.get("gpus_seen_by_nvidia_smi"), log.context.get("expected_gpus")
    if isinstance(seen, int):
        log.fact(None, "gpu_count", seen)
        failed = {d.device for d in log.drafts if d.code == {"event": "gpu_init_failed"}}
        if isinstance(expected, int) and expected - seen > len(failed):
            log.gap(f"{expected - seen - len(failed)} of {expected} GPUs", "missing_from_report")
