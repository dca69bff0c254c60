"""The machine's clock."""

from __future__ import annotations

from datetime import timedelta

from fleet.adapters.clock import SystemClock


def test_now_is_utc_and_time_passes() -> None:
    clock = SystemClock()
    before = clock.monotonic()
    clock.sleep(0.01)
    clock.sleep(-1)
    assert clock.monotonic() - before >= 0.01
    assert clock.now().utcoffset() == timedelta(0)
