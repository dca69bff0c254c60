"""Edits of declared files as text: one value is changed, and everything else, comments included, stays as it is."""

from __future__ import annotations

import difflib
import os
import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import yaml

from fleet.errors import Misuse


@dataclass(frozen=True, slots=True)
class Edit:
    """A file with its text before and after."""

    path: Path
    before: str
    after: str

    def diff(self, root: Path) -> str:
        """The edit as a unified diff."""
        name = os.path.relpath(self.path, root)
        lines = difflib.unified_diff(self.before.splitlines(True), self.after.splitlines(True), name, name, n=1)
        return "".join(each if each.endswith("\n") else each + "\n" for each in lines)

    def write(self) -> None:
        """Puts the edit in place, all of it or nothing."""
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(self.after)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, self.path.stat().st_mode & 0o777)
        os.replace(name, self.path)


def set_values(path: Path, section: str, names: Iterable[str], key: str, value: str) -> Edit:
    """The edit that makes `section: {name: {key: value}}` true for each name."""
    before = after = path.read_text(encoding="utf-8")
    for name in names:
        after = set_value(path, section, name, key, value, text=after).after
    return Edit(path, before, after)


def set_value(path: Path, section: str, name: str, key: str, value: str, *, text: str | None = None) -> Edit:
    """The edit that makes `section: {name: {key: value}}` true in a YAML file; Misuse where the place isn't found."""
    before = path.read_text(encoding="utf-8") if text is None else text
    found = _mapping(yaml.compose(before, yaml.CSafeLoader), section, name)
    if found is None:
        raise Misuse(f"{path}", f"there is no {name} under {section}", "edit it by hand")
    for key_node, value_node in found.value:
        if key_node.value == key:
            start, end = value_node.start_mark.index, value_node.end_mark.index
            return _checked(path, before, before[:start] + _scalar(value) + before[end:], (section, name, key), value)
    return _checked(path, before, _inserted(before, found, key, value), (section, name, key), value)


def _mapping(root: yaml.Node | None, *names: str) -> yaml.MappingNode | None:
    found: yaml.Node | None = root
    for name in names:
        if not isinstance(found, yaml.MappingNode):
            return None
        found = next((value for key, value in found.value if key.value == name), None)
    return found if isinstance(found, yaml.MappingNode) else None


def _inserted(before: str, mapping: yaml.MappingNode, key: str, value: str) -> str:
    entry = f"{key}: {_scalar(value)}"
    if mapping.flow_style:
        end = mapping.end_mark.index - 1
        comma = ", " if mapping.value else ""
        return before[:end].rstrip() + comma + entry + before[end:]
    last = mapping.value[-1][1].end_mark.index
    stop = before.find("\n", last - 1)
    stop = len(before) if stop < 0 else stop
    return before[:stop] + "\n" + " " * int(mapping.value[0][0].start_mark.column) + entry + before[stop:]


def _scalar(value: str) -> str:
    return value if re.fullmatch(r"[A-Za-z_][\w./+-]*", value) else f'"{value}"'


def _checked(path: Path, before: str, after: str, place: tuple[str, str, str], value: str) -> Edit:
    found = yaml.load(after, yaml.CSafeLoader)
    if found[place[0]][place[1]][place[2]] != value:
        raise Misuse(f"{path}", "the edit can't be made by machine", "edit it by hand")
    return Edit(path, before, after)
