"""YAML text as plain values that know their lines; every mistake is a Problem, never a traceback.

Scalars stay the text that stands in the file: `6.10` is not 6.1, `no` is not false, `2036-01-01` is no date yet. The
models say what a field is. Built from libyaml's events in one pass without recursion, so that neither depth nor
aliases of aliases can hurt: both are counted while they are read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import yaml

from fleet.errors import Problem

MOST_BYTES = 16 << 20
MOST_VALUES = 2_000_000
DEEPEST = 16

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
MERGE = "<<"
_NULL = frozenset({"", "~", "null", "Null", "NULL"})


class Mapped(dict[str, Any]):
    """A mapping that knows the line it begins in and that of each key."""

    __slots__ = ("line", "lines")

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}


class Listed(list[Any]):
    """A list that knows the line of each item."""

    __slots__ = ("line", "lines")

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: list[int] = []


def line_of(root: object, place: tuple[object, ...]) -> int:
    """The line of what stands at a path of keys and indices, or of the nearest thing above it that exists."""
    line = root.line if isinstance(root, Mapped | Listed) else 1
    for key in place:
        match root:
            case Mapped() if isinstance(key, str) and key in root:
                line, root = root.lines[key], root[key]
            case Listed() if isinstance(key, int) and key < len(root):
                line, root = root.lines[key], root[key]
            case _:
                break
    return line


def parse(raw: bytes, file: str) -> tuple[Mapped | None, tuple[Problem, ...]]:
    """The mapping that a file holds, and what is wrong with its text. An empty file is an empty mapping."""
    if len(raw) > MOST_BYTES:
        return None, (Problem(file, 0, f"{len(raw)} bytes are more than the {MOST_BYTES} that are read"),)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return None, (Problem(file, line, "the text is not UTF-8", "save the file as UTF-8"),)
    building = _Building(file)
    try:
        for event in yaml.parse(text, Loader=_Loader):
            building.take(event)
            if building.ended:
                break
    except yaml.MarkedYAMLError as error:
        building.problems.append(_syntax(error, text, file))
        return None, tuple(building.problems)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1 if isinstance(error.position, int) else 0
        building.problems.append(Problem(file, line, "a character that YAML does not allow", "remove it"))
        return None, tuple(building.problems)
    except yaml.YAMLError as error:
        building.problems.append(Problem(file, 0, f"this is no YAML: {error}"))
        return None, tuple(building.problems)
    return building.result(), tuple(building.problems)


def _syntax(error: yaml.MarkedYAMLError, text: str, file: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark is not None else 0
    lines = text.splitlines()
    written = lines[line - 1] if 0 < line <= len(lines) else ""
    if "\t" in written[: len(written) - len(written.lstrip())] or "'\\t'" in (error.problem or ""):
        return Problem(file, line, "a tab where spaces belong", "indent with spaces")
    what = " ".join(part for part in (error.context, error.problem) if part)
    return Problem(file, line, f"this is no YAML: {what}", "check indentation, colons, quotes and brackets")


@dataclass(slots=True)
class _Open:
    """A collection that is being read; `key` is the mapping's key that waits for its value."""

    value: Mapped | Listed
    anchor: str | None
    key: str | None = None
    key_line: int = 0
    weight: int = 1


