"""What the scenario's container is given: an SSH key and a signed apt repository with the lab's packages.

`python seed.py DIRECTORY` writes them there and prints the container image to use, building it first if it is missing.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fleet.lab import image, packages
from fleet.lab.keys import ssh_pair

SOURCES = """Types: deb
URIs: file:/srv/repo
Suites: {suite}
Components: main
Signed-By: /etc/apt/keyrings/fleet-lab.gpg
"""


def main(directory: Path) -> None:
    """Everything beneath one directory."""
    seed, repo = directory / "seed", directory / "repo"
    seed.mkdir(parents=True, exist_ok=True)
    packages.make_repository(repo, directory / "gnupg", seed / "lab.gpg")
    (seed / "authorized_keys").write_text(ssh_pair(directory / "key", "molecule") + "\n")
    (seed / "lab.sources").write_text(SOURCES.format(suite=packages.SUITE))
    print(image.ensure(lambda text: print(text, file=sys.stderr)))


main(Path(sys.argv[1]).resolve())
