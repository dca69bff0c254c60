"""The machine's clock, as the port `Clock`."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """UTC for records, a monotonic count of seconds for waiting."""

    def now(self) -> datetime:
        """The wall clock, which may jump."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds since some moment; never goes back."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait; a negative time is none."""
        time.sleep(max(0.0, seconds))
