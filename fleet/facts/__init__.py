"""Facts: tables of what is publicly known (fault codes, scheduler states, compatibility, sanitising methods).

Here live data files, each row with its source, and this small loader. Judgement does not live here: readers, health and
feasibility read the same rows, so that a new fault code, board or state is a row and never an `if`.
"""

import csv
import io
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

Row = Mapping[str, str]


@cache
def text(name: str) -> str:
    """The file `name` of this package as it is."""
    return files(__name__).joinpath(name).read_text(encoding="utf-8")


@cache
def table(name: str) -> tuple[Row, ...]:
    """The rows of the table `name` (without `.csv`), every value a string."""
    return tuple(csv.DictReader(io.StringIO(text(f"{name}.csv"))))


@cache
def document(name: str) -> Any:
    """The YAML document `name` (without `.yaml`). Callers must not change it."""
    return yaml.load(text(f"{name}.yaml"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # ten times as fast


@cache
def by_key(name: str, column: str) -> Mapping[str, Row]:
    """The rows of a table by one column; the first row of a key wins."""
    found: dict[str, Row] = {}
    for row in table(name):
        found.setdefault(row[column], row)
    return found
