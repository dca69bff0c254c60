"""The lab's apt repository is one that apt's own verifier accepts, and nobody's agent stays behind."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from fleet.lab.packages import SUITE, make_repository

pytestmark = pytest.mark.skipif(
    shutil.which("gpgv") is None or shutil.which("dpkg-deb") is None, reason="signs and builds as Debian does"
)


def test_the_repository_is_signed_and_its_index_names_every_file_by_digest(tmp_path: Path) -> None:
    repo, keyring = tmp_path / "repo", tmp_path / "lab.gpg"
    make_repository(repo, tmp_path / "gnupg", keyring)
    signed = repo / "dists" / SUITE / "InRelease"
    assert subprocess.run(["gpgv", "--keyring", keyring, signed], capture_output=True, check=False).returncode == 0
    index = repo / "dists" / SUITE / "main" / "binary-amd64" / "Packages"
    assert hashlib.sha256(index.read_bytes()).hexdigest() in signed.read_text()
    stanzas = [dict(line.split(": ", 1) for line in s.strip().splitlines()) for s in index.read_text().split("\n\n")]
    assert len(stanzas) == len(list((repo / "pool").iterdir()))
    for stanza in stanzas:
        content = (repo / stanza["Filename"]).read_bytes()
        assert (stanza["SHA256"], int(stanza["Size"])) == (hashlib.sha256(content).hexdigest(), len(content))


def test_the_agent_that_signing_started_is_ended(tmp_path: Path) -> None:
    home = tmp_path / "gnupg"
    make_repository(tmp_path / "repo", home, tmp_path / "lab.gpg")
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert str(home).encode() not in entry.read_bytes()
        except OSError:
            continue
