"""The case files as the tests of readers use them: what each case gives, and what of a reading contradicts it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from fleet.readers import registry
from fleet.readers.reading import Beside

CASES = Path(__file__).resolve().parent.parent / "cases"
AREAS = ("signals", "slurm", "redfish", "fabric", "hosts")
# lists of findings: each expected one must be there, and no other
EXACT = ("findings", "problems", "change_requests")
# lists in which a reader may say more
OPEN = ("facts", "refused", "not_findings")
# what no reader can know: limits are for the test, the wording of these is free
FREE_TEXT = ("what", "why", "note")
SKIPPED = ("limits",)


@dataclass(frozen=True, slots=True)
class Case:
    """One case; `name` is its id or file."""

    area: str
    name: str
    body: Mapping[str, Any]

    @property
    def content(self) -> bytes:
        """The input: the file, or what `generate` describes."""
        return self.read(self.body["file"]) if self.body["file"] else generated(self.body["generate"])

    def read(self, name: str) -> bytes:
        """A file of the case's folder."""
        return (CASES / self.area / name).read_bytes()

    @property
    def context(self) -> dict[str, Any]:
        """What the reader is told, the name of the file included."""
        return {"file": self.body["file"] or "generated", **(self.body.get("context") or {})}

    @property
    def also(self) -> tuple[Beside, ...]:
        """The further inputs that the case or its context names."""
        context = self.context
        names = [*self.body.get("also", ()), *context.get("with_files", ()), context.get("previous_file")]
        return tuple(Beside(name, self.read(name)) for name in names if name)

    def reading(self) -> dict[str, Any]:
        """What the reader of the case's kind says, as JSON carries it."""
        found = registry.read(self.body["kind"], self.content, self.context, self.also).as_json()
        return json.loads(json.dumps(found))  # type: ignore[no-any-return]  # as_json gives an object


def generated(how: Mapping[str, Any]) -> bytes:
    """The log that a case describes instead of holding it."""
    instead = {row["at"]: row["text"] for row in how["insert"]}
    lines = (
        instead.get(at, how["template"]).format(
            seq=how["seq_start"] + at * how["seq_step"], usec=how["usec_start"] + at * how["usec_step"]
        )
        for at in range(how["count"])
    )
    return "".join(f"{line}\n" for line in lines).encode()


def all_cases() -> Iterator[Case]:
    """Every case of every folder of readers."""
    for area in AREAS:
        for body in yaml.safe_load((CASES / area / "cases.yaml").read_text(encoding="utf-8")):
            yield Case(area, body.get("id") or body["file"], body)


def contradictions(case: Case, found: Mapping[str, Any]) -> list[str]:
    """Where a reading contradicts what the case expects; empty if nowhere."""
    expected = json.loads(json.dumps(case.body["expect"], default=str))
    out: list[str] = []
    for key, value in expected.items():
        if key == "gaps":
            out += _gaps(value, found["gaps"], words_are_exact=case.area == "signals")
        elif key not in SKIPPED:
            out += _compare(value, found.get(key, "nothing"), key)
    return out


def _compare(expected: Any, got: Any, path: str) -> list[str]:
    name = path.rpartition(".")[2]
    if isinstance(expected, Mapping):
        if not isinstance(got, Mapping):
            return [f"{path}: {got!r} for {expected!r}"]
        return [text for key, value in expected.items() for text in _compare(value, got.get(key), f"{path}.{key}")]
    if isinstance(expected, list) and name in (*EXACT, *OPEN):
        return _pick(expected, got if isinstance(got, list) else [], path, more_is_fine=name in OPEN)
    if isinstance(expected, list):
        if not isinstance(got, list) or len(got) != len(expected):
            return [f"{path}: {got!r} for {expected!r}"]
        pairs = enumerate(zip(expected, got, strict=True))
        return [text for at, (one, other) in pairs for text in _compare(one, other, f"{path}[{at}]")]
    if isinstance(expected, str) and name in FREE_TEXT:
        return [] if isinstance(got, str) and got else [f"{path}: no text"]
    same = expected == got and isinstance(expected, bool) == isinstance(got, bool)
    return [] if same else [f"{path}: {got!r} for {expected!r}"]


def _pick(expected: list[Any], got: list[Any], path: str, *, more_is_fine: bool) -> list[str]:
    left, missing = list(got), []
    for one in expected:
        hit = next((other for other in left if not _compare(one, other, path + "[]")), None)
        if hit is None:
            missing.append(f"{path}: missing {one!r}")
        else:
            left.remove(hit)
    return missing + ([] if more_is_fine else [f"{path}: one too many, {other!r}" for other in left])


def _gaps(expected: list[Any], got: list[Any], *, words_are_exact: bool) -> list[str]:
    """By subject and number. In `signals` what and reason are words, and more gaps are fine; else wording is free."""
    if words_are_exact:
        left, missing = list(got), []
        for gap in expected:
            hit = next((other for other in left if all(other.get(key) == value for key, value in gap.items())), None)
            missing += [f"gaps: missing {gap!r}"] if hit is None else []
            left = [other for other in left if other is not hit]
        return missing
    if len(expected) != len(got):
        return [f"gaps: {len(got)} for {len(expected)}: {got!r}"]
    left = list(got)
    out = []
    for gap in expected:
        hit = max(left, key=lambda other: len(_words(gap) & _words(other)))
        if not _words(gap) & _words(hit):
            out.append(f"gaps: nothing about {gap['what']!r} in {left!r}")
        left.remove(hit)
    return out


def _words(gap: Mapping[str, Any]) -> set[str]:
    return set(re.findall(r"[a-z0-9_.:-]{2,}", str(gap["what"]).lower())) - {"of", "the", "all", "and", "in"}
