"""A small site written to disk, for tests to spoil."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

FILES = {
    "site.yaml": """site: here
region: north
access:
  ssh: {user: root, key: keys/operator, known_hosts: keys/known_hosts}
  scheduler: {kind: slurm, address: 10.0.0.2}
  bmc: {user: fleet, password: "file:bmc/{node}/password", ca: bmc/ca.pem}
""",
    "racks.yaml": """feeds: {A: {}, B: {}}
leaves: {l1: {}}
racks:
  r1: {feed: A, leaf: l1, units: 42}
  r2: {feed: B, leaf: l1}
""",
    "pools.yaml": """pools:
  train: {accelerator: MI300X, vendor: amd, partition: gpu, release: amd-1, policy: default}
""",
    "nodes.yaml": """nodes:
  n01: {serial: S1, rack: r1, slot: 1, pool: train, address: 10.0.1.1, bmc: "https://10.0.2.1"}
  n02: {serial: S2, rack: r2, slot: 1, pool: train, address: 10.0.1.2, bmc: "https://10.0.2.2", disposition: parked}
""",
    "policy.yaml": """policies:
  default:
    budget: {pool: 1}
    floor: {pool: 50%}
""",
    "releases/amd-1.yaml": f"""release: amd-1
serial: 1
expires: 2036-01-01
vendor: amd
versions: {{driver: 6.10, rocm: "7.0"}}
needs: [reboot]
packages:
  - {{name: amdgpu-dkms, version: "1:6.10-1", sha256: "{"a" * 64}", part: driver}}
""",
}


def write(directory: Path, changed: Mapping[str, str | None] | None = None) -> Path:
    """The site, with files replaced, added, or (None) left out."""
    site = directory / "inventory" / "here"
    for name, text in {**FILES, **(changed or {})}.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is not None:
            path.write_text(text)
    return site


def key(directory: Path, name: str = "alice", *, signers: Path | None = None, options: str = "") -> Path:
    """A person's signing key, allowed where `signers` is given."""
    path = directory / name
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(path)], check=True)
    if signers is not None:
        public = path.with_suffix(".pub").read_text().split()
        with signers.open("a") as file:
            file.write(f"{name} {options}{' ' if options else ''}{public[0]} {public[1]}\n")
    return path
