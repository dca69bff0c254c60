"""The rules of the house that import-linter can't hold: sizes, names, docstrings, lazy imports, and true pictures."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.pictures import PICTURES, README, between

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


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_in_readme_are_true(name: str) -> None:
    assert between(README.read_text(), name) == PICTURES[name](), "run: python -m tools.pictures"


def test_readme_is_short() -> None:
    assert len(README.read_text().splitlines()) <= 200


def test_readme_names_commands_that_exist() -> None:
    """Every `fleet WORD` in README is a command."""
    from typer.main import get_command

    from fleet.cli.main import app

    known = set(getattr(get_command(app), "commands", {}))
    said = set(re.findall(r"(?:`|\$ )fleet ([a-z]+)\b", README.read_text()))
    assert not said - known, f"README names commands that do not exist: {sorted(said - known)}"
