"""The probe's document as a partial NodeSeen: what was measured, and a gap for what was not."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.model.health import Severity
from fleet.model.ids import NodeId
from fleet.readers.probe import Carried, read

N1 = NodeId("n01")
NOW = 1796072344.0
AT = 1796072300_000000
XID_79 = "NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."


def outcome(stdout: Any = "", code: int | None = 0, *, timed_out: bool = False, stderr: str = "") -> dict[str, Any]:
    text = stdout if isinstance(stdout, str) else json.dumps(stdout)
    return {"argv": [], "timed_out": timed_out, "exit_code": code, "stdout": text, "stderr": stderr}


def amd(count: int = 8, *, errors: Any = 0, celsius: Any = 40) -> dict[str, Any]:
    heat = {"edge": "N/A", "hotspot": {"value": celsius, "unit": "C"}}
    rows = [{"gpu": n, "ecc": {"total_uncorrectable_count": errors}, "temperature": heat} for n in range(count)]
    version = [{"rocm_version": "7.0.2", "amdgpu_version": "6.14.14"}]
    return {"amd-smi version": outcome(version), "amd-smi metric": outcome(rows)}


def nvidia(body: str) -> dict[str, Any]:
    head = '<?xml version="1.0"?><!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd"><nvidia_smi_log>'
    versions = "<driver_version>580.95.05</driver_version><cuda_version>13.0</cuda_version>"
    return {"nvidia-smi": outcome(f"{head}{versions}{body}</nvidia_smi_log>")}


GPU = (
    '<gpu id="00000000:1B:00.0"><ecc_errors><volatile><sram_uncorrectable_parity>{errors}</sram_uncorrectable_parity>'
    "<dram_uncorrectable>0</dram_uncorrectable></volatile></ecc_errors>"
    "<temperature><gpu_temp>{celsius}</gpu_temp></temperature></gpu>"
)


def document(**more: Any) -> dict[str, Any]:
    return {
        "boot": "b/22", "serial": "LAB0001", "kernel": "6.8", "now": NOW, "packages": {"rocm-core": "7"}, "log": [],
        "tools": amd(), "processes": [], "lock": {}, "token": "0", "gaps": [],
    } | more  # fmt: skip


def test_a_healthy_node_has_no_gaps_and_no_signals() -> None:
    seen, _ = read(N1, document(), Carried())
    assert (seen.reachable, seen.boot, seen.serial, seen.accelerators) == (True, "b/22", "LAB0001", 8)
    assert seen.shown == {"rocm": "7.0.2", "driver": "6.14.14"}
    assert (seen.signals, seen.gaps) == ((), ())


def test_nvidia_alike() -> None:
    seen, _ = read(N1, document(tools=nvidia(GPU.format(errors=0, celsius="44 C") * 2)), Carried())
    assert seen.shown == {"driver": "580.95.05", "cuda": "13.0"}
    assert (seen.accelerators, seen.signals, seen.gaps) == (2, (), ())


@pytest.mark.parametrize(
    ("tools", "what", "device"),
    [
        (amd(1, errors=1), "ras_uncorrectable", "gpu:0"),
        (amd(1, celsius=108), "gpu_overheat", "gpu:0"),
        (nvidia(GPU.format(errors=3, celsius="44 C")), "ecc_uncorrectable", "0000:1b:00.0"),
    ],
)
def test_what_a_tool_shows_is_a_signal(tools: dict[str, Any], what: str, device: str) -> None:
    seen, _ = read(N1, document(tools=tools), Carried())
    assert [(signal.what, signal.device) for signal in seen.signals] == [(what, device)]


@pytest.mark.parametrize(
    ("tools", "gap"),
    [
        pytest.param({}, "accelerators", id="no tool at all"),
        pytest.param({"nvidia-smi": outcome(code=255, stderr="no devices")}, "nvidia-smi", id="tool fails"),
        pytest.param({"nvidia-smi": outcome("")}, "nvidia-smi", id="empty behind exit 0"),
        pytest.param({"nvidia-smi": outcome("<!DOCTYPE x [<!ENTITY a 'b'>]><x/>")}, "nvidia-smi", id="entities"),
        pytest.param({"amd-smi metric": outcome("[{]")}, "amd-smi metric", id="cut off"),
        pytest.param(amd(1, errors="N/A"), "gpu:0 uncorrectable errors", id="N/A is not 0"),
        pytest.param(amd(1, celsius=2112), "gpu:0 temperature", id="impossible reading"),
    ],
)
def test_what_was_not_measured_is_a_gap_and_no_signal(tools: dict[str, Any], gap: str) -> None:
    seen, _ = read(N1, document(tools=tools), Carried())
    assert gap in [found.what for found in seen.gaps]
    assert seen.signals == ()


def test_a_tool_that_hangs_twice_in_a_row_is_a_fault_and_once_is_a_busy_machine() -> None:
    hung = document(tools={"nvidia-smi": outcome(code=None, timed_out=True)})
    first, carried = read(N1, hung, Carried())
    assert first.signals == ()
    second, _ = read(N1, hung, carried)
    assert [signal.what for signal in second.signals] == ["nvidia_smi_hung"]


def test_a_hung_tool_leaves_the_number_of_accelerators_unknown() -> None:
    tools = {"amd-smi metric": outcome(code=None, timed_out=True)}
    assert read(N1, document(tools=tools), Carried())[0].accelerators is None


class TestKernelLog:
    def test_a_line_is_a_signal_at_its_own_time(self) -> None:
        seen, _ = read(N1, document(log=[["c1", AT, XID_79]]), Carried())
        (signal,) = seen.signals
        assert (signal.what, signal.severity, signal.device) == ("xid_79", Severity.FATAL, "0000:1b:00.0")
        assert signal.at == datetime.fromtimestamp(AT / 1e6, UTC)

    def test_it_is_told_again_at_each_look_of_the_same_boot_and_no_longer_after_the_next(self) -> None:
        seen, carried = read(N1, document(log=[["c1", AT, XID_79]]), Carried())
        again, carried = read(N1, document(log=[]), carried)
        assert (carried.cursor, again.signals) == ("c1", seen.signals)
        after, carried = read(N1, document(boot="b/99", log=[]), carried)
        assert (after.signals, carried.cursor) == ((), "")

    def test_the_last_of_many_lines_gives_the_time(self) -> None:
        lines = [["c1", AT, XID_79], ["c2", AT + 5_000000, XID_79]]
        (signal,) = read(N1, document(log=lines), Carried())[0].signals
        assert signal.at == datetime.fromtimestamp(AT / 1e6 + 5, UTC)

    def test_a_log_that_could_not_be_read_forgets_nothing(self) -> None:
        seen, carried = read(N1, document(log=[["c1", AT, XID_79]]), Carried())
        gap = {"what": "kernel log", "why": "journalctl gave no answer"}
        again, _ = read(N1, document(log=None, gaps=[gap]), carried)
        assert again.signals == seen.signals
        assert "kernel log" in [found.what for found in again.gaps]


def test_the_lock_the_token_and_who_works_there() -> None:
    more = {"lock": {"order": "o-9", "pid": 4}, "token": "17", "processes": [["step", 7, "slurmstepd"]]}
    seen, _ = read(N1, document(**more), Carried())
    assert (seen.lock, seen.token, seen.holders) == ("o-9", 17, ("step slurmstepd (pid 7)",))


@pytest.mark.parametrize("serial", ["", "Default string", "To Be Filled By O.E.M."])
def test_a_board_that_names_no_serial(serial: str) -> None:
    seen, _ = read(N1, document(serial=serial), Carried())
    assert (seen.serial, [gap.what for gap in seen.gaps]) == ("", ["serial"])


def test_a_token_that_cannot_be_read_is_a_gap() -> None:
    seen, _ = read(N1, document(token="x"), Carried())
    assert (seen.token, [gap.what for gap in seen.gaps]) == (0, ["fencing token"])


@given(st.text(max_size=200), st.sampled_from(["amd-smi version", "amd-smi metric", "nvidia-smi"]))
def test_strange_text_of_a_tool_never_raises(text: str, tool: str) -> None:
    seen, _ = read(N1, document(tools={tool: outcome(text)}), Carried())
    assert seen.gaps or tool == "amd-smi metric"


KEYS = st.sampled_from(["gpu", "ecc", "temperature", "hotspot", "gpu_data"])
LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3))


@given(JSON, st.sampled_from(["amd-smi version", "amd-smi metric"]))
def test_strange_json_of_a_tool_never_raises(value: Any, tool: str) -> None:
    read(N1, document(tools={tool: outcome(value)}), Carried())
