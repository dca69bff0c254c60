"""Signatures made and checked by ssh-keygen; certificates that claim no more than was proven."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from fleet.adapters.ssh_signatures import SshTrust, certificates, sign, sign_file
from fleet.errors import Misuse, Untrusted
from fleet.model.ids import OrderId, PoolId, Purpose, ReleaseId, Verb
from fleet.model.order import Done, Failed, WorkOrder
from fleet.model.topology import DeclaredNode
from fleet.spec.signature import APPROVAL, CERTIFICATE, RELEASE, verify
from tests.adapters.ledgers import AT, N1, O1, later, opened, order, walked
from tests.spec.sites import key

NODE = DeclaredNode(N1, PoolId("train"), "S1", ())


@pytest.fixture
def signers(tmp_path: Path) -> Path:
    return tmp_path / "allowed_signers"


@pytest.fixture
def alice(tmp_path: Path, signers: Path) -> Path:
    return key(tmp_path, signers=signers)


class TestSigning:
    def test_there_and_back(self, alice: Path, signers: Path) -> None:
        assert verify(b"text", sign(b"text", alice, APPROVAL), signers.read_bytes(), APPROVAL) == ("alice",)

    def test_a_file(self, alice: Path, signers: Path, tmp_path: Path) -> None:
        manifest = tmp_path / "amd-1.yaml"
        manifest.write_text("release: amd-1\n")
        found = sign_file(manifest, alice)
        assert found == tmp_path / "amd-1.yaml.sig"
        trust = SshTrust(signers, lambda release, serial: (release, serial) == ("amd-1", 1))
        assert trust.release(manifest.read_bytes(), found.read_bytes()) == ("alice",)
        with pytest.raises(Untrusted, match="altered"):
            trust.release(b"release: amd-2\n", found.read_bytes())
        assert trust.accepted(ReleaseId("amd-1"), 1)

    def test_nobody_allowed(self, tmp_path: Path) -> None:
        with pytest.raises(Untrusted, match="allowed_signers"):
            SshTrust(tmp_path / "allowed_signers", lambda *_: True).release(b"", b"")

    def test_no_key(self, tmp_path: Path) -> None:
        with pytest.raises(Misuse, match="no such key"):
            sign(b"text", tmp_path / "nobody", RELEASE)

    def test_a_file_that_is_no_key(self, tmp_path: Path) -> None:
        (tmp_path / "key").write_text("hello\n")
        with pytest.raises(Misuse, match="can't sign"):
            sign(b"text", tmp_path / "key", RELEASE)

    def test_a_path_is_never_a_command(self, tmp_path: Path, signers: Path) -> None:
        made = key(tmp_path, "a;touch pwned $(id)", signers=None)
        assert sign(b"text", made, RELEASE).startswith(b"-----BEGIN")
        assert not (tmp_path / "pwned").exists()


DISK = {
    "disk": "/dev/sda",
    "bytes": 4096,
    "method": "overwrite, one pass of zeros",
    "grade": "clear",
    "verified": True,
    "verification": {"samples": 256, "bad": 0, "sha256": "ab"},
}
GOOD: Mapping[str, Any] = {
    "schema": 1,
    "node": "n1",
    "serial": "S1",
    "order": "o1",
    "disks": [DISK],
    "grade": "clear",
    "revoked": {"detail": "key, munge"},
    "powered_off": True,
    "times": {"wiped": "2026-03-01T12:00:00Z"},
    "trail": {"seq": 7, "hash": "ab"},
}


class TestCertificate:
    def test_written_and_verified_offline(self, alice: Path, signers: Path, tmp_path: Path) -> None:
        path = certificates.write(GOOD, alice, tmp_path / "certificates")
        found = certificates.verify_certificate(path, signers)
        assert (found.signer, found.certificate) == ("alice", GOOD)
        assert path.name == "n1-o1.json"

    def test_an_auditor_needs_no_fleet(self, alice: Path, signers: Path, tmp_path: Path) -> None:
        path = certificates.write(GOOD, alice, tmp_path)
        command = ["ssh-keygen", "-Y", "verify", "-f", signers, "-I", "alice", "-n", CERTIFICATE, "-s", f"{path}.sig"]
        with path.open("rb") as data:
            assert subprocess.run(command, stdin=data, capture_output=True).returncode == 0

    def test_written_again_after_a_crash(self, alice: Path, signers: Path, tmp_path: Path) -> None:
        certificates.write({**GOOD, "trail": {"seq": 1}}, alice, tmp_path)
        path = certificates.write(GOOD, alice, tmp_path)
        assert certificates.verify_certificate(path, signers).certificate == GOOD
        assert not [left for left in tmp_path.iterdir() if left.name.startswith(".n1")]

    @pytest.mark.parametrize("grade", ["purge", "destroy"])
    def test_altered(self, alice: Path, signers: Path, tmp_path: Path, grade: str) -> None:
        path = certificates.write(GOOD, alice, tmp_path)
        path.write_text(path.read_text().replace('"grade":"clear"', f'"grade":"{grade}"'))
        with pytest.raises(Untrusted, match="altered after signing"):
            certificates.verify_certificate(path, signers)

    def test_its_signature_is_gone(self, alice: Path, signers: Path, tmp_path: Path) -> None:
        path = certificates.write(GOOD, alice, tmp_path)
        path.with_name(path.name + ".sig").unlink()
        with pytest.raises(Untrusted, match="No such file"):
            certificates.verify_certificate(path, signers)

    def test_a_release_signature_is_none(self, alice: Path, signers: Path, tmp_path: Path) -> None:
        path = certificates.write(GOOD, alice, tmp_path)
        path.with_name(path.name + ".sig").write_bytes(sign(path.read_bytes(), alice, RELEASE))
        with pytest.raises(Untrusted, match="another purpose"):
            certificates.verify_certificate(path, signers)

    @pytest.mark.parametrize(
        ("changed", "why"),
        [
            ({"disks": []}, "names no disk"),
            ({"disks": [DISK, {**DISK, "verified": False}]}, "not read back"),
            ({"disks": [{**DISK, "verification": {"samples": 0, "bad": 0}}]}, "not read back"),
            ({"disks": [{**DISK, "verification": {"samples": 9, "bad": 1}}]}, "not read back"),
            ({"disks": [{**DISK, "verification": None}]}, "not read back"),
            ({"disks": [{**DISK, "method": ""}]}, "no method"),
            ({"disks": [{**DISK, "grade": "shiny"}]}, "no grade"),
            ({"grade": "purge"}, "claims purge, and clear was done"),
            ({"disks": [{**DISK, "grade": "purge"}, DISK], "grade": "purge"}, "clear was done"),
            ({"powered_off": False}, "not seen off"),
            ({"revoked": {}}, "nothing was revoked"),
            ({"serial": ""}, "does not say serial"),
            ({"trail": None}, "does not say trail"),
        ],
    )
    def test_never_claims_more_than_was_proven(
        self, alice: Path, tmp_path: Path, changed: dict[str, Any], why: str
    ) -> None:
        with pytest.raises(Untrusted, match=why):
            certificates.write({**GOOD, **changed}, alice, tmp_path / "certificates")
        assert not (tmp_path / "certificates").exists()

    def test_a_name_that_leaves_the_directory(self, alice: Path, tmp_path: Path) -> None:
        with pytest.raises(Untrusted, match="can't name a file"):
            certificates.write({**GOOD, "node": "../n1"}, alice, tmp_path)


class TestContents:
    """What a certificate says comes from the trail of the order, not from what somebody says."""

    def retired(self, directory: Path, *, wipe: str | None = None, off: bool = True) -> Mapping[str, Any]:
        with opened(directory) as ledger:
            order(ledger, Purpose.RETIRE, None)
            report = json.dumps([DISK]) if wipe is None else wipe
            walked(ledger, Verb.WIPE, Done("wiped", {"wipe": report}))
            walked(ledger, Verb.REVOKE, Done("operator key, munge key"))
            walked(ledger, Verb.POWER_OFF, Done("off") if off else Failed("the BMC is silent"))
            work = WorkOrder(OrderId(O1), N1, Purpose.RETIRE, AT, confirmed_by="alice")
            entries, head = ledger.trail(order=O1), ledger.head()
        return certificates.contents(NODE, work, entries, head, later(hours=3))

    def test_says_what_was_done(self, tmp_path: Path) -> None:
        found = self.retired(tmp_path)
        certificates.checked(found)
        assert (found["node"], found["serial"], found["grade"]) == ("n1", "S1", "clear")
        assert found["disks"] == [DISK]
        assert found["confirmed_by"] == "alice"
        assert found["times"]["certified"] == "2026-03-01T15:00:00Z"
        assert found["trail"]["seq"] == 8
        assert found["revoked"]["detail"] == "operator key, munge key"

    def test_a_wipe_without_report(self, tmp_path: Path) -> None:
        with pytest.raises(Untrusted, match="no report"):
            self.retired(tmp_path, wipe="done")

    def test_a_machine_that_is_not_off(self, tmp_path: Path) -> None:
        with pytest.raises(Untrusted, match="power_off of order o1 was not done"):
            self.retired(tmp_path, off=False)

    def test_the_last_word_counts(self, tmp_path: Path) -> None:
        with opened(tmp_path) as ledger:
            order(ledger, Purpose.RETIRE, None)
            walked(ledger, Verb.WIPE, Done("wiped", {"wipe": json.dumps([DISK])}))
            walked(ledger, Verb.WIPE, Failed("a disk came back with data"))
            entries = ledger.trail(order=O1)
        work = WorkOrder(OrderId(O1), N1, Purpose.RETIRE, AT, waited=timedelta(0))
        with pytest.raises(Untrusted, match="wipe of order o1 was not done"):
            certificates.contents(NODE, work, entries, (1, ""), AT)
