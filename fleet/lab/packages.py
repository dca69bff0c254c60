"""Building the lab's Debian packages and its signed apt repository; byte for byte the same on every machine."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fleet.lab.commands import attempt, run
from fleet.lab.releases import LabPackage, packages

BUILD_TIME = 1767225600  # 2026-01-01: one fixed time, so that the digests are fixed too
SUITE = "lab"
KEY_OWNER = "fleet lab repository <lab@fleet.invalid>"


@dataclass(frozen=True, slots=True)
class BuiltPackage:
    """A package and the file that it became."""

    package: LabPackage
    path: Path
    sha256: str
    size: int


def control(package: LabPackage) -> str:
    """The control file of a package."""
    depends = f"Depends: {package.depends}\n" if package.depends else ""
    return (
        f"Package: {package.name}\nVersion: {package.version}\nArchitecture: amd64\n"
        f"Maintainer: {KEY_OWNER}\nSection: misc\nPriority: optional\n{depends}"
        f"Description: the lab's stand-in for {package.name}\n"
    )


def build(package: LabPackage, into: Path) -> BuiltPackage:
    """Build one package into a directory, unless the file is there already."""
    target = into / package.file_name
    if not target.exists():
        with tempfile.TemporaryDirectory(prefix="fleet-lab-deb-") as scratch:
            tree = Path(scratch) / "tree"
            for name, content in (("DEBIAN/control", control(package)), *package.files):
                path = tree / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content)
            _make_plain(tree)
            part = Path(scratch) / target.name
            env = {"SOURCE_DATE_EPOCH": str(BUILD_TIME), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
            run(["dpkg-deb", "-Znone", "--root-owner-group", "--build", tree, part], env=env)
            into.mkdir(parents=True, exist_ok=True)
            shutil.move(part, target)
    content_of = target.read_bytes()
    return BuiltPackage(package, target, hashlib.sha256(content_of).hexdigest(), len(content_of))


def _make_plain(tree: Path) -> None:
    """Modes and times that don't depend on who builds, where and when."""
    for path in (*tree.rglob("*"), tree):
        path.chmod(0o755 if path.is_dir() else 0o644)
    for path in (*tree.rglob("*"), tree):
        os.utime(path, (BUILD_TIME, BUILD_TIME))


def build_all(into: Path) -> tuple[BuiltPackage, ...]:
    """Every package of every release."""
    return tuple(build(package, into) for package in packages())


def digests() -> Mapping[tuple[str, str], str]:
    """SHA-256 by name and version, from a build thrown away afterwards."""
    with tempfile.TemporaryDirectory(prefix="fleet-lab-pool-") as scratch:
        return {(b.package.name, b.package.version): b.sha256 for b in build_all(Path(scratch))}


def make_repository(repo: Path, key_home: Path, keyring: Path) -> None:
    """A repository with all packages, signed by a key made now; its public half is written to `keyring`."""
    built = build_all(repo / "pool")
    index = "\n".join(_index_entry(one) for one in built)
    directory = repo / "dists" / SUITE
    (directory / "main" / "binary-amd64").mkdir(parents=True, exist_ok=True)
    (directory / "main" / "binary-amd64" / "Packages").write_text(index)
    digest = hashlib.sha256(index.encode()).hexdigest()
    (directory / "Release").write_text(
        f"Origin: fleet lab\nLabel: fleet lab\nSuite: {SUITE}\nCodename: {SUITE}\n"
        f"Date: Thu, 01 Jan 2026 00:00:00 UTC\nArchitectures: amd64\nComponents: main\n"
        f"SHA256:\n {digest} {len(index.encode())} main/binary-amd64/Packages\n"
    )
    _sign(directory, key_home, keyring)


def _index_entry(built: BuiltPackage) -> str:
    return f"{control(built.package)}Filename: pool/{built.path.name}\nSize: {built.size}\nSHA256: {built.sha256}\n"


def _sign(directory: Path, key_home: Path, keyring: Path) -> None:
    """Clear-signed InRelease; the agent that gpg starts is ended again."""
    key_home.mkdir(mode=0o700, parents=True, exist_ok=True)
    gpg: list[str | Path] = ["gpg", "--homedir", key_home, "--batch", "--yes", "--quiet"]
    try:
        if not keyring.exists():
            run([*gpg, "--passphrase", "", "--quick-generate-key", KEY_OWNER, "ed25519", "sign", "never"])
            run([*gpg, "--export", "--output", keyring])
        run(
            [*gpg, "--clearsign", "--digest-algo", "SHA256", "--output", directory / "InRelease", directory / "Release"]
        )
    finally:
        attempt(["gpgconf", "--homedir", str(key_home), "--kill", "all"])
