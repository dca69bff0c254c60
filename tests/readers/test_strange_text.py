"""No text makes a reader raise, and no reading holds what a terminal or a JSON parser would choke on."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet.readers import registry
from fleet.readers.guess import guess
from fleet.readers.reading import Beside
from tests.readers.cases import Case, all_cases

CASES = tuple(case for case in all_cases() if case.body["file"])
JUNK = st.sampled_from(
    [
        b"\x00",
        b"\xff\xfe",
        b"\x1b[31m",
        b"\r\n",
        b"\n",
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b"null",
        b"N/A",
        b"NaN",
        b"1e999",
        b"-1",
        b"9" * 400,
        b"<!ENTITY a 'b'>",
        b"\xe2\x80\xa8",
        b"=",
        b"|",
        b"State=",
        b"0x",
        b"((((",
        b"GPU 0",
        b"\t",
        b" " * 50,
    ]
)


@st.composite
def mutated(draw: st.DrawFn) -> tuple[Case, bytes]:
    """The input of a case, cut, spliced, doubled or sprinkled with junk."""
    case = draw(st.sampled_from(CASES))
    content = case.content
    for _ in range(draw(st.integers(1, 4))):
        at, end = sorted((draw(st.integers(0, len(content))), draw(st.integers(0, len(content)))))
        match draw(st.sampled_from(("cut", "drop", "double", "junk", "flip"))):
            case "cut":
                content = content[:at]
            case "drop":
                content = content[:at] + content[end:]
            case "double":
                content = content[:end] + content[at:end][:2000] + content[end:]
            case "junk":
                content = content[:at] + draw(JUNK) + content[at:]
            case _:
                content = content[:at] + draw(st.binary(min_size=1, max_size=3)) + content[at + 1 :]
    return case, content


def readable(kind: str, content: bytes, context: dict[str, object], also: tuple[Beside, ...] = ()) -> str:
    """The reading as JSON that any parser takes."""
    reading = registry.read(kind, content, context, also)
    return json.dumps(reading.as_json(), allow_nan=False)


@settings(max_examples=600, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(mutated())
def test_mutated_inputs(given_: tuple[Case, bytes]) -> None:
    case, content = given_
    readable(case.body["kind"], content, case.context, case.also)
    guess(content)


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(CASES), st.sampled_from(sorted(registry.READERS)))
def test_the_wrong_reader(case: Case, kind: str) -> None:
    readable(kind, case.content, case.context, case.also)


@pytest.mark.parametrize("kind", sorted(registry.READERS))
@pytest.mark.parametrize(
    "content", [b"", b"\n", b"\x00" * 10, b"[]", b"{}", b"null", b"[[[[", b'{"error": 3}', b"[1, 2]", b'"x"']
)
def test_next_to_nothing(kind: str, content: bytes) -> None:
    readable(kind, content, {})


@pytest.mark.parametrize("kind", sorted(registry.READERS))
def test_nothing_is_never_healthy(kind: str) -> None:
    """An empty answer is a gap, never the fact that all is well."""
    reading = registry.read(kind, b"", {})
    logs = ("kernel_log", "fabric_manager_log", "journal")
    assert reading.gaps or reading.findings or kind.startswith(logs)


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(CASES),
    st.dictionaries(
        st.sampled_from(
            [
                "driver",
                "year",
                "boot",
                "time_zone",
                "expected",
                "read_at",
                "expected_uuids",
                "columns",
                "command",
                "our_reason_pattern",
                "nvlink_topology",
                "exit_status",
                "previous_counts",
            ]
        ),
        st.one_of(st.none(), st.integers(), st.text(max_size=20), st.lists(st.integers(), max_size=3), st.booleans()),
    ),
)
def test_strange_contexts(case: Case, context: dict[str, object]) -> None:
    readable(case.body["kind"], case.content, context, case.also)


LONG = 8192
LONG_LINES = (
    "a" + " " * LONG + "b",
    "/P" * (LONG // 2),
    "0x" * (LONG // 2),
    "[ 1.000001] NVRM: Xid (PCI:0000:00:00): 145, " + "A_" * (LONG // 2),
    "NVRM: Xid (PCI:0000:00:00): 31, pid=1, name=" + ", " * (LONG // 2),
    "GPU 00000000:2C:00.0\n    a" + " " * LONG + "b",
    "Security:\n\t" + " " * LONG + "x",
    "NodeName=a Reason=" + "[a@2026-01-01T00:00:00] " * (LONG // 24),
    "[" * LONG,
)


@pytest.mark.parametrize("kind", sorted(registry.READERS))
def test_long_lines_do_not_cost_their_square(kind: str) -> None:
    begun = time.perf_counter()
    for text in LONG_LINES:
        readable(kind, text.encode(), {})
    assert time.perf_counter() - begun < 4


def test_yaml_that_holds_more_than_it_is_long_is_refused() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{chr(98 + at)}: &{chr(98 + at)} [*{chr(97 + at)}, *{chr(97 + at)}]\n" for at in range(20)
    )
    for kind in ("netbox_device_type", "topology_model"):
        assert registry.read(kind, f"{bomb}interfaces: *u\nblocks: *u\n".encode(), {}).gaps
