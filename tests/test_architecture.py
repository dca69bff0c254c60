"""The rules of the house that import-linter can't hold: sizes, names, docstrings, lazy imports, and true pictures."""

from __future__ import annotations

import ast
import configparser
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "fleet"
APART = (PACKAGE / "provider" / "proto", PACKAGE / "adapters" / "ledger_sql" / "migrations")  # generated; history
MOST_LINES = 400
MOST_FUNCTION_LINES = 50
VAGUE = ("Manager", "Helper", "Util", "Utils", "Handler", "Service", "Base")
HEAVY = (
    "alembic", "ansible", "ansible_runner", "ClusterShell", "cryptography", "google.protobuf", "grpc", "paramiko",
    "pulumi", "pydantic", "pydantic_settings", "sqlalchemy", "structlog", "sushy", "tenacity",
)  # fmt: skip
BEGIN, END = "<!-- {}: begin -->", "<!-- {}: end -->"


def modules() -> list[Path]:
    """Every module of the product but generated ones and migrations."""
    return sorted(path for path in PACKAGE.rglob("*.py") if not set(APART) & set(path.parents))


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_module(path: Path) -> None:
    text = path.read_text()
    tree = ast.parse(text)
    assert len(text.splitlines()) <= MOST_LINES, "split it by what it knows"
    assert ast.get_docstring(tree) or not text.strip(), "say what lives here"
    long = [f.name for f in functions(tree) if (f.end_lineno or 0) - f.lineno + 1 > MOST_FUNCTION_LINES]
    assert not long, f"functions over {MOST_FUNCTION_LINES} lines: {long}"
    classes = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    vague = [c for c in classes if c.strip("_").endswith(VAGUE)]
    vague += [f.name for f in functions(tree) if re.search(r"(^|_)(handler|helper|util|utils|manager)$", f.name)]
    assert not vague, f"names that say nothing: {vague}"


def packages() -> list[Path]:
    return [path for path in modules() if path.name == "__init__.py"]


@pytest.mark.parametrize("path", packages(), ids=name_of)
def test_package_says_what_lives_in_it(path: Path) -> None:
    words = ast.get_docstring(ast.parse(path.read_text())) or ""
    assert len(words) > 40, "what lives here, what may not, one reason"


def test_every_module_mirrors_into_a_package_of_tests() -> None:
    top = {path.name for path in PACKAGE.iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    tests = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()}
    elsewhere = {"facts", "model", "feasibility"}  # read through those who use them
    assert not top - tests - elsewhere, "packages without a folder of tests"


def test_help_imports_nothing_heavy() -> None:
    """`fleet --help` must be quick: what it imports is listed here, and none of it is a vendor's library."""
    program = (
        "import sys, json\n"
        "sys.argv = ['fleet', '--help']\n"
        "from fleet.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print('\\n' + json.dumps(sorted(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = json.loads(done.stdout.strip().splitlines()[-1])
    heavy = [name for name in loaded if name in HEAVY or name.startswith(tuple(f"{h}." for h in HEAVY))]
    assert not heavy, f"import these where they are used: {heavy[:10]}"


def between(text: str, name: str) -> str:
    """What stands between the markers of a picture in a page."""
    begin, end = BEGIN.format(name), END.format(name)
    assert begin in text, f"the marker before {name!r} is gone"
    assert end in text, f"the marker after {name!r} is gone"
    return text.partition(begin)[2].partition(end)[0].strip("\n")


def layers() -> list[str]:
    """The layers, top to bottom, as the import contract holds them."""
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    rows = contracts["importlinter:contract:layers"]["layers"].split()
    return [row.strip("()") for row in rows]


def first_sentence(layer: str) -> str:
    """What the docstring of a package or module says first."""
    place = PACKAGE / layer / "__init__.py"
    text = (place if place.exists() else PACKAGE / f"{layer}.py").read_text()
    return (ast.get_docstring(ast.parse(text)) or "").splitlines()[0].rstrip(".;:")


def picture() -> str:
    """The house as README shows it: one row per layer that exists, in the order of the contract."""
    there = [layer for layer in layers() if (PACKAGE / layer).exists() or (PACKAGE / f"{layer}.py").exists()]
    return "\n".join(["```text", *(f"{layer:<12} {first_sentence(layer)}"[:118] for layer in there), "```"])


def test_picture_of_the_house_is_true() -> None:
    assert between((ROOT / "README.md").read_text(), "house") == picture(), f"README should show:\n{picture()}"


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 200


def test_readme_names_commands_that_exist() -> None:
    """Every `fleet WORD` in README is a command."""
    from typer.main import get_command

    from fleet.cli.main import app

    known = set(getattr(get_command(app), "commands", {}))
    said = set(re.findall(r"(?:^|[`$ (])fleet ([a-z]+)\b", (ROOT / "README.md").read_text(), flags=re.MULTILINE))
    assert not said - known, f"README names commands that do not exist: {sorted(said - known)}"


PLACES = re.compile(r"(?<![\w.])/(?:root|home/\w+|work)/|://[^\s\"']*(?:pypi|golang|npmjs|crates|maven)\b")


def test_no_place_of_a_machine_in_any_file() -> None:
    """No path of one machine, no address of a package registry (the lock file, made by its tool, names its sources)."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    bad = []
    for name in listed:
        path = ROOT / name
        if name in ("uv.lock", "tests/test_architecture.py") or name.startswith("tests/cases/") or not path.is_file():
            continue
        text = path.read_bytes().decode(errors="replace")
        bad += [f"{name}: {found.group(0)}" for found in PLACES.finditer(text)]
    assert not bad, bad[:10]
