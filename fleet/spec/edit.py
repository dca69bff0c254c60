"""Edits of declared files as text: one value is changed, and everything else, comments included, stays as it is."""

from __future__ import annotations

import difflib
import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml
from ClusterShell.NodeSet import NodeSet

from fleet.errors import Misuse
from fleet.spec.sets import expand


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


def set_on_nodes(inventory: Path, names: Iterable[str], key: str, value: str) -> tuple[Edit, ...]:
    """The edits that make `key: value` true of nodes: where they stand one by one, else under `overrides`."""
    files = [
        path for path in (inventory / "nodes.yaml", *sorted((inventory / "nodes").glob("*.yaml"))) if path.is_file()
    ]
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    before = dict(texts)
    in_blocks: dict[Path, list[str]] = {}
    for name in names:
        for section in ("nodes", "overrides"):
            found = next((path for path in files if _mapping(_root(texts[path]), section, name) is not None), None)
            if found is not None:
                texts[found] = set_value(found, section, name, key, value, text=texts[found]).after
                break
        else:
            in_blocks.setdefault(_home(texts, name), []).append(name)
    for path, apart in in_blocks.items():
        texts[path] = _overridden(path, texts[path], str(NodeSet.fromlist(apart)), key, value)
    return tuple(Edit(path, before[path], text) for path, text in texts.items() if text != before[path])


def _root(text: str) -> yaml.Node | None:
    return yaml.compose(text, yaml.CSafeLoader)


def _home(texts: Mapping[Path, str], name: str) -> Path:
    """The file in whose block a node stands."""
    for path, text in texts.items():
        blocks = _mapping(_root(text), "nodes")
        if blocks is not None and any(name in expand(block.value) for block, _ in blocks.value):
            return path
    raise Misuse(f"node {name}", "no file of the inventory declares it", "edit it by hand")


def _overridden(path: Path, before: str, names: str, key: str, value: str) -> str:
    """A file with one more entry under `overrides`."""
    entry = f'  "{names}": {{{key}: {_scalar(value)}}}\n'
    section = _mapping(_root(before), "overrides")
    if section is None:
        after = before.rstrip("\n") + "\noverrides:\n" + entry
    elif section.flow_style:
        raise Misuse(f"{path}", "`overrides` is written in one line", "write its entries in lines of their own")
    else:
        first = before.rfind("\n", 0, section.value[0][0].start_mark.index) + 1
        after = before[:first] + " " * (int(section.value[0][0].start_mark.column) - 2) + entry + before[first:]
    return _checked(path, before, after, ("overrides", names, key), value).after


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
