"""What pydantic found, as Problems in plain words with the line and what to write instead."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from fleet.errors import Problem
from fleet.spec.text import Mapped, line_of

Model = TypeVar("Model", bound=BaseModel)

_MOST = 100
"""How many problems of one file are told; who has more mends these first."""


def shaped(model: type[Model], found: Mapped, file: str) -> tuple[Model | None, tuple[Problem, ...]]:
    """The file as its model, or everything that is wrong with its shape."""
    try:
        return model.model_validate(found), ()
    except ValidationError as error:
        errors = error.errors(include_url=False)
    problems = dict.fromkeys(_problem(model, found, file, dict(one)) for one in errors)
    return None, tuple(problems)[:_MOST]


def did_you_mean(word: str, known: Iterator[str] | tuple[str, ...] | list[str]) -> str:
    """A hint for a word that is not known."""
    choices = sorted(known)
    close = get_close_matches(word, choices, n=1, cutoff=0.6)
    if close:
        return f"did you mean '{close[0]}'?"
    if not choices:
        return ""
    return f"one of {', '.join(choices[:12])}" + (", ..." if len(choices) > 12 else "")


def _problem(model: type[BaseModel], found: Mapped, file: str, error: Mapping[str, Any]) -> Problem:
    place = tuple(part for part in error["loc"] if part != "[key]")
    known, place = _walk(model, found, place)
    line, kind, context = line_of(found, place), error["type"], error.get("ctx", {})
    name = _dotted(place)
    above = _dotted(place[:-1])
    match kind:
        case "extra_forbidden":
            word = str(place[-1])
            return Problem(file, line, f"unknown key '{word}' in {above}", did_you_mean(word, known))
        case "missing":
            return Problem(file, line_of(found, place[:-1]), f"{above} has no '{place[-1]}'", f"add `{place[-1]}: ...`")
        case "enum" | "literal_error":
            choices = [word.strip(" '") for word in str(context["expected"]).replace(" or ", ",").split(",")]
            written = error["input"]
            return Problem(file, line, f"{name}: '{written}' is not known", did_you_mean(str(written), choices))
        case "value_error":
            text, _, instead = str(context["error"]).partition("; ")
            return Problem(file, line, f"{name}: {text}", instead)
        case "string_pattern_mismatch":
            return Problem(file, line, f"{name}: '{_short(error['input'])}' can't stand here", _example(context))
        case "model_type" | "dict_type" | "model_attributes_type":
            return Problem(file, line, f"{name} must be a mapping", "write `key: value` lines beneath it")
        case "list_type":
            return Problem(file, line, f"{name} must be a list", "write `[one, two]`")
        case _:
            message = _NUMBERS.get(kind) or str(error["msg"]).removeprefix("Input should be ")
            written = "nothing" if error["input"] is None else f"'{_short(error['input'])}'"
            return Problem(file, line, f"{name}: {written} can't stand here", f"write {message}")


def _dotted(place: tuple[object, ...]) -> str:
    return ".".join(str(part) for part in place if part != "") or "the file"


_NUMBERS = {
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "bool_parsing": "true or false",
    "date_from_datetime_parsing": "a date as 2036-01-31",
    "datetime_from_date_parsing": "a moment as 2026-01-31T22:00Z",
    "timezone_aware": "a moment with its zone, as 2026-01-31T22:00Z",
    "string_type": "a word",
}

_PATTERNS = (
    ("^https://", "write `https://` and the BMC's address, with no user in it"),
    ("^(file:", "write `file:PATH` or `env:NAME`, never the secret itself"),
    ("^[0-9a-f]{64}$", "write the SHA-256 of the file, 64 digits in lower case"),
    ("^[A-Za-z0-9][A-Za-z0-9._,\\[\\]-]{0,511}$", "a name is letters, digits, dots, dashes, at most 63 of them"),
    ("^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$", "a name is letters, digits, dots, dashes, at most 63 of them"),
    ("^[A-Za-z0-9][A-Za-z0-9.:-]{0,252}$", "write an address or a host name"),
)


def _example(context: Mapping[str, Any]) -> str:
    pattern = str(context.get("pattern", ""))
    return next((text for start, text in _PATTERNS if pattern.startswith(start)), f"it must match {pattern}")


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _walk(model: type[BaseModel], found: object, place: tuple[Any, ...]) -> tuple[list[str], tuple[Any, ...]]:
    """The keys known where an error stands, and its place without the names that pydantic adds for union members."""
    shape: Any = model
    clean: list[Any] = []
    known: list[str] = []
    for part in place:
        shape = _bare(shape)
        if isinstance(shape, type) and issubclass(shape, BaseModel):
            fields = {field.alias or name: field.annotation for name, field in shape.model_fields.items()}
            known = list(fields)
            shape = fields.get(str(part))
        elif get_origin(shape) is dict:
            known, shape = [], get_args(shape)[1]
        elif get_origin(shape) is list:
            known, shape = [], get_args(shape)[0]
        elif not _stands(found, part):
            continue  # the name of a member of a union
        clean.append(part)
        found = found[part] if _stands(found, part) else None  # type: ignore[index]  # _stands has looked
    return known, tuple(clean)


def _stands(found: object, part: object) -> bool:
    if isinstance(found, dict):
        return part in found
    return isinstance(found, list) and isinstance(part, int) and part < len(found)


def _bare(shape: Any) -> Any:
    """A type without Annotated and without `| None`; a union of several stays one."""
    while get_origin(shape) is Annotated:
        shape = get_args(shape)[0]
    if get_origin(shape) in (Union, types.UnionType):
        members = [member for member in get_args(shape) if member is not type(None)]
        return _bare(members[0]) if len(members) == 1 else None
    return shape
