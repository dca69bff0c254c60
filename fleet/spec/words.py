"""The kinds of text that every inventory file is made of: names, addresses, digests."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, StringConstraints

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
