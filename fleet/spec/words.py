"""The kinds of text that every inventory file is made of: names, addresses, digests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler, StringConstraints
from pydantic_core import CoreSchema, core_schema

STRICT = ConfigDict(extra="forbid", frozen=True)

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]
"""What may name a thing: it becomes a file name, a host name and an argument of commands."""

Host = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9.:-]{0,252}$")]
Https = Annotated[str, StringConstraints(pattern=r"^https://[A-Za-z0-9\[][A-Za-z0-9.:\[\]-]*(/[A-Za-z0-9._/-]*)?$")]
Reference = Annotated[str, StringConstraints(pattern=r"^(file:[^\x00\n]+|env:[A-Za-z_][A-Za-z0-9_{}]*)$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Version = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+:~_-]{0,127}$")]
Vendor = Literal["amd", "nvidia"]


@dataclass(frozen=True, eq=False)  # annotations are hashed
class Short:
    """What may also be written for a value, how it becomes the value, and how the JSON Schema for editors says so."""

    meant: Callable[[Any], Any]
    also: Mapping[str, Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The value's own checks, behind the short form."""
        return core_schema.no_info_before_validator_function(self.meant, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Either the value's own shape, or the short form."""
        return {"anyOf": [handler(schema), dict(self.also)]}


def _filled(value: object) -> object:
    return {} if value is None else value


EMPTY = Short(_filled, {"type": "null"})
"""`name:` with nothing behind it is an entry that says nothing."""
