"""STAND-IN, part of the lab: `nvidia-smi` in the formats of the 570 to 590 drivers, over devices that don't exist."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from fleet.lab.guest import accelerators as acc

BUS = ("19", "3B", "4C", "5D", "9B", "BB", "CB", "DB")
FULL_MHZ = 1980
TOTAL_MIB = 81559
NAME = "NVIDIA H100 80GB HBM3"


def bus_id(index: int) -> str:
    return f"00000000:{BUS[index]}:00.0"


def uuid(device: acc.Device) -> str:
    d = device.digest
    return f"GPU-{d[:8]}-{d[8:12]}-{d[12:16]}-{d[16:20]}-{d[20:32]}"


def serial(device: acc.Device) -> str:
    return str(1650000000000 + int(device.digest[:10], 16) % 10**9)


def driver_version() -> str:
    return str((acc.loaded_driver() or {}).get("version", "N/A"))


def cuda_version() -> str:
    """Major and minor of the CUDA that is installed now."""
    found = acc.package_file("/usr/local/cuda/version.json") or {}
    full = str(found.get("cuda", {}).get("version", "N/A"))
    return ".".join(full.split(".")[:2])


def yes(value: bool) -> str:
    return "Active" if value else "Not Active"


def tree(device: acc.Device) -> dict[str, Any]:
    """A device as the elements of `nvidia-smi -q -x`."""
    return _identity(device) | _readings(device)


def _identity(device: acc.Device) -> dict[str, Any]:
    return {
        "product_name": NAME,
        "product_brand": "NVIDIA",
        "product_architecture": "Hopper",
        "persistence_mode": "Enabled",
        "mig_mode": {"current_mig": "Disabled", "pending_mig": "Disabled"},
        "serial": serial(device),
        "uuid": uuid(device),
        "minor_number": device.index,
        "vbios_version": "96.00.A5.00.03",
        "board_part_number": "692-2G520-0200-000",
        "gpu_part_number": "2330-885-A1",
        "gpu_recovery_action": "None",
        "gsp_firmware_version": driver_version(),
        "gpu_reset_status": {
            "reset_required": "Yes" if device.uncorrectable else "No",
            "drain_and_reset_recommended": "No",
        },
        "pci": {
            "pci_bus": BUS[device.index],
            "pci_device": "00",
            "pci_domain": "0000",
            "pci_device_id": "233010DE",
            "pci_bus_id": bus_id(device.index),
            "pci_gpu_link_info": {
                "pcie_gen": {"max_link_gen": 5, "current_link_gen": 5},
                "link_widths": {"max_link_width": "16x", "current_link_width": "16x"},
            },
            "replay_counter": 0,
        },
    }


def _readings(device: acc.Device) -> dict[str, Any]:
    hot, mhz = device.throttled, device.clock(FULL_MHZ)
    return {
        "performance_state": "P0",
        "clocks_event_reasons": {
            "clocks_event_reason_gpu_idle": yes(not hot),
            "clocks_event_reason_sw_power_cap": "Not Active",
            "clocks_event_reason_hw_slowdown": yes(hot),
            "clocks_event_reason_hw_thermal_slowdown": yes(hot),
            "clocks_event_reason_hw_power_brake_slowdown": "Not Active",
            "clocks_event_reason_sw_thermal_slowdown": "Not Active",
        },
        "fb_memory_usage": {
            "total": f"{TOTAL_MIB} MiB",
            "reserved": "551 MiB",
            "used": "4 MiB",
            "free": f"{TOTAL_MIB - 555} MiB",
        },
        "utilization": {"gpu_util": "0 %", "memory_util": "0 %"},
        **_errors(device.uncorrectable),
        "temperature": {
            "gpu_temp": f"{device.temperature} C",
            "gpu_temp_tlimit": f"{87 - device.temperature} C",
            "memory_temp": f"{device.temperature + 4} C",
        },
        "gpu_power_readings": {
            "power_state": "P0",
            "average_power_draw": f"{70 + device.index}.12 W",
            "current_power_limit": "700.00 W",
            "max_power_limit": "700.00 W",
        },
        "clocks": {
            "graphics_clock": f"{mhz} MHz",
            "sm_clock": f"{mhz} MHz",
            "mem_clock": "2619 MHz",
            "video_clock": "1545 MHz",
        },
        "max_clocks": {
            "graphics_clock": f"{FULL_MHZ} MHz",
            "sm_clock": f"{FULL_MHZ} MHz",
            "mem_clock": "2619 MHz",
        },
        "fabric": {"state": "Completed", "status": "Success"},
        "processes": {},
    }


def _errors(bad: int) -> dict[str, Any]:
    ecc = {
        "sram_correctable": 0,
        "sram_uncorrectable_parity": 0,
        "sram_uncorrectable_secded": bad,
        "dram_correctable": 0,
        "dram_uncorrectable": 0,
    }
    return {
        "ecc_mode": {"current_ecc": "Enabled", "pending_ecc": "Enabled"},
        "ecc_errors": {"volatile": ecc, "aggregate": ecc | {"sram_threshold_exceeded": "No"}},
        "remapped_rows": {
            "remapped_row_corr": 0,
            "remapped_row_unc": 0,
            "remapped_row_pending": "No",
            "remapped_row_failure": "No",
        },
    }


def xml(name: str, value: Any, indent: int) -> str:
    pad = "\t" * indent
    if isinstance(value, dict):
        inner = "".join(xml(key, inside, indent + 1) for key, inside in value.items())
        return f"{pad}<{name}>\n{inner}{pad}</{name}>\n"
    return f"{pad}<{name}>{value}</{name}>\n"


def query_xml(chosen: list[acc.Device]) -> str:
    head = (
        '<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">\n<nvidia_smi_log>\n'
        + xml("timestamp", time.ctime(), 1)
        + xml("driver_version", driver_version(), 1)
        + xml("cuda_version", cuda_version(), 1)
        + xml("attached_gpus", len(acc.devices()), 1)
    )
    bodies = [
        f'\t<gpu id="{bus_id(d.index)}">\n'
        + "".join(xml(key, value, 2) for key, value in tree(d).items())
        + "\t</gpu>\n"
        for d in chosen
    ]
    return head + "".join(bodies) + "</nvidia_smi_log>"


WORDS = {
    "Ecc": "ECC",
    "Gpu": "GPU",
    "Pci": "PCI",
    "Uuid": "UUID",
    "Mig": "MIG",
    "Vbios": "VBIOS",
    "Sm": "SM",
    "Fb": "FB",
    "Sram": "SRAM",
    "Dram": "DRAM",
    "Gsp": "GSP",
    "Sw": "SW",
    "Hw": "HW",
    "Id": "Id",
}
TEXT_NAMES = {
    "uuid": "GPU UUID",
    "serial": "Serial Number",
    "gpu_temp": "GPU Current Temp",
    "memory_temp": "Memory Current Temp",
    "pci_bus_id": "Bus Id",
    "mem_clock": "Memory",
    "graphics_clock": "Graphics",
    "sm_clock": "SM",
    "sram_uncorrectable_secded": "SRAM Uncorrectable SEC-DED",
    "remapped_row_corr": "Correctable Error",
    "remapped_row_unc": "Uncorrectable Error",
    "remapped_row_pending": "Pending",
    "remapped_row_failure": "Remapping Failure Occurred",
}


def label(key: str) -> str:
    """The name of an XML element in the plain `-q` listing."""
    if key in TEXT_NAMES:
        return TEXT_NAMES[key]
    words = key.replace("clocks_event_reason_", "").split("_")
    return " ".join(WORDS.get(word.title(), word.title()) for word in words)


def text(value: dict[str, Any], indent: int) -> str:
    lines = []
    for key, inside in value.items():
        name = " " * indent + label(key)
        if isinstance(inside, dict):
            lines.append(f"{name} : None\n" if not inside else f"{name}\n{text(inside, indent + 4)}")
        else:
            lines.append(f"{name:<55}: {inside}\n")
    return "".join(lines)


def query_text(chosen: list[acc.Device]) -> str:
    head = f"\n==============NVSMI LOG==============\n\n{'Timestamp':<55}: {time.ctime()}\n"
    head += f"{'Driver Version':<55}: {driver_version()}\n{'CUDA Version':<55}: {cuda_version()}\n\n"
    head += f"{'Attached GPUs':<55}: {len(acc.devices())}\n"
    return head + "".join(f"GPU {bus_id(d.index)}\n{text(tree(d), 4)}\n" for d in chosen)


Field = Callable[[acc.Device], tuple[str, str]]
FIELDS: dict[str, Field] = {
    "timestamp": lambda d: (time.strftime("%Y/%m/%d %H:%M:%S.000"), ""),
    "driver_version": lambda d: (driver_version(), ""),
    "count": lambda d: (str(len(acc.devices())), ""),
    "index": lambda d: (str(d.index), ""),
    "name": lambda d: (NAME, ""),
    "gpu_name": lambda d: (NAME, ""),
    "serial": lambda d: (serial(d), ""),
    "uuid": lambda d: (uuid(d), ""),
    "gpu_uuid": lambda d: (uuid(d), ""),
    "pci.bus_id": lambda d: (bus_id(d.index), ""),
    "gpu_bus_id": lambda d: (bus_id(d.index), ""),
    "vbios_version": lambda d: ("96.00.A5.00.03", ""),
    "pstate": lambda d: ("P0", ""),
    "mig.mode.current": lambda d: ("Disabled", ""),
    "temperature.gpu": lambda d: (str(d.temperature), ""),
    "temperature.memory": lambda d: (str(d.temperature + 4), ""),
    "utilization.gpu": lambda d: ("0", "%"),
    "memory.total": lambda d: (str(TOTAL_MIB), "MiB"),
    "memory.used": lambda d: ("4", "MiB"),
    "memory.free": lambda d: (str(TOTAL_MIB - 555), "MiB"),
    "power.draw": lambda d: (f"{70 + d.index}.12", "W"),
    "power.limit": lambda d: ("700.00", "W"),
    "clocks.sm": lambda d: (str(d.clock(FULL_MHZ)), "MHz"),
    "clocks.gr": lambda d: (str(d.clock(FULL_MHZ)), "MHz"),
    "clocks.current.sm": lambda d: (str(d.clock(FULL_MHZ)), "MHz"),
    "clocks.max.sm": lambda d: (str(FULL_MHZ), "MHz"),
    "clocks.mem": lambda d: ("2619", "MHz"),
    "clocks_event_reasons.hw_thermal_slowdown": lambda d: (yes(d.throttled), ""),
    "clocks_throttle_reasons.hw_thermal_slowdown": lambda d: (yes(d.throttled), ""),
    "clocks_event_reasons.hw_slowdown": lambda d: (yes(d.throttled), ""),
    "ecc.mode.current": lambda d: ("Enabled", ""),
    "ecc.errors.corrected.volatile.total": lambda d: ("0", ""),
    "ecc.errors.uncorrected.volatile.total": lambda d: (str(d.uncorrectable), ""),
    "ecc.errors.uncorrected.aggregate.total": lambda d: (str(d.uncorrectable), ""),
    "retired_pages.pending": lambda d: ("[N/A]", ""),
    "remapped_rows.correctable": lambda d: ("0", ""),
    "remapped_rows.uncorrectable": lambda d: ("0", ""),
    "remapped_rows.pending": lambda d: ("No", ""),
    "remapped_rows.failure": lambda d: ("No", ""),
    "pcie.link.gen.current": lambda d: ("5", ""),
    "pcie.link.width.current": lambda d: ("16", ""),
    "gpu_recovery_action": lambda d: ("None", ""),
}


def query_csv(chosen: list[acc.Device], fields: list[str], form: list[str]) -> int:
    for field in fields:
        if field not in FIELDS:
            print(f'Field "{field}" is not a valid field to query.')
            return 2
    rows = [[FIELDS[field](device) for field in fields] for device in chosen]
    if "noheader" not in form:
        units = {f: FIELDS[f](chosen[0])[1] for f in fields} if chosen else dict.fromkeys(fields, "")
        shown = "nounits" not in form
        print(", ".join(f + (f" [{units[f]}]" if units[f] and shown else "") for f in fields))
    for row in rows:
        print(", ".join(f"{v} {u}" if u and "nounits" not in form else v for v, u in row))
    return 0


def table(chosen: list[acc.Device]) -> str:
    """The plain table, close to life."""
    bar = "+" + "-" * 89 + "+\n"
    head = f"NVIDIA-SMI {driver_version():<14} Driver Version: {driver_version():<14} CUDA Version: {cuda_version()}"
    out = f"{time.ctime()}\n{bar}| {head:<88}|\n{bar}"
    for d in chosen:
        first = f"{d.index:>3}  {NAME:<24} On |   {bus_id(d.index)} Off | {d.uncorrectable:>20}"
        second = f"N/A  {d.temperature}C  P0  {70 + d.index}W / 700W |  4MiB / {TOTAL_MIB}MiB |  0%  Default"
        out += f"| {first:<88}|\n| {second:<88}|\n"
    return out + bar


def option(args: list[str], *names: str) -> str | None:
    """The value of `--name=value` or `-n value`."""
    for position, word in enumerate(args):
        name, equals, value = word.partition("=")
        if name in names:
            return value if equals else (args[position + 1] if position + 1 < len(args) else "")
    return None


def nvidia_smi(args: list[str]) -> int:
    if acc.loaded_driver() is None:
        print("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. "
              "Make sure that the latest NVIDIA driver is installed and running.\n")  # fmt: skip
        return 9
    wanted = option(args, "-i", "--id")
    chosen = [d for d in acc.devices() if wanted is None or wanted in (str(d.index), uuid(d), bus_id(d.index))]
    if wanted is not None and not chosen:
        print("No devices were found")
        return 6
    fields, form = option(args, "--query-gpu"), (option(args, "--format") or "csv").split(",")
    if fields is not None:
        return query_csv(chosen, [field.strip() for field in fields.split(",")], form)
    if option(args, "--query-compute-apps", "--query-apps") is not None:
        if "noheader" not in form:
            print("pid, process_name, used_gpu_memory [MiB]")
        return 0
    if "-L" in args or "--list-gpus" in args:
        for d in chosen:
            print(f"GPU {d.index}: {NAME} (UUID: {uuid(d)})")
        return 0
    if "--gpu-reset" in args or "-r" in args:
        acc.cure("reset", int(wanted) if wanted and wanted.isdigit() else None)
        for d in chosen:
            print(f"GPU {bus_id(d.index)} was successfully reset.")
        print("All done.")
        return 0
    if "-q" in args:
        print(query_xml(chosen) if "-x" in args or "--xml-format" in args else query_text(chosen))
        return 0
    gone = acc.lost()
    if gone:
        print(f"Unable to determine the device handle for GPU{bus_id(gone[0])[4:]}: Unknown Error")
        return 255
    sys.stdout.write(table(chosen))
    return 0
