"""`fleet check --cost` and `--what-if`: what a declaration costs, and two of them side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fleet.cli.main import run
from tests.spec.sites import FILES, write

NODES = """nodes:
  g[01-{count}]: {{model: Box, pool: train, rack: "r[1-2]", serial: "S{{i}}", address: 10.0.1.1+, bmc: https://10.0.2.1+}}
"""
MODELS = "models:\n  Box: {units: 4, accelerators: 8, accelerator: MI300X, power: 10 kW, price: 300000}\n"
ECONOMY = "economy: {energy_price: 0.12, pue: 1.3, staff_per_month: 6000, life: 4 years, utilisation: 80 %}\n"


def site(tmp_path: Path, count: int, **more: str) -> Path:
    files = {"nodes.yaml": NODES.format(count=f"{count:02d}"), "models.yaml": MODELS}
    files["site.yaml"] = FILES["site.yaml"] + ECONOMY
    return write(tmp_path, {**files, **{f"{name}.yaml": text for name, text in more.items()}})


def test_cost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--cost", str(site(tmp_path, 4))]) == 0
    text = capsys.readouterr().out
    assert "pool train: 32 x MI300X in 4 nodes" in text
    assert "37,500 USD each / (4 years x 8,760 h)" in text
    assert "azure Standard_ND96isr_MI300X_v5" in text


def test_cost_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--cost", "--json", str(site(tmp_path, 4))]) == 0
    found = json.loads(capsys.readouterr().out)
    (pool,) = found["pools"]
    assert (found["schema"], found["kind"]) == (1, "cost")
    # 37,500 / 35,040 + 1.25 x 1.3 x 0.12 + 6,000 / (32 x 730)
    assert pool["owned"]["per_accelerator_hour"] == pytest.approx(1.070205 + 0.195 + 0.256849, abs=1e-6)
    assert {"price_date", "source", "confidence"} <= set(pool["hired"][0])


def test_what_if(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here, there = site(tmp_path / "a", 4), site(tmp_path / "b", 8)
    assert run(["check", str(here), "--what-if", str(there)]) == 0
    assert "+32" in capsys.readouterr().out
    assert run(["check", str(here), "--what-if", str(there), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["now"]["accelerators"], found["then"]["accelerators"]) == (32, 64)


def test_what_if_with_new_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here = site(tmp_path / "a", 4)
    there = site(tmp_path / "b", 4, policy="policies:\n  default:\n    budget: {pool: 10%}\n")
    assert run(["check", str(here), "--what-if", str(there)]) == 3
    assert "policy-budget-never" in capsys.readouterr().out
    assert run(["check", str(there), "--what-if", str(here)]) == 0


def test_what_cannot_be_read_has_no_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = site(tmp_path / "a", 4, pools="pools: 3\n")
    assert run(["check", "--cost", str(broken)]) == 3
    assert "pools must be a mapping" in capsys.readouterr().out
    assert run(["check", str(site(tmp_path / "b", 4)), "--what-if", str(broken)]) == 3
    assert run(["check", str(site(tmp_path / "c", 4)), "--what-if", str(tmp_path / "nowhere")]) == 2
