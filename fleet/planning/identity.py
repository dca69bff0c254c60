"""The identity of a plan: the hash of what it decides, not of all that was observed. An approval names it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict

from fleet.model.ids import NodeId, PoolId
from fleet.model.policy import Policy
from fleet.model.release import Release
from fleet.model.topology import Declared


def identity(
    declared: Declared,
    release: Release,
    policy: Policy,
    pool: PoolId,
    nodes: Sequence[NodeId],
    canaries: Sequence[NodeId],
) -> str:
    """The hash of what a plan decides: release, policy, nodes, named canaries, what can't be reverted."""
    decides = {
        "site": declared.site,
        "pool": pool,
        "release": [release.id, release.serial, release.digest],
        "policy": {key: value for key, value in asdict(policy).items() if key != "places"},  # a comment moves lines
        "nodes": sorted(nodes),
        "canaries": sorted(canaries),
        "irreversible": sorted(release.irreversible),
    }
    return hashlib.sha256(json.dumps(decides, sort_keys=True, default=str).encode()).hexdigest()[:16]
