"""What each problem code means: the rows of codes.yaml, which are its documentation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml


@dataclass(frozen=True, slots=True)
class CodeRow:
    """One code: its usual level, what it says, what mends it, and where the rule is from."""

    code: str
    level: str
    says: str
    mends: str
    source: str


@cache
def rows() -> Mapping[str, CodeRow]:
    """Every code, in the order of the file."""
    text = files(__package__).joinpath("codes.yaml").read_text(encoding="utf-8")
    found = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return {code: CodeRow(code, **row) for code, row in found.items()}
