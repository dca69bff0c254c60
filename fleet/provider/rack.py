"""`fleet:index:Rack`: a rack with the feed and the leaf that its nodes fail with."""

from __future__ import annotations

from fleet.provider.declaration import Declaration

TYPE = "fleet:index:Rack"

RACK = Declaration(
    key="rack",
    shape={"rack": str, "site": str, "feed": str, "loop": str, "leaf": str},
    optional=frozenset({"feed", "loop", "leaf"}),
)
