"""Why a GPU's clocks are held down: the bits of NVIDIA's reasons mask. Each set bit is one finding; none implies
another.
"""

from fleet.readers.reading import Finding

# bit, code, severity, scope, action. 1 (idle), 2 (application clocks) and 256 (display clocks) are no throttling.
BITS: tuple[tuple[int, str, str, str, str], ...] = (
    (4, "sw_power_cap", "info", "gpu", "none"),
    (8, "hw_slowdown", "warn", "gpu", "none"),
    (16, "sync_boost", "info", "gpu", "none"),
    (32, "sw_thermal", "warn", "gpu", "none"),
    (64, "hw_thermal", "warn", "gpu", "check_hardware"),
    (128, "power_brake", "warn", "node", "check_hardware"),
)


def from_mask(mask: int, device: str | None) -> list[Finding]:
    """One finding per set bit."""
    return [
        Finding({"throttle": code}, device, severity, scope, action)
        for bit, code, severity, scope, action in BITS
        if mask & bit
    ]
