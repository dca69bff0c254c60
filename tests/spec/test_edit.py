"""Edits of declared files: one value changes, everything else stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.errors import Misuse
from fleet.spec.edit import set_on_nodes, set_value

FLOW = """# pools of the site
pools:
  train: {release: amd-1, policy: default}  # the big one
  infer: {release: nv-1}
"""
BLOCK = """nodes:
  n01:
    serial: A1  # on the sticker
    rack: r1

  n02:
    serial: A2
"""


def test_a_value_in_a_flow_mapping_keeps_its_comment(tmp_path: Path) -> None:
    path = tmp_path / "pools.yaml"
    path.write_text(FLOW)
    edit = set_value(path, "pools", "train", "release", "amd-2026.2")
    assert edit.after == FLOW.replace("amd-1", "amd-2026.2")
    edit.write()
    assert path.read_text() == edit.after


def test_a_key_that_is_missing_is_added(tmp_path: Path) -> None:
    path = tmp_path / "nodes.yaml"
    path.write_text(BLOCK)
    (edit,) = set_on_nodes(tmp_path, ["n01", "n02"], "disposition", "retired")
    assert edit.after.splitlines()[3:5] == ["    rack: r1", "    disposition: retired"]
    assert edit.after.endswith("    serial: A2\n    disposition: retired\n")
    assert "# on the sticker" in edit.after
    assert edit.diff(tmp_path).startswith("--- nodes.yaml\n+++ nodes.yaml\n")


def test_a_comment_in_another_script_does_not_shift_the_place(tmp_path: Path) -> None:
    path = tmp_path / "pools.yaml"
    path.write_text("# größte Anlage 東京\n" + FLOW)
    assert "infer: {release: nv-2}" in set_value(path, "pools", "infer", "release", "nv-2").after


def test_what_is_not_there_is_misuse(tmp_path: Path) -> None:
    path = tmp_path / "pools.yaml"
    path.write_text(FLOW)
    with pytest.raises(Misuse):
        set_value(path, "pools", "nowhere", "release", "x")
