"""Which of nvidia-smi's fields become which facts: one table for all releases and both nested forms, and the CSV
columns.
"""

from typing import Any

from fleet.readers.reading import Fact
from fleet.readers.text import number, quantity

# fact, unit (None: text; "int", "bool", or the unit of the value), paths in `-q` and in the XML
FIELDS: tuple[tuple[str, str | None, tuple[str, ...]], ...] = (
    ("product_name", None, ("product_name",)),
    ("uuid", None, ("gpu_uuid", "uuid")),
    ("serial", None, ("serial_number", "serial")),
    ("vbios", None, ("vbios_version",)),
    ("minor_number", "int", ("minor_number",)),
    ("persistence_mode", None, ("persistence_mode",)),
    ("mig_mode", None, ("mig_mode/current", "mig_mode/current_mig")),
    ("recovery_action", None, ("gpu_recovery_action",)),
    ("reset_required", "bool", ("gpu_reset_status/reset_required",)),
    ("drain_recommended", "bool", ("gpu_reset_status/drain_and_reset_recommended",)),
    ("gsp_firmware", None, ("gsp_firmware_version",)),
    ("memory_total", "MiB", ("fb_memory_usage/total",)),
    ("memory_used", "MiB", ("fb_memory_usage/used",)),
    ("memory_free", "MiB", ("fb_memory_usage/free",)),
    (
        "pcie_gen_current",
        "int",
        ("pci/gpu_link_info/pcie_generation/current", "pci/pci_gpu_link_info/pcie_gen/current_link_gen"),
    ),
    ("pcie_gen_max", "int", ("pci/gpu_link_info/pcie_generation/max", "pci/pci_gpu_link_info/pcie_gen/max_link_gen")),
    (
        "pcie_width_current",
        "int",
        ("pci/gpu_link_info/link_width/current", "pci/pci_gpu_link_info/link_widths/current_link_width"),
    ),
    ("pcie_width_max", "int", ("pci/gpu_link_info/link_width/max", "pci/pci_gpu_link_info/link_widths/max_link_width")),
    ("pcie_replays", "int", ("pci/replays_since_reset", "pci/replay_counter")),
    ("fan_speed", "%", ("fan_speed",)),
    ("utilization_gpu", "%", ("utilization/gpu", "utilization/gpu_util")),
    ("utilization_memory", "%", ("utilization/memory", "utilization/memory_util")),
    ("ecc_mode", None, ("ecc_mode/current", "ecc_mode/current_ecc")),
    ("sram_correctable_volatile", "int", ("ecc_errors/volatile/sram_correctable",)),
    ("sram_uncorrectable_volatile", "int", ("ecc_errors/volatile/sram_uncorrectable",)),
    ("sram_uncorrectable_parity_volatile", "int", ("ecc_errors/volatile/sram_uncorrectable_parity",)),
    (
        "sram_uncorrectable_secded_volatile",
        "int",
        ("ecc_errors/volatile/sram_uncorrectable_sec_ded", "ecc_errors/volatile/sram_uncorrectable_secded"),
    ),
    ("dram_correctable_volatile", "int", ("ecc_errors/volatile/dram_correctable",)),
    ("dram_uncorrectable_volatile", "int", ("ecc_errors/volatile/dram_uncorrectable",)),
    ("sram_correctable_aggregate", "int", ("ecc_errors/aggregate/sram_correctable",)),
    ("sram_uncorrectable_aggregate", "int", ("ecc_errors/aggregate/sram_uncorrectable",)),
    ("sram_uncorrectable_parity_aggregate", "int", ("ecc_errors/aggregate/sram_uncorrectable_parity",)),
    (
        "sram_uncorrectable_secded_aggregate",
        "int",
        ("ecc_errors/aggregate/sram_uncorrectable_sec_ded", "ecc_errors/aggregate/sram_uncorrectable_secded"),
    ),
    ("dram_correctable_aggregate", "int", ("ecc_errors/aggregate/dram_correctable",)),
    ("dram_uncorrectable_aggregate", "int", ("ecc_errors/aggregate/dram_uncorrectable",)),
    ("sram_threshold_exceeded", "bool", ("ecc_errors/aggregate/sram_threshold_exceeded",)),
    ("channel_repair_pending", "bool", ("ecc_errors/channel_repair_pending",)),
    ("tpc_repair_pending", "bool", ("ecc_errors/tpc_repair_pending",)),
    ("unrepairable_memory", "bool", ("ecc_errors/unrepairable_memory",)),
    (
        "retired_pages_pending",
        "bool",
        ("retired_pages/pending_page_blacklist", "retired_pages/pending_blacklist", "retired_pages/pending_retirement"),
    ),
    ("remapped_rows_correctable", "int", ("remapped_rows/correctable_error", "remapped_rows/remapped_row_corr")),
    ("remapped_rows_uncorrectable", "int", ("remapped_rows/uncorrectable_error", "remapped_rows/remapped_row_unc")),
    ("remapped_rows_pending", "bool", ("remapped_rows/pending", "remapped_rows/remapped_row_pending")),
    (
        "remapped_rows_failure",
        "bool",
        ("remapped_rows/remapping_failure_occurred", "remapped_rows/remapped_row_failure"),
    ),
    (
        "remapped_rows_histogram_max",
        "int",
        (
            "remapped_rows/bank_remap_availability_histogram/max",
            "remapped_rows/row_remapper_histogram/row_remapper_histogram_max",
        ),
    ),
    ("temperature_gpu", "C", ("temperature/gpu_current_temp", "temperature/gpu_temp")),
    ("temperature_tlimit", "C", ("temperature/gpu_t_limit_temp", "temperature/gpu_temp_tlimit")),
    ("temperature_memory", "C", ("temperature/memory_current_temp", "temperature/memory_temp")),
    ("power_draw", "W", ("gpu_power_readings/power_draw", "power_readings/power_draw")),
    ("power_draw_average", "W", ("gpu_power_readings/average_power_draw",)),
    (
        "power_draw_instant",
        "W",
        ("gpu_power_readings/instantaneous_power_draw", "gpu_power_readings/instant_power_draw"),
    ),
    (
        "power_limit",
        "W",
        ("gpu_power_readings/current_power_limit", "power_readings/power_limit", "power_readings/enforced_power_limit"),
    ),
    ("power_limit_default", "W", ("gpu_power_readings/default_power_limit", "power_readings/default_power_limit")),
    ("power_limit_max", "W", ("gpu_power_readings/max_power_limit", "power_readings/max_power_limit")),
    (
        "sw_power_capping_time",
        "us",
        (
            "clocks_event_reasons_counters/sw_power_capping",
            "clocks_event_reasons_counters/clocks_event_reasons_counters_sw_power_cap",
        ),
    ),
    (
        "hw_thermal_slowdown",
        "bool",
        (
            "clocks_event_reasons/hw_slowdown/hw_thermal_slowdown",
            "clocks_event_reasons/hw_thermal_slowdown",
            "clocks_throttle_reasons/hw_slowdown/hw_thermal_slowdown",
            "clocks_event_reasons/clocks_event_reason_hw_thermal_slowdown",
            "clocks_throttle_reasons/clocks_throttle_reason_hw_thermal_slowdown",
        ),
    ),
    (
        "power_brake_slowdown",
        "bool",
        (
            "clocks_event_reasons/hw_slowdown/hw_power_brake_slowdown",
            "clocks_event_reasons/hw_power_brake_slowdown",
            "clocks_throttle_reasons/hw_slowdown/hw_power_brake_slowdown",
            "clocks_event_reasons/clocks_event_reason_hw_power_brake_slowdown",
            "clocks_throttle_reasons/clocks_throttle_reason_hw_power_brake_slowdown",
        ),
    ),
    (
        "sw_thermal_slowdown",
        "bool",
        (
            "clocks_event_reasons/sw_thermal_slowdown",
            "clocks_throttle_reasons/sw_thermal_slowdown",
            "clocks_event_reasons/clocks_event_reason_sw_thermal_slowdown",
            "clocks_throttle_reasons/clocks_throttle_reason_sw_thermal_slowdown",
        ),
    ),
    ("fabric_state", None, ("fabric/state",)),
    ("fabric_status", None, ("fabric/status",)),
)
MIG_FIELDS: tuple[tuple[str, str | None, tuple[str, ...]], ...] = (
    (
        "sram_uncorrectable_volatile",
        "int",
        ("ecc_errors/volatile/sram_uncorrectable", "ecc_error_count/volatile_count/sram_uncorrectable"),
    ),
    ("memory_used", "MiB", ("shared_fb_memory_usage/used", "fb_memory_usage/used")),
    ("memory_total", "MiB", ("shared_fb_memory_usage/total", "fb_memory_usage/total")),
)
# first part of a path whose total absence is a gap, and the name of that gap
WATCHED = {
    "fan_speed": "fan_speed",
    "utilization": "utilization",
    "remapped_rows": "remapped_rows",
    "retired_pages": "retired_pages",
    "ecc_errors": "ecc_errors",
    "gpu_power_readings": "power",
    "power_readings": "power",
    "module_power_readings": "module_power",
    "fb_memory_usage": "memory",
}
CSV_NAMES = {
    "gpu_recovery_action": "recovery_action",
    "name": "product_name",
    "gpu_name": "product_name",
    "gpu_uuid": "uuid",
    "driver_version": "driver",
    "pci.bus_id": "pci",
    "gpu_bus_id": "pci",
    "gpu_serial": "serial",
    "mig.mode.current": "mig_mode",
    "vbios_version": "vbios",
    "ecc.mode.current": "ecc_mode",
    "pcie.link.gen.current": "pcie_gen_current",
    "pcie.link.gen.gpucurrent": "pcie_gen_current",
    "pcie.link.gen.max": "pcie_gen_max",
    "pcie.link.width.current": "pcie_width_current",
    "pcie.link.width.max": "pcie_width_max",
    "clocks_event_reasons.hw_thermal_slowdown": "hw_thermal_slowdown",
    "clocks_throttle_reasons.hw_thermal_slowdown": "hw_thermal_slowdown",
    "clocks_event_reasons.hw_power_brake_slowdown": "power_brake_slowdown",
    "clocks_throttle_reasons.hw_power_brake_slowdown": "power_brake_slowdown",
    "clocks_event_reasons.sw_thermal_slowdown": "sw_thermal_slowdown",
    "clocks_throttle_reasons.sw_thermal_slowdown": "sw_thermal_slowdown",
}
_TEXTUAL = frozenset(
    (
        "serial",
        "gpu_serial",
        "uuid",
        "gpu_uuid",
        "pci.bus_id",
        "gpu_bus_id",
        "driver_version",
        "vbios_version",
        "name",
        "gpu_name",
        "pci.device_id",
        "pci.sub_device_id",
        "vbios",
        "gpu_recovery_action",
        "inforom.image",
    )
)
_UNITS = (
    ("temperature", "C"),
    ("power.", "W"),
    ("enforced.power", "W"),
    ("utilization", "%"),
    ("fan.speed", "%"),
    ("memory.", "MiB"),
    ("clocks.", "MHz"),
)
_WORDS = {"yes": True, "no": False, "active": True, "not active": False}
_TEMPERATURES = (-40, 150)


def csv_unit(name: str) -> str | None:
    """The unit of a CSV column: from its own brackets, else by the kind of field."""
    column, _, rest = name.partition(" ")
    if column in _TEXTUAL:
        return None
    if rest.strip().startswith("["):
        return rest.strip().strip("[]")
    return next((unit for prefix, unit in _UNITS if column.startswith(prefix)), "auto")


def typed(text: str, unit: str | None) -> tuple[Any, str | None]:
    """Value and unit of a field as its kind says; text that does not fit stays text."""
    text = text.strip()
    if unit is None:
        return text, None
    if unit in ("bool", "auto") and text.lower() in _WORDS:
        return _WORDS[text.lower()], None
    if unit == "auto":
        value = number(text)
        return (text if value is None else value), None
    found = quantity(text)
    if found is None or unit == "bool":
        return text, None
    return found[0], None if unit == "int" else unit


def implausible(fact: Fact) -> bool:
    """Readings that no GPU can have are no readings."""
    if fact.unit != "C" or isinstance(fact.value, bool) or not isinstance(fact.value, int | float):
        return False
    return not _TEMPERATURES[0] <= fact.value <= _TEMPERATURES[1]
