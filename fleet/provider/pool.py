"""`fleet:index:Pool`: nodes alike, and the release that git names for them.

A changed release shows in the preview; it is `fleet upgrade --rolling` that brings it to the nodes, never Pulumi.
"""

from __future__ import annotations

from fleet.provider.declaration import Declaration

TYPE = "fleet:index:Pool"

POOL = Declaration(
    key="pool",
    shape={"pool": str, "site": str, "accelerator": str, "vendor": str, "release": str, "partition": str, "nodes": int},
    optional=frozenset({"partition"}),
)
