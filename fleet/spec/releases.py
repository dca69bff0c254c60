"""Release manifests and whether to believe them. A manifest that can't be believed is loaded, and says why."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import date
from pathlib import Path

from fleet.errors import Problem
from fleet.model.ids import ReleaseId
from fleet.model.release import Package, Release
from fleet.spec.files import ManifestFile
from fleet.spec.problems import shaped
from fleet.spec.signature import RELEASE, checked, principals
from fleet.spec.text import line_of, parse

SIGNERS = "allowed_signers"


def releases(site: Path, today: date) -> tuple[Mapping[ReleaseId, Release], tuple[Problem, ...]]:
    """Every release of a site, judged at `today`, and what is wrong with the text of the manifests."""
    found: dict[ReleaseId, Release] = {}
    problems: list[Problem] = []
    signers = _signers(site)
    for path in sorted((site / "releases").glob("*.yaml")):
        release, wrong = _release(path, signers, today)
        problems.extend(wrong)
        if release is not None:
            found[release.id] = release
    return found, tuple(problems)


def doubt(release: Release, site: Path, today: date) -> str:
    """Why a release that was read before is not to be believed now: expired, altered since, its signature gone."""
    found, problems = _release(Path(release.place), _signers(site), today)
    if found is None:
        return f"its manifest can't be read any more: {problems[0] if problems else release.place}"
    if found.digest != release.digest:
        return "its manifest was altered since it was read"
    return found.untrusted


def may_sign(site: Path, namespace: str, today: date) -> tuple[str, ...]:
    """Whose key is allowed to sign for a namespace on a day."""
    signers = _signers(site)
    return principals(signers, namespace, today) if signers is not None else ()


def _signers(site: Path) -> bytes | None:
    for directory in (site, site.parent):
        path = directory / SIGNERS
        if path.is_file():
            return path.read_bytes()
    return None


def _release(path: Path, signers: bytes | None, today: date) -> tuple[Release | None, tuple[Problem, ...]]:
    manifest = path.read_bytes()
    parsed, wrong = parse(manifest, str(path))
    if parsed is None or wrong:
        return None, wrong
    written, wrong = shaped(ManifestFile, parsed, str(path))
    if written is None:
        return None, wrong
    if written.release != path.stem:
        text = f"the file of release {path.stem} names itself {written.release}"
        return None, (Problem(str(path), line_of(parsed, ("release",)), text, f"write `release: {path.stem}`"),)
    names = [package.name for package in written.packages]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        text = f"{', '.join(twice)} is in the closure twice"
        return None, (Problem(str(path), line_of(parsed, ("packages",)), text, "name each package once"),)
    return Release(
        id=ReleaseId(written.release),
        versions=written.versions,
        needs=tuple(written.needs),
        packages=tuple(Package(one.name, one.version, one.sha256, one.part) for one in written.packages),
        vendor=written.vendor,
        serial=written.serial,
        expires=written.expires,
        irreversible=tuple(written.irreversible),
        forbids=tuple(written.forbids),
        built_for=tuple(written.built_for),
        unit=written.unit,
        digest=hashlib.sha256(manifest).hexdigest(),
        untrusted=_doubt(path, manifest, written, signers, today),
        manifest=manifest,
        place=str(path),
    ), ()


def _doubt(path: Path, manifest: bytes, written: ManifestFile, signers: bytes | None, today: date) -> str:
    signature = path.with_name(path.name + ".sig")
    if not signature.is_file():
        return f"it is not signed: there is no {signature.name}"
    if signers is None:
        return f"nobody may sign: there is no {SIGNERS} beside the inventory"
    if written.expires < today:
        return f"it expired on {written.expires.isoformat()}"
    return checked(manifest, signature.read_bytes(), signers, RELEASE, today.isoformat())
