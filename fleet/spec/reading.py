"""The files of one site as they are read: `X.yaml`, or every `*.yaml` of `X/`, or both, as one; problems add up.

Includes are by directory only, so there is nothing that could include itself. Only plain files inside the repository
are read: a link that leads out of it, a pipe or a file of 100 MB is a problem and not a wait.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from fleet.errors import Problem
from fleet.spec.find import project_root
from fleet.spec.problems import did_you_mean, shaped
from fleet.spec.text import MOST_BYTES, Mapped, line_of, parse

Model = TypeVar("Model", bound=BaseModel)
Place = tuple[object, ...]

SINGLE = ("site",)
"""What is said once, in one file."""


@dataclass(slots=True)
class SiteReading:
    """What was read so far of a site's directory, and the problems found."""

    directory: Path
    known: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    texts: dict[str, list[tuple[Path, Mapped]]] = field(default_factory=dict)

    def part(self, name: str, model: type[Model], *, optional: bool = False) -> Model | None:
        """`name.yaml` and what lies in `name/` as one model; None where it can't be used."""
        paths = self._files(name)
        if not paths:
            if not optional:
                path = self.directory / f"{name}.yaml"
                self.problems.append(
                    Problem(str(path), 0, "can't be read: No such file or directory", f"write {path.name}")
                )
                return None
            return model.model_validate({})
        found = [text for path in paths if (text := self._text(path)) is not None]
        self.texts[name] = found
        if len(found) < len(paths):
            return None
        return self._shaped(self._joined(found), found, model)

    def say(self, name: str, place: Place, text: str, instead: str = "") -> None:
        """Adds a problem at a path of keys in a part."""
        path, line = self._where(name, place)
        self.problems.append(Problem(str(path), line, text, instead))

    def place(self, name: str, place: Place) -> str:
        """`file:line` of a path of keys in a part."""
        path, line = self._where(name, place)
        return f"{path}:{line}"

    def known_in(self, name: str, place: Place, kind: str, word: str | None, table: Iterable[str]) -> bool:
        """Whether a name that is used is one that is declared; a problem with a hint where it isn't."""
        names = table if isinstance(table, Mapping | set | frozenset) else frozenset(table)
        if word is None or word in names:
            return True
        owner = place[-2] if len(place) > 1 else place[-1]
        self.say(name, place, f"{owner}: there is no {kind} '{word}'", did_you_mean(word, list(names)))
        return False

    def strangers(self) -> None:
        """Names YAML files that nobody reads: a mistyped name would else be passed over in silence."""
        files = [f"{name}.yaml" for name in self.known]
        for path in sorted((*self.directory.glob("*.yaml"), *self.directory.glob("*.yml"))):
            if path.name not in files:
                self.problems.append(Problem(str(path), 0, "this file is not read", did_you_mean(path.name, files)))
        if not self.directory.is_dir():
            return
        for path in sorted(each for each in self.directory.iterdir() if each.is_dir()):
            if path.name not in self.known and any(path.glob("*.y*ml")) and path.name != "releases":
                text = "the files of this directory are not read"
                self.problems.append(Problem(str(path), 0, text, did_you_mean(path.name, self.known)))

    def bytes_of(self, path: Path) -> bytes | None:
        """What a file of the repository holds; None, with the problem told, where it can't be read."""
        try:
            wrong = self._unreadable(path)
            if wrong is None:
                return path.read_bytes()
        except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle, on Python before 3.13
            why = error.strerror if isinstance(error, OSError) and error.strerror else "its links go in a circle"
            wrong = (f"can't be read: {why}", f"write {path.name}")
        self.problems.append(Problem(str(path), 0, *wrong))
        return None

    def _unreadable(self, path: Path) -> tuple[str, str] | None:
        """Why a file is not for reading, and what to do instead."""
        real = path.resolve(strict=True)
        inside = (self.directory.resolve(), project_root(self.directory).resolve())
        if path.is_symlink() and not any(real.is_relative_to(root) for root in inside):
            return f"this link leads out of the repository, to {real}", "copy the file"
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            return "this is no file", "put a file there"
        if about.st_size > MOST_BYTES:
            text = f"{about.st_size >> 20} MiB are more than the {MOST_BYTES >> 20} MiB that are read"
            return text, f"split it: every *.yaml in {path.stem}/ is read as one"
        return None

    def _files(self, name: str) -> list[Path]:
        single = self.directory / f"{name}.yaml"
        found = [single] if single.exists() or single.is_symlink() else []
        if name not in SINGLE and (self.directory / name).is_dir():
            found += sorted((self.directory / name).glob("*.yaml"))
        return found

    def _text(self, path: Path) -> tuple[Path, Mapped] | None:
        raw = self.bytes_of(path)
        if raw is None:
            return None
        parsed, wrong = parse(raw, str(path))
        self.problems.extend(wrong)
        return (path, parsed) if parsed is not None else None

    def _joined(self, found: list[tuple[Path, Mapped]]) -> Mapped:
        """All files of a part as one mapping; a name that two of them give is a problem."""
        if len(found) == 1:
            return found[0][1]
        whole = Mapped(1)
        seen: dict[Place, tuple[Path, int]] = {}
        for path, text in found:
            for place, value in _entries(text):
                line = line_of(text, place)
                if place in seen:
                    first = f"{seen[place][0]}:{seen[place][1]}"
                    told = f"'{'.'.join(map(str, place))}' is written a second time; the first is in {first}"
                    self.problems.append(Problem(str(path), line, told, "remove one of them"))
                    continue
                seen[place] = (path, line)
                _put(whole, place, value, line)
        return whole

    def _shaped(self, joined: Mapped, found: list[tuple[Path, Mapped]], model: type[Model]) -> Model | None:
        if len(found) == 1:
            result, wrong = shaped(model, joined, str(found[0][0]))
            self.problems.extend(wrong)
            return result
        result, _ = shaped(model, joined, str(self.directory))
        if result is not None:
            return result
        before = len(self.problems)
        for path, text in found:  # each file by itself: what is wrong then has its file and its line
            self.problems.extend(_without_missing(shaped(model, text, str(path))[1]))
        if len(self.problems) == before:
            self.problems.extend(shaped(model, joined, str(found[0][0]))[1])
        return None

    def _where(self, name: str, place: Place) -> tuple[Path, int]:
        texts = self.texts.get(name, [])
        for path, text in texts:
            if len(texts) == 1 or _stands(text, place[:2]):
                return path, line_of(text, place)
        return self.directory / f"{name}.yaml", 1 if texts else 0


def _entries(text: Mapped) -> Iterator[tuple[Place, Any]]:
    """The parts of a file that may be joined with another's: entries of its sections, or whole values."""
    for section, value in text.items():
        if isinstance(value, Mapped):
            for name, entry in value.items():
                yield (section, name), entry
        else:
            yield (section,), value


def _put(whole: Mapped, place: Place, value: Any, line: int) -> None:
    at = whole
    for key in place[:-1]:
        if not isinstance(at.get(str(key)), Mapped):
            at[str(key)] = Mapped(line)
            at.lines[str(key)] = line
        at = at[str(key)]
    at[str(place[-1])] = value
    at.lines[str(place[-1])] = line


def _stands(text: Mapped, place: Place) -> bool:
    found: Any = text
    for key in place:
        if not isinstance(found, Mapped) or key not in found:
            return False
        found = found[str(key)]
    return True


def _without_missing(problems: Iterable[Problem]) -> Iterator[Problem]:
    """A section that is missing in one file of several stands in another."""
    return (each for each in problems if not each.text.startswith("the file has no "))
