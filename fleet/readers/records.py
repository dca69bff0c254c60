"""Log records: the printed forms of kernel and journal lines, told apart by their heads.

kmsg, raw dmesg (`<4>`), `dmesg`, `dmesg -T`, `dmesg -x`, ISO dmesg, syslog, the journal's short forms, journal JSON
and text without heads. A record knows whether the kernel wrote it: anyone may write text that looks like a kernel
message, so only facility 0, the tag `kernel` or the journal's transport field count. Order is the order of the
file, never that of the clock.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from fleet.readers.reading import Context
from fleet.readers.text import lines, mapping, plain

_KMSG = re.compile(r"(\d+),(\d+),(\d+),([^;]*);(.*)", re.S)
_RAW = re.compile(r"<(\d{1,3})>(?=\[)")
_DECODED = re.compile(r"(\w+)\s*:(\w+)\s*: ")
_BOOT = re.compile(r"\[\s*(\d+\.\d+)\](?:\[\s*[TC]\d+\])? ?")
_CTIME = re.compile(r"\[(\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4})\] ?")
_ISO = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)? ")
_SYSLOG = re.compile(r"(?:<(\d{1,3})>)?([A-Z][a-z]{2}) ([ \d]\d) (\d\d):(\d\d):(\d\d) ")
_TAG = re.compile(r"(?:(\S+) )?([\w./@-]+)(?:\[(\d+)\])?: ")
_BARE_TAG = re.compile(r"([\w./@-]+)\[(\d+)\]: ")
_KERNEL_TAG = "kernel: "
_MERGED = re.compile(r"(?<=.)(?=\[\s*\d+\.\d{6}\] )")
_MONTHS = {
    name: at
    for at, name in enumerate(["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], 1)
}


@dataclass(frozen=True, slots=True)
class Record:
    """One log record. `at` is None where its time is not known; `bad_time` says that it names a time that never was."""

    line: int
    text: str
    kernel: bool
    tag: str = "kernel"
    at: datetime | None = None
    sequence: int | None = None
    bad_time: bool = False
    last_line: int = 0
    headless: bool = False
    """a line without a head that follows a merged one: the rest of some record"""


def zone_of(context: Context) -> tzinfo | None:
    """The zone that the context names, None if it names none or one that does not exist."""
    name = context.get("time_zone")
    if not isinstance(name, str) or not name:
        return None
    try:
        return ZoneInfo(name)
    except (OSError, ValueError):
        return None


def moment(value: Any, zone: tzinfo | None = None) -> datetime | None:
    """A point in time from ISO text or a datetime; without a zone in the text `zone` is taken."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip().replace(" ", "T", 1))
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return value.replace(tzinfo=zone) if value.tzinfo is None and zone is not None else value


@dataclass(frozen=True, slots=True)
class _Clock:
    zone: tzinfo | None
    boot: datetime | None
    year: int | None
    read_at: datetime | None

    def since_boot(self, seconds: float) -> datetime | None:
        try:
            return self.boot + timedelta(seconds=seconds) if self.boot else None
        except OverflowError:
            return None

    def syslog(self, month: str, day: str, clock: tuple[str, str, str]) -> tuple[datetime | None, bool]:
        """The time, and whether it is impossible. The year is the context's, else the latest not in the future."""
        hour, minute, second = (int(part) for part in clock)
        years = [self.year] if self.year else []
        if not years and self.read_at:
            years = [self.read_at.year, self.read_at.year - 1]
        for year in years:
            try:
                at = datetime(year, _MONTHS.get(month, 0), int(day), hour, minute, second, tzinfo=self.zone)
            except ValueError:
                continue
            if self.year or not self.read_at or self.zone is None or at <= self.read_at + timedelta(minutes=1):
                return at, False
        return None, bool(years)


def _clock(context: Context) -> _Clock:
    zone = zone_of(context)
    year = context.get("year")
    return _Clock(
        zone,
        moment(context.get("boot"), zone or UTC),
        year if isinstance(year, int) and 1970 <= year <= 9998 else None,
        moment(context.get("read_at"), zone or UTC),
    )


def _iso(found: re.Match[str], clock: _Clock) -> datetime | None:
    base, fraction, offset = found.groups()
    micros = ((fraction or "0") + "000000")[:6]
    offset = "+00:00" if offset == "Z" else offset or ""
    return moment(f"{base}.{micros}{offset}", clock.zone)


