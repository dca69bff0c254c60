"""Keys of the lab: made at `up`, gone at `down`; none is ever committed."""

from __future__ import annotations

import ipaddress
import os
import secrets
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from fleet.lab.commands import run

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate

VALID = timedelta(days=365)


def ssh_pair(path: Path, comment: str) -> str:
    """The public line of an SSH key pair at `path`, made if it isn't there."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", path])
    return path.with_suffix(".pub").read_text().strip()


def secret(path: Path, count: int) -> None:
    """Random bytes in a file that only its owner reads, unless it is there."""
    if not path.exists():
        private(path, secrets.token_bytes(count))


def password(path: Path) -> None:
    """A random password in a file, without a newline, unless it is there."""
    if not path.exists():
        private(path, secrets.token_urlsafe(18).encode())


def private(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as sink:
        sink.write(content)


def certificates(directory: Path, addresses: dict[str, str]) -> None:
    """A CA at `ca.pem` and, per name, `NAME/cert.pem` and `NAME/key.pem` for its address; kept where they exist."""
    if (directory / "ca.pem").exists() and all((directory / name / "cert.pem").exists() for name in addresses):
        return
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    ca_key = ec.generate_private_key(ec.SECP256R1())
    ca = _certificate("fleet lab CA", ca_key, ca_key, None, None)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "ca.pem").write_bytes(ca.public_bytes(serialization.Encoding.PEM))
    for name, address in addresses.items():
        key = ec.generate_private_key(ec.SECP256R1())
        cert = _certificate(f"bmc of {name}", key, ca_key, ca, address)
        private(directory / name / "key.pem", key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ))  # fmt: skip
        (directory / name / "cert.pem").write_bytes(cert.public_bytes(serialization.Encoding.PEM))


def _certificate(
    name: str,
    key: EllipticCurvePrivateKey,
    signer: EllipticCurvePrivateKey,
    issuer: Certificate | None,
    address: str | None,
) -> Certificate:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes

    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + VALID)
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
    )
    if address:
        names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
        builder = builder.add_extension(names, critical=False)
    else:
        usage = x509.KeyUsage(
            digital_signature=True, key_cert_sign=True, crl_sign=True, content_commitment=False, key_encipherment=False,
            data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
        )  # fmt: skip
        builder = builder.add_extension(usage, critical=True)
    return builder.sign(signer, hashes.SHA256())
