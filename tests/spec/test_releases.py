"""A release is believed only where the very text was signed, by somebody who may, and it has not expired."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from fleet.errors import Untrusted
from fleet.model.ids import ReleaseId
from fleet.spec import load, releases, signature
from fleet.spec.signature import APPROVAL, RELEASE
from tests.spec.sites import key, write

TODAY = date(2026, 3, 1)


def signed(tmp_path: Path, *, namespace: str = RELEASE, options: str = "") -> Path:
    """The small site, its release signed by alice."""
    site = write(tmp_path)
    alice = key(tmp_path, signers=site / "allowed_signers", options=options)
    manifest = site / "releases" / "amd-1.yaml"
    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", alice, "-n", namespace, manifest], check=True)
    return site


def doubt(site: Path, today: date = TODAY) -> str:
    return load(site, today=today).releases[ReleaseId("amd-1")].untrusted


def test_signed(tmp_path: Path) -> None:
    assert doubt(signed(tmp_path)) == ""


def test_signers_beside_all_sites(tmp_path: Path) -> None:
    site = signed(tmp_path)
    (site / "allowed_signers").rename(site.parent / "allowed_signers")
    assert doubt(site) == ""


def altered(site: Path) -> None:
    manifest = site / "releases" / "amd-1.yaml"
    manifest.write_text(manifest.read_text().replace("serial: 1", "serial: 2"))


def unsigned(site: Path) -> None:
    (site / "releases" / "amd-1.yaml.sig").unlink()


def no_signature(site: Path) -> None:
    (site / "releases" / "amd-1.yaml.sig").write_text("trust me\n")


def torn(site: Path) -> None:
    path = site / "releases" / "amd-1.yaml.sig"
    path.write_text(path.read_text()[:60])


def nobody_may(site: Path) -> None:
    (site / "allowed_signers").unlink()


def somebody_else(site: Path) -> None:
    (site / "allowed_signers").unlink()
    key(site.parent, "bob", signers=site / "allowed_signers")


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (altered, "altered after signing"),
        (unsigned, "not signed: there is no amd-1.yaml.sig"),
        (no_signature, "no SSH signature"),
        (torn, "not among the allowed signers"),
        (nobody_may, "there is no allowed_signers"),
        (somebody_else, "not among the allowed signers"),
    ],
)
def test_not_believed(tmp_path: Path, spoil: Callable[[Path], None], why: str) -> None:
    site = signed(tmp_path)
    spoil(site)
    assert why in doubt(site)


def test_made_for_another_purpose(tmp_path: Path) -> None:
    assert "another purpose" in doubt(signed(tmp_path, namespace=APPROVAL))


def test_a_key_for_other_purposes(tmp_path: Path) -> None:
    assert "may not sign this kind" in doubt(signed(tmp_path, options='namespaces="git"'))


def test_a_key_that_is_no_longer_valid(tmp_path: Path) -> None:
    assert doubt(signed(tmp_path, options='valid-before="20200101"')) != ""


def test_expired(tmp_path: Path) -> None:
    site = signed(tmp_path)
    assert doubt(site, date(2036, 1, 1)) == "", "the last day counts"
    assert doubt(site, date(2036, 1, 2)) == "it expired on 2036-01-01"


def test_without_ssh_keygen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Untrusted, match="not installed"):
        signature.verify(b"text", b"-----BEGIN SSH SIGNATURE-----\n", b"", RELEASE)


@pytest.mark.parametrize("change", [altered, unsigned, no_signature])
def test_a_release_that_was_believed_is_judged_again_at_the_last_moment(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    site = signed(tmp_path)
    read = load(site, today=TODAY).releases[ReleaseId("amd-1")]
    assert releases.doubt(read, site, TODAY) == ""
    change(site)
    assert releases.doubt(read, site, TODAY) != ""


def test_a_release_that_has_expired_since_it_was_read(tmp_path: Path) -> None:
    site = signed(tmp_path)
    read = load(site, today=TODAY).releases[ReleaseId("amd-1")]
    assert "expired" in releases.doubt(read, site, date(2199, 1, 1))
