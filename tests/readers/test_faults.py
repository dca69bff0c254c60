"""One word for a fault, in policies, in scenarios and in what readers say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from fleet.readers.faults import fault_of, is_known, known_faults
from fleet.readers.nic_log import MESSAGES

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = sorted((ROOT / "tests" / "cases" / "decisions").glob("*.yaml"))


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ({"xid": 79}, "xid_79"),
        ({"amd": "UE"}, "ras_uncorrectable"),
        ({"amd": "POISON-K"}, "amd_poison_k"),
        ({"sxid": 12028}, "sxid_12028"),
        ({"nic": "tx_timeout"}, "nic_tx_timeout"),
        ({"event": "gpu_reset_failed"}, "gpu_reset_failed"),
    ],
)
def test_a_code_has_one_word(code: dict[str, object], fault: str) -> None:
    assert fault_of(code) == fault
    assert is_known(fault)


@pytest.mark.parametrize("word", ["xid_799", "xid79", "ras_uncorectable", "sxid_", "gpu-lost", ""])
def test_other_words_are_none(word: str) -> None:
    assert not is_known(word)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_policies_of_scenarios_name_faults_that_are_known(path: Path) -> None:
    policy = yaml.safe_load(path.read_text())["declared"].get("policy", {})
    words = [word for key in ("first_rung", "skip", "recover") for word in policy.get(key, {})]
    assert not [word for word in words if not is_known(word)]


def test_what_network_cards_and_drivers_say_is_known() -> None:
    assert not [code for _, code, _ in MESSAGES if not is_known(f"nic_{code}")]
    text = (ROOT / "fleet" / "readers" / "nvidia_log.py").read_text()
    faults = set(re.findall(r'\{"event": "(\w+)"\}, \w+, \("fault"', text))
    assert faults
    assert not [word for word in faults if not is_known(word)]


def test_every_fault_has_a_meaning() -> None:
    assert all(known_faults().values())
