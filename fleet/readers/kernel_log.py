"""Kernel logs: every family of messages in one pass, in the order of the file.

The pass keeps findings, not lines, so that a flood costs neither memory nor the one fault inside it. What the log
itself lost (a jump of the sequence, a stepped clock, half a record) is a gap.
"""

import re
from collections.abc import Sequence
from typing import Any

from fleet.readers import amd_log, nic_log, nvidia_log, switch_log
from fleet.readers.log_parts import Log
from fleet.readers.reading import NOTHING, Beside, Context, Finding, Reading, Text
from fleet.readers.records import Record, records
from fleet.readers.text import decode

_STEPPED = re.compile(r"System clock was stepped by ([-+]?\d+(?:\.\d+)?) seconds")
_STEP_SECONDS = 60.0
_RESET_AGENTS = ("gpu-reset",)


def read(text: Text, context: Context = NOTHING, _also: Sequence[Beside] = ()) -> Reading:
    """Findings, gaps and facts of a kernel log in any printed form, such as `journalctl -k -o short-iso-precise`."""
    log = read_log(text, context)
    return Reading("kernel_log", tuple(finish(log)), tuple(log.gaps), tuple(log.facts))


def read_log(text: Text, context: Context) -> Log:
    """One pass over the records."""
    log = Log(context)
    for record in records(decode(text), context):
        _watch_clock(log, record)
        _watch_sequence(log, record)
        if record.headless:
            log.gap("rest of one record", "unparseable_line", line=record.line)
        elif record.kernel:
            take(log, record)
        elif record.tag in _RESET_AGENTS:
            nvidia_log.take_agent(log, record)
    return log


def take(log: Log, record: Record) -> None:
    """One record that the kernel wrote, given to the family that its beginning names."""
    text = record.text
    if text.startswith("nvidia-nvswitch"):
        switch_log.take(log, record)
    elif text.startswith(("NVRM", "nvidia-")):
        nvidia_log.take(log, record)
    elif text.startswith(("mlx5_core", "NETDEV")) or "PCIe Bus Error" in text or "AER: " in text:
        nic_log.take(log, record)
    else:
        amd_log.take(log, record)


def finish(log: Log) -> list[Finding]:
    """The findings, once the whole log was seen."""
    nvidia_log.finish(log)
    amd_log.finish(log)
    merged: dict[Any, Finding] = {}
    for draft in log.drafts:
        finding = draft.finish()
        key = (repr(finding.code), finding.device, finding.severity, finding.action, repr(finding.more), draft.order)
        if "amd" in finding.code:
            key = (*key[:-1], 0)
        have = merged.get(key)
        merged[key] = finding if have is None else _joined(have, finding)
    return list(merged.values())


def _joined(one: Finding, other: Finding) -> Finding:
    return Finding(
        one.code, one.device, one.severity, one.scope, one.action, one.count + other.count, one.detail, one.more
    )


def _watch_sequence(log: Log, record: Record) -> None:
    """A jump of the kernel's own numbers means records that nobody will ever read."""
    if record.sequence is None:
        return
    last = log.scratch.get("sequence")
    if isinstance(last, int) and record.sequence > last + 1:
        first, end = last + 1, record.sequence - 1
        log.gap(f"kernel records {first} to {end}", "records_lost", count=end - first + 1)
    log.scratch["sequence"] = record.sequence


def _watch_clock(log: Log, record: Record) -> None:
    """Order is that of the file; a clock that went back makes the times before the step doubtful."""
    if not record.kernel and (found := _STEPPED.search(record.text)):
        log.scratch["said_step"] = float(found.group(1))
    at, last = record.at, log.scratch.get("clock")
    if at is None:
        return
    log.scratch["clock"] = at
    if last is None or (last.tzinfo is None) != (at.tzinfo is None):
        return
    jump = (at - last).total_seconds()
    if jump < -_STEP_SECONDS:
        seconds = round(log.scratch.pop("said_step", jump), 1)
        log.gap("true time of records before the step", "clock_stepped", seconds=seconds)
