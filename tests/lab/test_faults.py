"""Faults: the table is whole, what is standing is remembered, and mistakes are told in words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fleet.errors import Misuse
from fleet.lab import faults
from fleet.lab.faults import ECC_LINES, FAULTS, LOST_LINES, Order, apply, bus, standing
from fleet.lab.guest import accelerators, amd_tools, nvidia_tools
from fleet.lab.home import Home, LabState
from fleet.lab.layout import Vendor, layout
from fleet.readers.registry import READERS


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A lab on paper, last booted at `first`."""
    made = Home(tmp_path)
    LabState(6, "image", 0).write(made)
    monkeypatch.setattr(faults, "_booted", lambda container: "first")
    monkeypatch.setattr(faults, "inside", lambda *args, **kwargs: "[]")
    monkeypatch.setattr(faults, "try_inside", lambda *args, **kwargs: True)
    return made


def test_a_fault_stands_until_taken_off(home: Home) -> None:
    apply(home, Order("n01", "thermal", ("4",)))
    assert standing(home, "n01") == ["thermal"]
    apply(home, Order("n01", "thermal", off=True))
    assert standing(home, "n01") == []


def test_a_boot_cures_what_a_boot_cures(home: Home) -> None:
    apply(home, Order("n05", "lost", ("3",)))
    apply(home, Order("n05", "thermal", ("0",)))
    assert standing(home, "n05", "first") == ["lost", "thermal"]
    assert standing(home, "n05", "second") == ["thermal"]


def test_a_persistent_fault_outlives_a_boot(home: Home) -> None:
    apply(home, Order("n05", "lost", ("3",), persistent=True))
    assert standing(home, "n05", "second") == ["lost"]


def test_taking_off_without_words_means_the_ones_put_on(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    fake: Callable[..., str] = lambda *args, text="", **kwargs: written.append(text) or "[]"  # noqa: E731
    monkeypatch.setattr(faults, "inside", fake)
    apply(home, Order("n01", "thermal", ("4", "99")))
    apply(home, Order("n01", "thermal", off=True))
    assert json.loads(written[1]) == [{"kind": "thermal", "gpu": 4, "persistent": False, "value": 99}]
    assert json.loads(written[3]) == []


@pytest.mark.parametrize(
    ("order", "word"),
    [
        (Order("n01", "nonsense"), "no fault is called"),
        (Order("n99", "lost"), "no node"),
        (Order("n01", "lost", ("9",)), "no accelerator 9"),
        (Order("n01", "lost", ("left",)), "no number"),
        (Order("n01", "bmc", ("asleep",)), "no BMC fault"),
    ],
)
def test_a_mistake_is_told(home: Home, order: Order, word: str) -> None:
    with pytest.raises(Misuse, match=word):
        apply(home, order)
    assert standing(home, "n01") == []


def test_without_a_lab_there_is_nothing_to_break(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="no lab"):
        apply(Home(tmp_path), Order("n01", "lost"))


def test_every_fault_of_a_device_is_one_that_the_stand_ins_know() -> None:
    assert set(accelerators.CURED_BY) <= set(FAULTS)


def test_addresses_of_devices_are_those_that_the_tools_print() -> None:
    amd, nvidia = layout(6).nodes[0], layout(6).nodes[4]
    for device in (accelerators.Device(i, "0" * 64, {}) for i in range(8)):
        assert bus(amd, device.index) == amd_tools.bdf(device)
        assert bus(nvidia, device.index) == nvidia_tools.bus_id(device.index)[4:].lower()


@pytest.mark.parametrize("table", [LOST_LINES, ECC_LINES], ids=["lost", "ecc"])
@pytest.mark.parametrize("vendor", list(Vendor))
def test_the_kernel_lines_are_ones_that_the_products_reader_judges(
    table: dict[Vendor, Callable[[str], tuple[str, ...]]], vendor: Vendor
) -> None:
    lines = table[vendor]("0000:46:00.0")
    log = "".join(f"[ {100 + i}.000000] {line}\n" for i, line in enumerate(lines))
    reading = READERS["kernel_log"](log.encode(), {"driver": "570.133.20"})
    assert any(finding.severity == "fault" for finding in reading.findings), reading
