"""Signs with a person's key, and answers for releases by the allowed_signers file and the serials accepted so far."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fleet.errors import Misuse, Untrusted
from fleet.model.ids import ReleaseId
from fleet.spec.signature import RELEASE, verify

_SECONDS = 120.0
"""Long enough for a person to type a passphrase or to touch a token."""


def sign(data: bytes, key: Path, namespace: str) -> bytes:
    """The armoured signature over `data`. `key` is a private key, or a public one whose private half an agent holds."""
    if not key.is_file():
        raise Misuse(f"{key}: it can't sign", "there is no such key", "name a private SSH key")
    try:
        done = subprocess.run(
            ["ssh-keygen", "-Y", "sign", "-f", str(key), "-n", namespace],
            input=data,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except FileNotFoundError as error:
        raise Misuse("ssh-keygen", "it is not installed", "install openssh-client 8.1 or later") from error
    except subprocess.TimeoutExpired as error:
        raise Misuse(f"{key}: it can't sign", "ssh-keygen gave no answer", "unlock the key with ssh-add") from error
    if done.returncode or not done.stdout.startswith(b"-----BEGIN SSH SIGNATURE-----"):
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise Misuse(f"{key}: it can't sign", said[-1] if said else "ssh-keygen failed", "unlock it with ssh-add")
    return done.stdout


def sign_file(path: Path, key: Path, namespace: str = RELEASE) -> Path:
    """Writes `<path>.sig` beside a file, and gives its place."""
    return put(path.with_name(path.name + ".sig"), sign(path.read_bytes(), key, namespace))


def put(path: Path, data: bytes) -> Path:
    """Puts a file in place whole and durably, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
    return path


@dataclass(frozen=True, slots=True)
class SshTrust:
    """The port Trust. `remembered` is the ledger's memory of serials (`SqlLedger.accept`)."""

    signers: Path
    remembered: Callable[[ReleaseId, int], bool]

    def release(self, manifest: bytes, signature: bytes) -> tuple[str, ...]:
        """Who signed a manifest; raises Untrusted."""
        return verify(manifest, signature, self._allowed(), RELEASE)

    def accepted(self, release: ReleaseId, serial: int) -> bool:
        """Whether a release's serial is not behind what was accepted before. Ask in rising order of serials."""
        return self.remembered(release, serial)

    def _allowed(self) -> bytes:
        try:
            return self.signers.read_bytes()
        except OSError as error:
            raise Untrusted(
                f"{self.signers}", error.strerror or "it can't be read", "put the allowed signers there"
            ) from error
