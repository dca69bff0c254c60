"""The lab's releases as a table: per vendor two good ones and one that installs well and shows 7 of 8 devices.

Version strings are real ones; what the packages hold is tiny and of the lab's making. AMD counts in three
lines: the package carries the driver's number (30.10.2 as 30100200), the module another (6.14.14, which the tools
print), ROCm a third.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from fleet.lab.layout import Vendor


@dataclass(frozen=True, slots=True)
class LabPackage:
    """One Debian package: its name, version, the part of the stack that it is, and the files in it."""

    name: str
    version: str
    part: str
    depends: str
    files: tuple[tuple[str, str], ...]

    @property
    def file_name(self) -> str:
        """As apt names it: the epoch is not in it."""
        return f"{self.name}_{self.version.partition(':')[2] or self.version}_amd64.deb"


@dataclass(frozen=True, slots=True)
class LabRelease:
    """One pinned bundle; `shows` is what the node's tools print once it runs."""

    name: str
    serial: int
    vendor: Vendor
    shows: tuple[tuple[str, str], ...]
    packages: tuple[LabPackage, ...]


def _driver_file(module: str, version: str, fails: tuple[int, ...]) -> tuple[str, str]:
    content = {"module": module, "version": version, "fails": list(fails)}
    return "usr/lib/fleet-lab-driver/driver.json", json.dumps(content)


def _amd(
    name: str,
    serial: int,
    *,
    module: str,
    driver: str,
    rocm: str,
    rocm_package: str,
    bundle: str,
    fails: tuple[int, ...] = (),
) -> LabRelease:
    firmware = {"CP_MEC1": "179", "SMC": "04.85.120.01", "PLDM_BUNDLE": bundle}
    packages = (
        LabPackage(
            "amdgpu-dkms", driver, "driver", "amd-gpu-firmware",
            (
                _driver_file("amdgpu", module, fails),
                (f"usr/src/amdgpu-{module}/dkms.conf", f'PACKAGE_VERSION="{module}"\n'),
            ),
        ),
        LabPackage("rocm-core", rocm_package, "rocm", "", (("opt/rocm/.info/version", rocm + "\n"),)),
        LabPackage(
            "amd-gpu-firmware", f"{bundle}-1", "firmware", "",
            (("usr/lib/firmware/amdgpu/fleet-lab-bundle.json", json.dumps(firmware)),),
        ),
    )  # fmt: skip
    return LabRelease(name, serial, Vendor.AMD, (("driver", module), ("rocm", rocm)), packages)


def _nvidia(name: str, serial: int, *, driver: str, cuda: str, fails: tuple[int, ...] = ()) -> LabRelease:
    version_json = {"cuda": {"name": "CUDA SDK", "version": cuda}}
    packages = (
        LabPackage(
            "nvidia-driver", f"{driver}-1", "driver", f"nvidia-gpu-firmware (= {driver}-1)",
            (_driver_file("nvidia", driver, fails),),
        ),
        LabPackage(
            "cuda-runtime", f"{cuda}-1", "cuda", "",
            (("usr/local/cuda/version.json", json.dumps(version_json)),),
        ),
        LabPackage(
            "nvidia-gpu-firmware", f"{driver}-1", "firmware", "",
            ((f"usr/lib/firmware/nvidia/{driver}/gsp_ga10x.bin", f"stand-in for GSP firmware {driver}\n"),),
        ),
    )  # fmt: skip
    shows = (("driver", driver), ("cuda", ".".join(cuda.split(".")[:2])))
    return LabRelease(name, serial, Vendor.NVIDIA, shows, packages)


RELEASES = (
    _amd(
        "amd-2026.1", 1, module="6.12.12", driver="1:6.12.12.60403-2194681.24.04",
        rocm="6.4.3", rocm_package="6.4.3.60403-128~24.04", bundle="01.25.02.04",
    ),
    _amd(
        "amd-2026.2", 2, module="6.14.14", driver="1:6.14.14.30100200-2226257.24.04",
        rocm="7.0.2", rocm_package="7.0.2.70002-56~24.04", bundle="01.25.03.12",
    ),
    _amd(
        "amd-2026.3-bad", 3, module="6.16.6", driver="1:6.16.6.30200000-2238411.24.04",
        rocm="7.1.0", rocm_package="7.1.0.70100-20~24.04", bundle="01.25.03.12", fails=(7,),
    ),
    _nvidia("nvidia-2026.1", 1, driver="570.133.20", cuda="12.8.1"),
    _nvidia("nvidia-2026.2", 2, driver="580.95.05", cuda="13.0.2"),
    _nvidia("nvidia-2026.3-bad", 3, driver="590.48.01", cuda="13.1.1", fails=(7,)),
)  # fmt: skip


def release(name: str) -> LabRelease:
    """The release of that name."""
    return next(one for one in RELEASES if one.name == name)


def packages() -> tuple[LabPackage, ...]:
    """Every package of every release, once."""
    return tuple({(p.name, p.version): p for one in RELEASES for p in one.packages}.values())
