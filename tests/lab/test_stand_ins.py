"""The stand-ins of the vendor tools: what they print is what the product's own readers read, healthy and broken."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fleet.lab.guest import accelerators, amd_tools, nvidia_tools
from fleet.readers.reading import Reading
from fleet.readers.registry import READERS

Print = Callable[..., str]


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A node made of three files; called again it changes."""
    for name in ("NODE", "LOADED", "FAULTS"):
        monkeypatch.setattr(accelerators, name, tmp_path / name.lower())

    def make(vendor: str, *faults: dict[str, Any], driver: str = "570.133.20", fails: tuple[int, ...] = ()) -> None:
        (tmp_path / "node").write_text(json.dumps({"name": "n05", "serial": "LAB0005", "vendor": vendor}))
        (tmp_path / "loaded").write_text(json.dumps({"module": vendor, "version": driver, "fails": list(fails)}))
        (tmp_path / "faults").write_text(json.dumps(list(faults)))

    return make


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Print:
    """What a tool printed."""

    def run(tool: Callable[[list[str]], int], *args: str) -> str:
        capsys.readouterr()
        tool(list(args))
        return capsys.readouterr().out

    return run


def read(kind: str, text: str, **context: Any) -> Reading:
    return READERS[kind](text.encode(), context)


def codes(reading: Reading) -> list[str]:
    return [json.dumps(dict(finding.code), sort_keys=True) for finding in reading.findings]


def test_a_healthy_nvidia_node_reads_as_eight_devices_without_a_finding(node: Any, said: Print) -> None:
    node("nvidia")
    xml = read("nvidia_smi_xml", said(nvidia_tools.nvidia_smi, "-q", "-x"), expected_gpus=8)
    listing = read("nvidia_smi_list", said(nvidia_tools.nvidia_smi, "-L"), expected_gpus=8)
    assert (codes(xml), codes(listing)) == ([], [])
    assert {fact.value for fact in xml.facts if fact.name == "driver"} <= {"570.133.20"}


def test_a_healthy_amd_node_reads_as_eight_devices_without_a_finding(node: Any, said: Print) -> None:
    node("amd", driver="6.14.14")
    for words in (("list",), ("static",), ("metric",), ("firmware",)):
        reading = read("amd_smi_json", said(amd_tools.amd_smi, *words, "--json"), expected_gpus=8)
        assert codes(reading) == [], words
        assert [fact.value for fact in reading.facts if fact.name == "gpu_count"] == [8]


def test_a_lost_gpu_is_missing_from_every_listing(node: Any, said: Print) -> None:
    node("nvidia", {"kind": "lost", "gpu": 3})
    assert len(said(nvidia_tools.nvidia_smi, "-L").splitlines()) == 7
    assert codes(read("nvidia_smi_xml", said(nvidia_tools.nvidia_smi, "-q", "-x"), expected_gpus=8))
    assert codes(read("nvidia_smi_table", said(nvidia_tools.nvidia_smi), expected_gpus=8))


def test_an_uncorrectable_error_is_read_from_amd_smi(node: Any, said: Print) -> None:
    node("amd", {"kind": "ecc", "gpu": 2, "value": 1})
    found = read("amd_smi_json", said(amd_tools.amd_smi, "metric", "--ecc", "--ecc-blocks", "--json"), expected_gpus=8)
    assert any("ecc" in code for code in codes(found))


def test_an_uncorrectable_error_is_read_from_nvidia_smi(node: Any, said: Print) -> None:
    node("nvidia", {"kind": "ecc", "gpu": 2, "value": 1})
    assert codes(read("nvidia_smi_xml", said(nvidia_tools.nvidia_smi, "-q", "-x"), expected_gpus=8))
    column = said(nvidia_tools.nvidia_smi, "--query-gpu=ecc.errors.uncorrected.volatile.total", "--format=csv,noheader")
    assert column.split() == ["0", "0", "1", "0", "0", "0", "0", "0"]


def test_heat_throttles_and_shows(node: Any, said: Print) -> None:
    node("nvidia", {"kind": "thermal", "gpu": 0, "value": 104})
    assert codes(read("nvidia_smi_xml", said(nvidia_tools.nvidia_smi, "-q", "-x"), expected_gpus=8))


def test_a_bad_driver_brings_up_seven_of_eight(node: Any, said: Print) -> None:
    node("amd", driver="6.16.6", fails=(7,))
    assert len(json.loads(said(amd_tools.amd_smi, "list", "--json"))) == 7


@pytest.mark.parametrize(
    ("fault", "remedy", "cured"),
    [
        ({"kind": "lost", "gpu": 1}, "reset", False),
        ({"kind": "lost", "gpu": 1}, "reboot", True),
        ({"kind": "lost", "gpu": 1, "persistent": True}, "reboot", False),
        ({"kind": "ecc", "gpu": 1}, "reset", True),
        ({"kind": "slow", "gpu": 1}, "reset", True),
        ({"kind": "hung", "gpu": -1}, "reboot", True),
        ({"kind": "thermal", "gpu": 1}, "reboot", False),
    ],
)
def test_a_remedy_cures_what_it_cures_in_life(node: Any, fault: dict[str, Any], remedy: str, cured: bool) -> None:
    node("nvidia", fault)
    accelerators.cure(remedy)
    assert (accelerators.faults() == []) is cured


def test_a_reset_of_one_device_leaves_the_others_as_they_were(node: Any) -> None:
    node("amd", {"kind": "ecc", "gpu": 1}, {"kind": "ecc", "gpu": 2})
    accelerators.cure("reset", 1)
    assert [fault["gpu"] for fault in accelerators.faults()] == [2]


def test_serials_and_uuids_are_stable_and_differ(node: Any, said: Print) -> None:
    node("nvidia")
    first = said(nvidia_tools.nvidia_smi, "-L")
    assert said(nvidia_tools.nvidia_smi, "-L") == first
    assert len({line.split("UUID: ")[1] for line in first.splitlines()}) == 8


def test_a_node_without_a_driver_says_what_a_real_one_says(node: Any, said: Print) -> None:
    node("nvidia")
    accelerators.LOADED.unlink()
    assert "couldn't communicate with the NVIDIA driver" in said(nvidia_tools.nvidia_smi)
    assert amd_tools.amd_smi(["list"]) == 255


def test_an_unknown_field_is_refused(node: Any, said: Print) -> None:
    node("nvidia")
    assert said(nvidia_tools.nvidia_smi, "--query-gpu=nonsense", "--format=csv") == (
        'Field "nonsense" is not a valid field to query.\n'
    )
