"""Everything that `make test` runs, part by part, each with a budget of minutes that is printed and checked.

A part that fails fails the whole, and so does one that needs half more than its budget; less than that is said.
The parts after it run all the same, so that one run tells everything. Counts come from the JUnit files that pytest
writes. The last line is the sum, for people and for CI. Nothing runs in virtual machines yet; their minutes are spent
on the tests of the lab itself.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

from tools.containers import why_not

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / ".fleet" / "test"
QUICK = "not acceptance and not pulumi and not soak"
ON_LAB = "acceptance and not pulumi and not soak"
SPREAD = ("-n", "2", "--dist", "worksteal")
GRACE = 1.5  # machines differ; the table says what was over
SLOW_FOLDERS = ("tests/properties", "tests/scenarios")


@dataclass(frozen=True, slots=True)
class Part:
    """Some commands, run in order until one fails, and the minutes they may take together."""

    name: str
    minutes: float
    commands: tuple[tuple[str, ...], ...]
    containers: bool = False


@dataclass(frozen=True, slots=True)
class Count:
    """Tests by how they ended."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a part went."""

    part: Part
    seconds: float
    count: Count
    trouble: str = ""


def pytest(report: str, *more: str) -> tuple[str, ...]:
    """A pytest run whose counts are kept under the name `report`."""
    return ("python", "-m", "pytest", "-q", f"--junitxml={REPORTS / report}.xml", *more)


def parts() -> tuple[Part, ...]:
    """What `make test` is made of. Molecule's scenarios count as one test each."""
    ignored = tuple(f"--ignore={folder}" for folder in SLOW_FOLDERS)
    lint = (("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy",), ("lint-imports",))
    molecule = tuple(
        ("molecule", "test", "--scenario-name", found.parent.name)
        for found in sorted((ROOT / "molecule").glob("*/molecule.yml"))
    )
    return (
        Part("lint, types, imports, unit", 4, (*lint, pytest("unit", *SPREAD, "-m", QUICK, *ignored, "tests"))),
        Part("properties and scenarios", 5, (pytest("properties", *SPREAD, "-m", QUICK, *SLOW_FOLDERS),)),
        Part("Pulumi", 7, (pytest("pulumi", "-m", "pulumi and not soak", "tests"),), containers=True),
        Part("lab acceptance", 14, (pytest("acceptance", "-m", ON_LAB, "tests", "--ignore=tests/lab"),), True),
        Part("the lab itself", 6, (pytest("lab", "-m", ON_LAB, "tests/lab"),), True),
        Part("Molecule", 8, molecule, containers=True),
    )


def counted(report: Path) -> Count:
    """The counts of one JUnit file; nothing where pytest didn't get as far as writing it."""
    if not report.exists():
        return Count()
    total = Count()
    for suite in ElementTree.parse(report).getroot().iter("testsuite"):
        tests, skipped = int(suite.get("tests", 0)), int(suite.get("skipped", 0))
        failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        total += Count(tests - failed - skipped, failed, skipped)
    return total


def call(command: tuple[str, ...], until: float) -> int:
    """The exit code of a command; at `until` (monotonic seconds) its whole process group is ended."""
    path = f"{Path(sys.executable).parent}:{ROOT / '.fleet' / 'bin'}:{os.environ.get('PATH', '')}"
    running = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, env={**os.environ, "PATH": path}, start_new_session=True
    )
    try:
        return running.wait(max(until - time.monotonic(), 1))
    except subprocess.TimeoutExpired:
        print("error: stopped at twice its budget", flush=True)
        return 124
    finally:
        if running.poll() is None:
            end(running)


def end(running: subprocess.Popen[bytes]) -> None:
    """Ask a process group to end, and make it after ten seconds."""
    os.killpg(running.pid, signal.SIGTERM)
    try:
        running.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()


def run(part: Part, no_containers: str) -> Ended:
    """One part, its commands shown as they run."""
    if not part.commands:
        return Ended(part, 0, Count(), "nothing there yet")
    if part.containers and no_containers:
        return Ended(part, 0, Count(skipped=1), f"not run: {no_containers}")
    began = time.monotonic()
    count, trouble = Count(), ""
    for command in part.commands:
        print(f"$ {' '.join(command)}", flush=True)
        code = call(command, began + part.minutes * 120)
        reports = [Path(word.partition("=")[2]) for word in command if word.startswith("--junitxml=")]
        found = counted(reports[0]) if reports else Count()
        if command[0] == "molecule":
            found = Count(passed=int(code == 0), failed=int(code != 0))
        count += found
        if code != 0:
            trouble = f"`{' '.join(command[:4])}` ended with {code}"
            count += Count(failed=int(found.failed == 0))
            break
    seconds = time.monotonic() - began
    if not trouble and seconds > part.minutes * 60:
        over = seconds > part.minutes * 60 * GRACE
        trouble, count = "over its budget", count + Count(failed=int(over))
    return Ended(part, seconds, count, trouble)


def table(results: list[Ended]) -> str:
    """Minutes used against the budget, by part."""
    rows = [f"{'part':28}{'minutes':>9}{'budget':>8}{'passed':>8}{'failed':>8}{'skipped':>9}"]
    for r in results:
        rows.append(
            f"{r.part.name:28}{r.seconds / 60:9.1f}{r.part.minutes:8.0f}"
            f"{r.count.passed:8}{r.count.failed:8}{r.count.skipped:9}  {r.trouble}".rstrip()
        )
    return "\n".join(rows)


def main() -> int:
    """Run all parts, or those whose name holds a word given."""
    REPORTS.mkdir(parents=True, exist_ok=True)
    for old in REPORTS.glob("*.xml"):
        old.unlink()
    words = [word.lower() for word in sys.argv[1:]]
    chosen = [p for p in parts() if not words or any(word in p.name.lower() for word in words)]
    no_containers = why_not()
    if no_containers and os.environ.get("CI"):
        print(f"error: no containers here: {no_containers}\nnext:  CI runs as root on Debian", file=sys.stderr)
        return 1
    results: list[Ended] = []
    for part in chosen:
        print(f"\n== {part.name} (budget: {part.minutes:g} minutes)", flush=True)
        results.append(run(part, no_containers))
        print(f"== {part.name}: {results[-1].seconds / 60:.1f} minutes {results[-1].trouble}".rstrip(), flush=True)
    total = sum((r.count for r in results), Count())
    print(f"\n{table(results)}\n\n{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
