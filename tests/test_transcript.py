"""The reader of transcripts must notice what a page shows and the product no longer says."""

from __future__ import annotations

import pytest

from tools.transcript import Exchange, differs, exchanges

TEXT = """```console
$ fleet status
site lab ...
...
Needs you: nothing
$ fleet drift   # nothing
```"""


def test_exchanges() -> None:
    assert exchanges(TEXT) == (
        Exchange("fleet status", ("site lab ...", "...", "Needs you: nothing")),
        Exchange("fleet drift   # nothing", ()),
    )


@pytest.mark.parametrize(
    ("shown", "said", "differs_by"),
    [
        (["a ... c", "d"], "a b c\nd\n", ""),
        (["...", "d", "..."], "a\nb\nd\ne\n", ""),
        (["..."], "", ""),
        (["a"], "a\nb\n", "'b' is said"),
        (["a", "b"], "a\n", "'b' is not said"),
        (["...", "z"], "a\nb\n", "'z' is not said"),
        ([], "noise\n", "'noise' is said"),
        (["(1.5 x)"], "(1.5 x)\n", ""),
    ],
)
def test_differences(shown: list[str], said: str, differs_by: str) -> None:
    found = differs(shown, said)
    assert found.startswith(differs_by) if differs_by else found == ""