@dataclass(slots=True)
class _Building:
    """Puts events together."""

    file: str
    problems: list[Problem] = field(default_factory=list)
    ended: bool = False
    _stack: list[_Open] = field(default_factory=list)
    _anchors: dict[str, tuple[Any, int]] = field(default_factory=dict)
    _root: Any = None
    _documents: int = 0
    _values: int = 0

    def result(self) -> Mapped | None:
        if self.ended:
            return None
        if self._root is None:
            return Mapped(1)
        if not isinstance(self._root, Mapped):
            self.problems.append(Problem(self.file, 1, "the file is no mapping", "begin with `key: value`"))
            return None
        return self._root

    def take(self, event: Any) -> None:
        line = event.start_mark.line + 1
        match event:
            case yaml.ScalarEvent():
                self._tagless(event, line)
                null = (
                    not event.style and event.value in _NULL
                )  # libyaml's style of a plain scalar is '', PyYAML's None
                self._add(None if null else event.value, line, event.anchor)
            case yaml.MappingStartEvent():
                self._tagless(event, line)
                self._enter(Mapped(line), event.anchor, line)
            case yaml.SequenceStartEvent():
                self._tagless(event, line)
                self._enter(Listed(line), event.anchor, line)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                done = self._stack.pop()
                if isinstance(done.value, Mapped) and MERGE in done.value:
                    self._merge(done.value)
                if done.anchor:
                    self._anchors[done.anchor] = (done.value, done.weight)
                self._place(done.value, done.value.line, done.weight, counted=1)
            case yaml.AliasEvent():
                self._alias(str(event.anchor), line)
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents == 2:
                    self._stop(line, "a second document begins here", "keep one document in a file")

    def _tagless(self, event: Any, line: int) -> None:
        if event.tag is not None and event.tag != "!":
            self.problems.append(Problem(self.file, line, f"the tag {event.tag} means nothing here", "remove it"))

    def _enter(self, value: Mapped | Listed, anchor: str | None, line: int) -> None:
        if self._stack and isinstance(self._stack[-1].value, Mapped) and self._stack[-1].key is None:
            self.problems.append(Problem(self.file, line, "a key must be a word", "write `key: value`"))
            self._stack[-1].key, self._stack[-1].key_line = "", line
        if len(self._stack) >= DEEPEST:
            self._stop(line, f"nested deeper than {DEEPEST}", "write it flat")
            return
        self._stack.append(_Open(value, anchor))

    def _alias(self, anchor: str, line: int) -> None:
        if anchor not in self._anchors:
            self.problems.append(Problem(self.file, line, f"*{anchor} stands inside itself", "write it out"))
            self._place(None, line, 1)
            return
        value, weight = self._anchors[anchor]
        self._place(value, line, weight)

    def _merge(self, value: Mapped) -> None:
        """`<<: *other` lays a mapping under this one: what stands here itself holds."""
        line, other = value.lines.pop(MERGE), value.pop(MERGE)
        for base in other if isinstance(other, Listed) else [other]:
            if not isinstance(base, Mapped):
                self.problems.append(Problem(self.file, line, "`<<` takes a mapping", "write `<<: *name`"))
                continue
            for key, found in base.items():
                if key not in value:
                    value[key] = found
                    value.lines[key] = base.lines[key]

    def _add(self, value: str | None, line: int, anchor: str | None) -> None:
        top = self._stack[-1] if self._stack else None
        if top is not None and isinstance(top.value, Mapped) and top.key is None:
            self._key(top, "" if value is None else value, line)
            return
        if anchor:
            self._anchors[anchor] = (value, 1)
        self._place(value, line, 1)

    def _key(self, top: _Open, key: str, line: int) -> None:
        first = top.value.lines.get(key) if isinstance(top.value, Mapped) else None
        if first is not None:
            text = f"'{key}' is written a second time; the first is in line {first}"
            self.problems.append(Problem(self.file, line, text, "remove one of them"))
        top.key, top.key_line = key, line

    def _place(self, value: Any, line: int, weight: int, *, counted: int | None = None) -> None:
        self._values += weight if counted is None else counted  # an alias counts as all that it stands for
        if self._values > MOST_VALUES:
            self._stop(line, f"more than {MOST_VALUES} values, aliases counted", "split the file, write less by alias")
            return
        if not self._stack:
            self._root = value
            return
        top = self._stack[-1]
        top.weight += weight
        if isinstance(top.value, Listed):
            top.value.append(value)
            top.value.lines.append(line)
            return
        key = top.key or ""
        if key not in top.value:
            top.value[key] = value
            top.value.lines[key] = top.key_line
        top.key = None

    def _stop(self, line: int, text: str, instead: str) -> None:
        self.problems.append(Problem(self.file, line, text, instead))
        self.ended = True
