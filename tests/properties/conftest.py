"""How many stories are told: `ci` in `make test` (a failing story is printed as it is), `shrink` to make it small."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

_COMMON = {"deadline": None, "suppress_health_check": list(HealthCheck), "print_blob": True}

_TOLD = [Phase.explicit, Phase.reuse, Phase.generate]  # shrinking takes minutes: FLEET_PROPERTIES=shrink
settings.register_profile("ci", max_examples=200, derandomize=True, phases=_TOLD, **_COMMON)
settings.register_profile("shrink", max_examples=200, derandomize=True, **_COMMON)
settings.load_profile(os.environ.get("FLEET_PROPERTIES", "ci"))
