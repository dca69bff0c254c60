"""`fleet read`: kinds are guessed, packed files are read, JSON has its shape, and errors are sentences."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

from fleet.cli.main import run
from fleet.readers.guess import guess
from tests.readers.cases import CASES, Case, all_cases

SIGNALS = CASES / "signals"
# kinds that are read alike, or that no text tells apart
ALIKE = (
    {"kernel_log_nvidia", "kernel_log_amd", "kernel_log_nic", "journal"},
    {"scontrol_show_node", "scontrol_show_node_oneline"},
    {"slurmrestd_node", "slurmrestd_nodes"},
    {"sinfo_pipe", "sinfo_columns"},
)
NOT_TOLD = {"redfish_response", "redfish_error", "redfish_sensor", "redfish_processor"}  # the same answers of a BMC
FILES = [case for case in all_cases() if case.body["file"]]


@pytest.mark.parametrize("case", FILES, ids=lambda case: f"{case.area}/{case.name}")
def test_guess(case: Case) -> None:
    kind = case.body["kind"]
    found = guess(case.content)
    if kind in NOT_TOLD:
        assert found is None or found in NOT_TOLD
    elif found is None:
        assert len(case.content) < 2500, "a long input should be known"
    else:
        assert found == kind or any({found, kind} <= group for group in ALIKE)


def test_most_kinds_are_guessed() -> None:
    known = [case for case in FILES if guess(case.content) is not None]
    assert len(known) > 0.85 * len(FILES)


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["read", "kernel_log_nvidia", str(SIGNALS / "kernel_log_nvidia-xid-154.log"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == 1
    assert found["kind"] == "kernel_log_nvidia"
    assert found["findings"][0]["action"] == "reset_gpu"


def test_context_and_also(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = tmp_path / "known.yaml"
    known.write_text("driver: 550.90.07\n", encoding="utf-8")
    scrape, log = SIGNALS / "dcgm_scrape-xid-gauge-b.prom", SIGNALS / "kernel_log_nvidia-xid31-twice.log"
    assert run(["read", "dcgm_scrape", str(scrape), str(log), "--context", str(known), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["findings"][0]["count"] == 2


def test_packed_and_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed = gzip.compress((SIGNALS / "kernel_log_nvidia-xid-fields.log").read_bytes())
    for name, content in (("whole.gz", packed), ("cut.gz", packed[: len(packed) * 3 // 4])):
        (tmp_path / name).write_bytes(content)
        assert run(["read", str(tmp_path / name)]) == 0
        assert "xid 13" in capsys.readouterr().out


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    raw = io.BytesIO((SIGNALS / "nvidia_smi_list-seven-of-eight.txt").read_bytes())
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(raw))
    assert run(["read", "-"]) == 0
    assert "gpu_count" in capsys.readouterr().out


def test_control_characters_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["read", "kernel_log", str(SIGNALS / "adversarial-encodings.log")]) == 0
    assert not {"\x00", "\x1f", "\x1b"} & set(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no-such-file"], "No such file"),
        (["{unknown}"], "no reader knows this kind"),
        (["kernel_log", "nothing"], "No such file"),
    ],
)
def test_misuse(arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unknown = tmp_path / "unknown.txt"
    unknown.write_text("hello\n", encoding="utf-8")
    assert run(["read", *(word.format(unknown=unknown) for word in arguments)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "next:" in error
