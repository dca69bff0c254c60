"""The Prometheus text format: samples with labels. A last line without its line feed is cut, however whole it looks."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fleet.readers.text import lines

_SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?\s*$")
_LABEL = re.compile(r'\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)')
_ESCAPES = {"n": "\n", '"': '"', "\\": "\\"}


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample as printed; `value` stays text, since a float would lose digits of DCGM's blanks."""

    name: str
    labels: Mapping[str, str]
    value: str
    line: int
    cut: bool = False


def samples(text: str) -> Iterator[Sample]:
    """All samples that can be read, in order."""
    last = text.count("\n") + 1
    for number, line in lines(text):
        if not line or line.startswith("#"):
            continue
        found = _SAMPLE.match(line)
        if found:
            yield Sample(found.group(1), _labels(found.group(2) or ""), found.group(3), number, number == last)


def _labels(text: str) -> dict[str, str]:
    out: dict[str, str] = {}
    at = 0
    while found := _LABEL.match(text, at):
        out[found.group(1)] = re.sub(r"\\(.)", lambda hit: _ESCAPES.get(hit.group(1), hit.group(0)), found.group(2))
        at = found.end()
    return out
