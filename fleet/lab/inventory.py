"""Writes the lab's inventory: the same declaration that a user writes by hand for a machine hall, from the layout.

Site, racks, pools, nodes and policy come from the layout; release manifests from the release table and the digests of
the packages as built. Signatures are not made here: they were made once with a key thrown away, and are copied.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from fleet.lab.commands import run
from fleet.lab.keys import ssh_pair
from fleet.lab.layout import CONTROLLER, Layout, layout
from fleet.lab.packages import digests
from fleet.lab.releases import RELEASES, LabRelease

EXPIRES = "2036-01-01"
NAMESPACE = "fleet-release"
SIGNER = "releases@fleet-lab"

SITE = f"""site: lab
region: lab
access:
  ssh: {{user: root, key: .fleet/lab/keys/operator, known_hosts: .fleet/lab/known_hosts}}
  scheduler: {{kind: slurm, address: {CONTROLLER}}}
  bmc: {{user: fleet, password: "file:.fleet/lab/bmc/{{node}}/password", ca: .fleet/lab/bmc/ca.pem}}
"""

POLICY = """policies:
  default:
    budget: {pool: 1, rack: 1}
    floor: {pool: 50%}
    canary: 1
    soak: 10s
    drain: {how: now, deadline: 2h, then: wait}
    ladder: [restart_service, reset_gpu, reboot, power_cycle, rma]
    first_rung: {xid_79: reboot, ras_uncorrectable: reboot}
    autonomy: act
    retire: {confirm: serial}
"""


def declaration(plan: Layout) -> dict[str, str]:
    """Text of each inventory file that depends on the layout alone, by file name."""
    return {
        "site.yaml": SITE,
        "racks.yaml": _racks(plan),
        "pools.yaml": _pools(plan),
        "nodes.yaml": _nodes(plan),
        "policy.yaml": POLICY,
    }


def _racks(plan: Layout) -> str:
    rows = "".join(f"  {r.name}: {{feed: {r.feed}, leaf: {r.leaf}, units: 42}}\n" for r in plan.racks)
    return f"feeds: {{A: {{}}, B: {{}}}}\nleaves: {{l1: {{}}, l2: {{}}}}\nracks:\n{rows}"


def _pools(plan: Layout) -> str:
    used = [pool for pool in plan.pools if plan.members(pool.name)]
    return "pools:\n" + "".join(
        f"  {p.name}: {{accelerator: {p.accelerator}, vendor: {p.vendor}, partition: {p.name}, "
        f"release: {p.release}, policy: default}}\n"
        for p in used
    )


def _nodes(plan: Layout) -> str:
    return "nodes:\n" + "".join(
        f"  {n.name}: {{serial: {n.serial}, rack: {n.rack}, slot: {n.slot}, pool: {n.pool.name}, "
        f'address: {n.address}, bmc: "{n.bmc_url}", accelerators: 8}}\n'
        for n in plan.nodes
    )


def manifest(one: LabRelease, digest: Mapping[tuple[str, str], str]) -> str:
    """The text of a release manifest, which is what gets signed."""
    versions = ", ".join(f'{part}: "{version}"' for part, version in one.shows)
    rows = "".join(
        f'  - {{name: {p.name}, version: "{p.version}", sha256: "{digest[p.name, p.version]}", part: {p.part}}}\n'
        for p in one.packages
    )
    return (
        f"release: {one.name}\nserial: {one.serial}\nexpires: {EXPIRES}\nvendor: {one.vendor}\n"
        f"versions: {{{versions}}}\nneeds: [reboot]\nirreversible: []\npackages:\n{rows}"
    )


def write(plan: Layout, into: Path) -> None:
    """All files but signatures and allowed signers."""
    into.mkdir(parents=True, exist_ok=True)
    for name, text in declaration(plan).items():
        (into / name).write_text(text)
    releases = into / "releases"
    releases.mkdir(exist_ok=True)
    known = digests()
    for one in RELEASES:
        (releases / f"{one.name}.yaml").write_text(manifest(one, known))


def sign(inventory: Path) -> None:
    """Sign every manifest with a key that nobody keeps, and allow that key; done once, before a commit."""
    with tempfile.TemporaryDirectory(prefix="fleet-lab-sign-") as scratch:
        key = Path(scratch) / "key"
        public = ssh_pair(key, SIGNER).split()
        (inventory / "allowed_signers").write_text(f'{SIGNER} namespaces="{NAMESPACE}" {public[0]} {public[1]}\n')
        for path in sorted((inventory / "releases").glob("*.yaml")):
            path.with_suffix(".yaml.sig").unlink(missing_ok=True)
            run(["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", NAMESPACE, path])


def write_beside(plan: Layout, into: Path, committed: Path) -> None:
    """The declaration for this layout, with releases, signatures and signers as committed."""
    into.mkdir(parents=True, exist_ok=True)
    for name, text in declaration(plan).items():
        (into / name).write_text(text)
    shutil.copytree(committed / "releases", into / "releases", dirs_exist_ok=True)
    shutil.copyfile(committed / "allowed_signers", into / "allowed_signers")


def main() -> int:
    """`python -m fleet.lab.inventory DIRECTORY`: write and sign the committed inventory anew."""
    into = Path(sys.argv[1])
    write(layout(6), into)
    sign(into)
    return 0


if __name__ == "__main__":
    sys.exit(main())
