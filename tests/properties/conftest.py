"""How many stories are told: `ci` in `make test`, `soak` for as long as FLEET_SOAK_MINUTES says."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_COMMON = {"deadline": None, "suppress_health_check": list(HealthCheck), "print_blob": True}

settings.register_profile("ci", max_examples=120, derandomize=True, **_COMMON)
settings.register_profile("soak", max_examples=250, **_COMMON)
settings.load_profile(os.environ.get("FLEET_PROPERTIES", "ci"))
