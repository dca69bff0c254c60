"""Small pure helpers on untrusted text: decoding, lines, addresses, numbers, JSON with its defects."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from fleet.readers.reading import Text

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_PCI = re.compile(r"(?:([0-9a-fA-F]{4,8}):)?([0-9a-fA-F]{2}):([0-9a-fA-F]{2})(?:\.([0-7]))?")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_ABSENT = ("n/a", "[n/a]", "n/s", "not supported", "[not supported]", "unknown error", "[unknown error]", "")
DEPRECATED = "Requested functionality has been deprecated"


def decode(content: Text) -> str:
    """Text of any make: UTF-16 by its mark, else UTF-8 with replacements; never raises, drops a byte-order mark."""
    if isinstance(content, str):
        return content.removeprefix("\ufeff")
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16", errors="replace").removeprefix("\ufeff")
    return content.decode("utf-8", errors="replace").removeprefix("\ufeff")


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines, split at line feeds only (a process name may hold the other separators); no carriage returns."""
    for number, line in enumerate(text.split("\n"), 1):
        yield number, line.rstrip("\r")


def plain(line: str) -> str:
    """The line without terminal colours."""
    return _ANSI.sub("", line) if "\x1b" in line else line


def printable(value: str) -> str:
    """Safe for terminals and labels: control characters become '?'."""
    return "".join(char if char.isprintable() else "?" for char in value)


def pci(value: Any) -> str | None:
    """A PCI address as dddd:bb:dd.f in lower case; domain and function are 0 where the text omits them."""
    found = _PCI.fullmatch(str(value).strip()) if value is not None else None
    if not found:
        return None
    domain, bus, device, function = found.groups()
    return f"{int(domain or '0', 16):04x}:{bus.lower()}:{device.lower()}.{function or '0'}"


def absent(value: Any) -> bool:
    """True for the ways in which tools say that they have no value."""
    return value is None or (isinstance(value, str) and value.strip().lower() in _ABSENT)


def number(value: Any) -> int | float | None:
    """A finite number from a number or from text that is nothing but a number."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    text = str(value).strip()
    if value is None or len(text) > 40 or not _NUMBER.fullmatch(text):
        return None
    if re.fullmatch(r"[-+]?\d+", text):
        return int(text)
    result = float(text)
    return result if math.isfinite(result) else None


def quantity(value: Any) -> tuple[int | float, str | None] | None:
    """`214.30 W` -> (214.3, "W"); `16x` -> (16, "x"); None where there is no leading number."""
    if isinstance(value, int | float):
        return (value, None) if number(value) is not None else None
    found = re.fullmatch(r"\s*([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*([^\s\d].*?)?\s*", str(value))
    if not found:
        return None
    amount = number(found.group(1))
    return None if amount is None else (amount, found.group(2))


class Repeated(dict[str, Any]):
    """A JSON object that remembers keys given more than once with different values."""

    repeated: tuple[str, ...] = ()


def _object(pairs: list[tuple[str, Any]]) -> Repeated:
    out = Repeated()
    again: list[str] = []
    for key, value in pairs:
        if key in out and out[key] != value and key not in again:
            again.append(key)
        out[key] = value
    out.repeated = tuple(again)
    return out


_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def parse_json(text: str) -> Any | None:
    """The document, or None where the text is not one whole JSON document. Repeated keys are remembered."""
    try:
        return _DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        return None


def json_documents(text: str) -> tuple[list[Any], list[str]]:
    """All JSON arrays and objects that begin at the start of a line, and the lines of text around them."""
    documents: list[Any] = []
    rest: list[str] = []
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if text[at:end].lstrip()[:1] in ("[", "{"):
            start = at + len(text[at:end]) - len(text[at:end].lstrip())
            try:
                document, stop = _DECODER.raw_decode(text, start)
            except (ValueError, RecursionError):
                pass
            else:
                documents.append(document)
                at = stop
                continue
        if text[at:end].strip():
            rest.append(text[at:end].strip())
        at = end + 1
    return documents, rest


_DEEPEST = 64


def _harmless(text: str) -> bool:
    """No aliases, with which a short text can hold an endless one, and no abyss of brackets."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent) or depth > _DEEPEST:
            return False
    return True


def parse_yaml(text: str) -> Any | None:
    """The document, or None where it is no YAML or not harmless."""
    try:
        return yaml.safe_load(text) if _harmless(text) else None
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


def mapping(value: Any) -> Mapping[str, Any]:
    """The value if it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def sequence(value: Any) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return list(value) if isinstance(value, list | tuple) else []


_SMALL = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def spelled(count: int) -> str:
    """A small number as a word."""
    return _SMALL[count] if 0 <= count < len(_SMALL) else str(count)
