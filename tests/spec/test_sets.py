"""Names in blocks: written out, spread and counted up."""

from __future__ import annotations

import pytest

from fleet.spec.sets import counted, expand, spread


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n01", ["n01"]),
        ("n[01-03]", ["n01", "n02", "n03"]),
        ("a[1-2]b[1-2]", ["a1b1", "a1b2", "a2b1", "a2b2"]),
        ("n[1,5-6],login", ["login", "n1", "n5", "n6"]),
    ],
)
def test_a_set_is_written_out(text: str, names: list[str]) -> None:
    assert sorted(expand(text)) == names


@pytest.mark.parametrize("text", ["n[1-999999999]", "n[", "n]", "@pool:train", "n*", "-rf", "", "n[1-2]!n1", "a b"])
def test_what_is_no_set_says_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match=r"; (write|narrow)"):
        expand(text)


def test_names_are_spread_evenly_and_in_order() -> None:
    assert [spread(["r1", "r2"], index, 4) for index in range(4)] == ["r1", "r1", "r2", "r2"]
    assert [spread(["r1", "r2", "r3"], index, 2) for index in range(2)] == ["r1", "r2"]


@pytest.mark.parametrize(
    ("text", "index", "made"),
    [
        ("S-{name}-{i}", 4, "S-n5-5"),
        ("10.1.0.254+", 3, "10.1.1.1"),
        ("https://10.2.0.9+", 1, "https://10.2.0.10"),
        ("https://10.2.0.9+", 0, "https://10.2.0.9"),
        ("https://10.2.0.9:8443+", 2, "https://10.2.0.11:8443"),
        ("https://[fd00::9]+", 7, "https://[fd00::10]"),
        ("fd00::ffff+", 1, "fd00::1:0"),
        ("02:00:00:00:00:ff+", 1, "02:00:00:00:01:00"),
        ("10.1.0.1", 5, "10.1.0.1"),
    ],
)
def test_each_has_its_own_text(text: str, index: int, made: str) -> None:
    assert counted(text, index, f"n{index + 1}") == made


@pytest.mark.parametrize("text", ["host+", "255.255.255.255+", "ff:ff:ff:ff:ff:ff+", "https://bmc+"])
def test_what_cannot_be_counted_says_so(text: str) -> None:
    with pytest.raises(ValueError, match="; "):
        counted(text, 1, "n1")
