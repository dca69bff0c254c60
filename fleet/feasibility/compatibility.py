"""Pools and releases that fit each other, and can be believed."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.feasibility.problem import Level, Problem
from fleet.model.topology import Declared


def compatibility(declared: Declared) -> Iterator[Problem]:
    """Releases for another vendor's boards, and manifests whose signature does not hold."""
    for pool in declared.pools.values():
        release = declared.releases.get(pool.release)
        if release is None:
            continue
        if release.vendor and pool.vendor and release.vendor != pool.vendor:
            what = f"pool {pool.id} has {pool.vendor} boards, release {release.id} is for {release.vendor}"
            fix = f"name a release for {pool.vendor}"
            yield Problem("release-vendor", Level.ERROR, pool.place, what, fix, "the release's manifest")
    used = {declared.target(node) for node in declared.nodes.values()} | {p.release for p in declared.pools.values()}
    for release in declared.releases.values():
        if release.untrusted:
            level = Level.ERROR if release.id in used else Level.WARNING
            fix = (
                f"have it signed as it is now: ssh-keygen -Y sign -n fleet-release -f KEY {release.place or release.id}"
            )
            what = f"release {release.id} is not to be believed: {release.untrusted}"
            yield Problem("release-untrusted", level, release.place, what, fix, "allowed_signers")
