"""A release: the pinned bundle of software and firmware, with its whole closure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from fleet.model.ids import ReleaseId, Verb


@dataclass(frozen=True, slots=True)
class Package:
    """One artifact of the closure; `sha256` is of the very file that the package tool is handed."""

    name: str
    version: str
    sha256: str
    part: str


@dataclass(frozen=True, slots=True)
class Release:
    """A pinned bundle.

    `versions` is what a node shows once it runs the release, by part (`driver`, `rocm`, `cuda`, ...).
    `needs` are the verbs that follow converge, in order. `digest` is the SHA-256 of the signed manifest.
    """

    id: ReleaseId
    versions: Mapping[str, str]
    needs: tuple[Verb, ...] = ()
    packages: tuple[Package, ...] = ()
    vendor: str = ""
    serial: int = 0
    expires: date | None = None
    irreversible: tuple[str, ...] = ()
    forbids: tuple[Verb, ...] = ()
    built_for: tuple[str, ...] = ()
    digest: str = ""
    untrusted: str = ""  # why the manifest is not to be believed; empty when its signature holds
    manifest: bytes = field(default=b"", repr=False)
    place: str = ""
    unit: str = ""  # the kind of domain that is worked on as a whole