def _tagged(record: Record, text: str) -> Record:
    """Host and tag off the front of a syslog or journal line."""
    found = _TAG.match(text)
    if not found:
        return replace(record, text=text, kernel=False, tag="")
    tag = found.group(2)
    rest = text[found.end() :]
    if tag != "kernel":
        return replace(record, text=rest, kernel=False, tag=tag)
    boot = _BOOT.match(rest)
    return replace(record, text=rest[boot.end() :] if boot else rest, kernel=True)


def _headed(number: int, line: str, clock: _Clock) -> Record | None:
    """The record of a line with a head; None for a line without one."""
    kernel, text = True, line
    if found := _KMSG.match(line):
        return Record(
            number,
            found.group(5),
            int(found.group(1)[:9]) >> 3 == 0,
            at=clock.since_boot(int(found.group(3)[:18]) / 1e6),
            sequence=int(found.group(2)[:18]),
        )
    if line.startswith("{"):
        return _journal_json(number, line)
    if found := _RAW.match(text):
        kernel, text = int(found.group(1)) >> 3 == 0, text[found.end() :]
    elif found := _DECODED.match(text):
        kernel, text = found.group(1) == "kern", text[found.end() :]
    if found := _BOOT.match(text):
        return Record(number, text[found.end() :], kernel, at=clock.since_boot(float(found.group(1))))
    if found := _CTIME.match(text):
        return Record(number, text[found.end() :], kernel, at=_ctime(found.group(1), clock))
    if found := _ISO.match(text):
        record = Record(number, text[found.end() :], kernel, at=_iso(found, clock))
        printed_by_dmesg = text is not line or found.group(0)[19] == ","
        return record if printed_by_dmesg else _tagged(record, record.text)
    if found := _SYSLOG.match(text):
        at, bad = clock.syslog(found.group(2), found.group(3), (found.group(4), found.group(5), found.group(6)))
        return _tagged(Record(number, "", kernel, at=at, bad_time=bad), text[found.end() :])
    if text.startswith(_KERNEL_TAG):  # a journal printed without its times
        return Record(number, text[len(_KERNEL_TAG) :], kernel)
    if found := _BARE_TAG.match(text):
        return Record(number, text[found.end() :], False, tag=found.group(1))
    return None


def _ctime(text: str, clock: _Clock) -> datetime | None:
    try:
        return datetime.strptime(text, "%a %b %d %H:%M:%S %Y").replace(tzinfo=clock.zone)
    except ValueError:
        return None


def _journal_json(number: int, line: str) -> Record | None:
    """A line of `journalctl -o json`: only `_TRANSPORT` says that the kernel wrote it."""
    try:
        entry = mapping(json.loads(line))
    except (ValueError, RecursionError):
        return None
    message = entry.get("MESSAGE")
    if isinstance(message, list):
        message = bytes(byte for byte in message if isinstance(byte, int) and 0 <= byte < 256).decode(
            "utf-8", "replace"
        )
    if not isinstance(message, str):
        return None
    stamp = str(entry.get("__REALTIME_TIMESTAMP", ""))
    at = None
    if stamp.isdigit() and len(stamp) < 18:
        at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(stamp))
    kernel = entry.get("_TRANSPORT") == "kernel"
    return Record(number, message, kernel, tag="kernel" if kernel else str(entry.get("SYSLOG_IDENTIFIER", "")), at=at)


def _split(record: Record, line: str, clock: _Clock) -> list[Record]:
    """The records of one line: a serial console can print a second one into the first."""
    if record.sequence is not None or not record.kernel or not _BOOT.match(line):
        return [record]
    first, *others = _MERGED.split(record.text)
    found = [_headed(record.line, part, clock) for part in others]
    return [replace(record, text=first), *(other for other in found if other is not None)]


def records(text: str, context: Context) -> Iterator[Record]:
    """The records of a log, continuation lines joined to their first line with a line feed."""
    clock = _clock(context)
    waiting: Record | None = None
    any_head = cut = False
    for number, raw in lines(text):
        line = plain(raw)
        if not line.strip():
            continue
        record = _headed(number, line, clock)
        if record is None and waiting is not None and line[:1] in " \t":
            waiting = replace(waiting, text=f"{waiting.text}\n{line.strip()}", last_line=number)
            continue
        if waiting is not None:
            yield waiting
        waiting = None
        if record is None:
            yield Record(number, line, not any_head and not cut, tag="", headless=cut)
            cut = False
            continue
        any_head = True
        batch = _split(record, line, clock)
        cut = cut or len(batch) > 1
        yield from batch[:-1]
        waiting = replace(batch[-1], last_line=number)
        if "#012" in waiting.text or "\\x0a" in waiting.text:
            waiting = replace(waiting, text=waiting.text.replace("#012", "\n").replace("\\x0a", "\n"))
    if waiting is not None:
        yield waiting
