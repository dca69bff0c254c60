"""STAND-IN, part of the lab: `amd-smi` and `rocm-smi` in the formats of ROCm 6.4, over devices that don't exist."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fleet.lab.guest import accelerators as acc

BDF = ("05", "26", "46", "65", "85", "a6", "c6", "e5")
LIBRARY = {"6.4": "25.5.1+c11e6492", "7.0": "26.0.2+39589fda", "7.1": "26.1.0+5df6c765"}
FULL_MHZ = 2100
BLOCKS = ("UMC", "SDMA", "GFX", "MMHUB", "PCIE_BIF", "HDP", "XGMI_WAFL")
METRICS = {
    "usage": ("-u", "--usage"),
    "power": ("-p", "--power"),
    "clock": ("-c", "--clock"),
    "temperature": ("-t", "--temperature"),
    "pcie": ("-P", "--pcie"),
    "ecc": ("-e", "--ecc"),
    "ecc_blocks": ("-k", "--ecc-blocks"),
}
STATICS = {
    "asic": ("-a", "--asic"),
    "bus": ("-b", "--bus"),
    "vbios": ("-V", "--vbios"),
    "driver": ("-d", "--driver"),
    "board": ("-B", "--board"),
    "vram": ("-v", "--vram"),
}


def bdf(device: acc.Device) -> str:
    return f"0000:{BDF[device.index]}:00.0"


def uuid(device: acc.Device) -> str:
    d = device.digest
    return f"{d[:2]}ff74a1-0000-1000-80{d[2:4]}-{d[4:16]}"


def serial(device: acc.Device) -> str:
    return f"0x{device.digest[:16].upper()}"


def quantity(value: float, unit: str) -> dict[str, Any]:
    return {"value": value, "unit": unit}


def rocm_version() -> str:
    try:
        return Path("/opt/rocm/.info/version").read_text().strip()
    except FileNotFoundError:
        return "N/A"


def versions() -> dict[str, str]:
    rocm = rocm_version()
    library = LIBRARY.get(rocm[:3], "25.5.1+c11e6492")
    driver = acc.loaded_driver() or {}
    return {
        "tool": "AMDSMI Tool",
        "version": library,
        "amdsmi_library_version": library.partition("+")[0],
        "rocm_version": rocm,
        "amdgpu_version": str(driver.get("version", "N/A")),
        "amd_hsmp_driver_version": "N/A",
    }


def static(device: acc.Device) -> dict[str, Any]:
    driver = acc.loaded_driver() or {}
    return {
        "asic": {
            "market_name": "AMD Instinct MI300X",
            "vendor_id": "0x1002",
            "vendor_name": "Advanced Micro Devices Inc. [AMD/ATI]",
            "subvendor_id": "0x1002",
            "device_id": "0x74a1",
            "subsystem_id": "0x74a1",
            "rev_id": "0x00",
            "asic_serial": serial(device),
            "oam_id": device.index,
            "num_compute_units": 304,
            "target_graphics_version": "gfx942",
        },
        "bus": {
            "bdf": bdf(device),
            "max_pcie_width": 16,
            "max_pcie_speed": quantity(32, "GT/s"),
            "pcie_interface_version": "Gen 5",
            "slot_type": "OAM",
        },
        "vbios": {
            "name": "AMD MI300X_HW_SRIOV_CVS_1VF",
            "build_date": "2024/12/18 10:55",
            "part_number": "113-M3000100-103",
            "version": "022.040.003.043.000001",
        },
        "driver": {"name": "amdgpu", "version": str(driver.get("version", "N/A"))},
        "board": {
            "model_number": "102-G30211-00",
            "product_serial": str(int(device.digest[:10], 16) % 10**12).zfill(12),
            "fru_id": "113-AMDG302110000",
            "product_name": "AMD Instinct MI300X OAM",
            "manufacturer_name": "AMD",
        },
        "vram": {"type": "HBM3", "vendor": "SAMSUNG", "size": quantity(196592, "MB"), "bit_width": 8192},
    }


def metric(device: acc.Device) -> dict[str, Any]:
    mhz = device.clock(FULL_MHZ)
    return {
        "usage": {
            "gfx_activity": quantity(0, "%"),
            "umc_activity": quantity(0, "%"),
            "mm_activity": "N/A",
        },
        "power": {
            "socket_power": quantity(138 + device.index, "W"),
            "gfx_voltage": "N/A",
            "throttle_status": "THROTTLED" if device.throttled else "UNTHROTTLED",
            "power_management": "ENABLED",
        },
        "clock": {
            "gfx_0": {
                "clk": quantity(mhz, "MHz"),
                "min_clk": quantity(132, "MHz"),
                "max_clk": quantity(FULL_MHZ, "MHz"),
                "clk_locked": "DISABLED",
                "deep_sleep": "DISABLED",
            },
            "mem_0": {
                "clk": quantity(1300, "MHz"),
                "min_clk": quantity(900, "MHz"),
                "max_clk": quantity(1300, "MHz"),
                "clk_locked": "N/A",
                "deep_sleep": "DISABLED",
            },
        },
        "temperature": {
            "edge": "N/A",
            "hotspot": quantity(device.temperature, "C"),
            "mem": quantity(device.temperature - 6, "C"),
        },
        "pcie": _pcie(),
        **_errors(device.uncorrectable),
    }


def _pcie() -> dict[str, Any]:
    return {
        "width": 16,
        "speed": quantity(32, "GT/s"),
        "bandwidth": quantity(18, "Mb/s"),
        "replay_count": 0,
        "l0_to_recovery_count": 0,
        "replay_roll_over_count": 0,
        "nak_sent_count": 0,
        "nak_received_count": 0,
        "current_bandwidth_sent": "N/A",
        "current_bandwidth_received": "N/A",
        "max_packet_size": "N/A",
        "lc_perf_other_end_recovery": 0,
    }


def _errors(bad: int) -> dict[str, Any]:
    return {
        "ecc": {
            "total_correctable_count": 0,
            "total_uncorrectable_count": bad,
            "total_deferred_count": 0,
            "cache_correctable_count": 0,
            "cache_uncorrectable_count": 0,
        },
        "ecc_blocks": {
            block: {
                "correctable_count": 0,
                "uncorrectable_count": bad if block == "GFX" else 0,
                "deferred_count": 0,
            }
            for block in BLOCKS
        },
    }


def firmware() -> list[dict[str, str]]:
    found = acc.package_file("/usr/lib/firmware/amdgpu/fleet-lab-bundle.json") or {}
    return [{"fw_id": name, "fw_version": str(version)} for name, version in found.items()]


def listing(device: acc.Device) -> dict[str, Any]:
    return {
        "gpu": device.index,
        "bdf": bdf(device),
        "uuid": uuid(device),
        "kfd_id": 21004 + 977 * device.index,
        "node_id": device.index + 2,
        "partition_id": 0,
    }


def sections(table: Mapping[str, tuple[str, ...]], args: list[str]) -> list[str]:
    """Those asked for by flag, all without one."""
    asked = [name for name, flags in table.items() if any(flag in args for flag in flags)]
    return asked or list(table)


def gpu_argument(args: list[str]) -> int | None:
    for flag in ("-g", "--gpu"):
        if flag in args and args.index(flag) + 1 < len(args) and args[args.index(flag) + 1].isdigit():
            return int(args[args.index(flag) + 1])
    return None


def human(value: Any, indent: int) -> str:
    """A value as amd-smi prints it without --json."""
    pad = "    " * indent
    if isinstance(value, dict) and set(value) == {"value", "unit"}:
        return f" {value['value']} {value['unit']}"
    if isinstance(value, dict):
        return "".join(f"\n{pad}{str(k).upper()}:{human(v, indent + 1)}" for k, v in value.items())
    if isinstance(value, list):
        return "".join(f"\n{pad}FW {i}:{human(v, indent + 1)}" for i, v in enumerate(value))
    return f" {value}"


def show(rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print(json.dumps(rows, indent=4))
        return
    for row in rows:
        rest = {key: value for key, value in row.items() if key != "gpu"}
        print(f"GPU: {row['gpu']}{human(rest, 1)}\n")


def amd_smi(args: list[str]) -> int:
    as_json = "--json" in args
    command = next((a for a in args if not a.startswith("-")), "monitor")
    if command == "version":
        v = versions()
        text = (
            f"AMDSMI Tool: {v['version']} | AMDSMI Library version: {v['amdsmi_library_version']} | "
            f"ROCm version: {v['rocm_version']} | amdgpu version: {v['amdgpu_version']} | "
            f"amd_hsmp version: {v['amd_hsmp_driver_version']}"
        )
        print(json.dumps([v], indent=4) if as_json else text)
        return 0
    if acc.loaded_driver() is None:
        print("ERROR:root:Unable to detect any GPU devices, check amdgpu version and module status "
              "(sudo modprobe amdgpu)", file=sys.stderr)  # fmt: skip
        return 255
    wanted = gpu_argument(args)
    chosen = [device for device in acc.devices() if wanted in (None, device.index)]
    if wanted is not None and not chosen:
        print(f"AMDSMI_STATUS_NOT_FOUND: Can not find a device with the corresponding identifier: {wanted}.",
              file=sys.stderr)  # fmt: skip
        return 5
    match command:
        case "list":
            show([listing(d) for d in chosen], as_json)
        case "static":
            show([{"gpu": d.index} | {s: static(d)[s] for s in sections(STATICS, args)} for d in chosen], as_json)
        case "metric":
            show([{"gpu": d.index} | {s: metric(d)[s] for s in sections(METRICS, args)} for d in chosen], as_json)
        case "firmware" | "ucode":
            show([{"gpu": d.index, "fw_list": firmware()} for d in chosen], as_json)
        case "process":
            idle = [{"process_info": "No running processes detected"}]
            show([{"gpu": d.index, "process_list": idle} for d in chosen], as_json)
        case "reset":
            acc.cure("reset", wanted)
            for device in chosen:
                print(f"GPU: {device.index}\n    RESET: Successfully reset GPU {device.index}\n")
        case "monitor":
            print("GPU  POWER  GPU_T  MEM_T  GFX_CLK  GFX%  MEM%  MEM_CLOCK")
            for d in chosen:
                print(f"{d.index:>3}  {138 + d.index:>3} W  {d.temperature:>3} C  {d.temperature - 6:>3} C  "
                      f"{d.clock(FULL_MHZ):>4} MHz   0 %   0 %   1300 MHz")  # fmt: skip
        case other:
            print(f"AMD-SMI Command: '{other}' is not a valid command.", file=sys.stderr)
            return 255
    return 0


def rocm_smi(args: list[str]) -> int:
    driver = acc.loaded_driver()
    if driver is None:
        print("cat: /sys/module/amdgpu/initstate: No such file or directory\n"
              "ERROR:root:Driver not initialized (amdgpu not found in modules)")  # fmt: skip
        return 2
    cards: dict[str, Any] = {
        f"card{device.index}": {
            "Device ID": "0x74a1",
            "Device Rev": "0x0",
            "Unique ID": serial(device).lower(),
            "VBIOS version": "113-M3000100-103",
            "Temperature (Sensor junction) (C)": f"{device.temperature}.0",
            "Temperature (Sensor memory) (C)": f"{device.temperature - 6}.0",
            "sclk clock speed:": f"({device.clock(FULL_MHZ)}Mhz)",
            "mclk clock speed:": "(1300Mhz)",
            "Current Socket Graphics Package Power (W)": f"{138 + device.index}.0",
            "GPU use (%)": "0",
            "PCI Bus": bdf(device),
            "Card Series": "AMD Instinct MI300X",
            "GFX Version": "gfx942",
        }
        for device in acc.devices()
    }
    if "--json" in args:
        print(json.dumps(cards | {"system": {"Driver version": str(driver["version"])}}))
        return 0
    print("\n============================ ROCm System Management Interface ============================")
    print(f"Driver version: {driver['version']}")
    for name, card in cards.items():
        for key, value in card.items():
            print(f"GPU[{name[4:]}]\t\t: {key}: {value}")
    print("================================== End of ROCm SMI Log ===================================")
    return 0
