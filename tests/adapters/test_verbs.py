"""The verbs' programs, run as the node's door runs them, against tools that are small scripts in a directory."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

VERBS = Path(__file__).parents[2] / "playbooks" / "node" / "verbs"


def run(verb: str, arguments: Mapping[str, Any], tools: Path | None = None) -> tuple[int, dict[str, Any]]:
    """A program's exit code and its word."""
    path = f"{tools}:/usr/bin:/bin" if tools else "/usr/bin:/bin"
    done = subprocess.run(
        [sys.executable, "-I", "-S", VERBS / f"{verb}.py"],
        input=json.dumps(arguments),
        capture_output=True,
        text=True,
        timeout=60,
        env=dict(os.environ, PATH=path),
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout.splitlines()[-1])


def tool(directory: Path, name: str, script: str) -> None:
    file = directory / name
    file.write_text("#!/bin/sh\n" + script)
    file.chmod(0o755)


class TestWipe:
    """never 9: what is certified was read back, and is called what it was."""

    def test_a_disk_is_overwritten_and_read_back(self, tmp_path: Path) -> None:
        disk = tmp_path / "disk0.img"
        disk.write_bytes(b"tenant data " * 400_000)
        code, said = run("wipe", {"disks": [str(disk)], "samples": 64})
        (report,) = json.loads(said["shown"]["wipe"])
        assert code == 0
        assert disk.read_bytes().strip(b"\0") == b""
        assert (report["grade"], report["verified"], report["had_data"]) == ("clear", True, True)
        assert report["bytes"] == disk.stat().st_size
        assert report["verification"]["samples"] >= 64

    @pytest.mark.parametrize("what", ["directory", "symlink", "missing", "nothing"])
    def test_what_is_no_disk_is_refused_before_any_is_touched(self, tmp_path: Path, what: str) -> None:
        disk, other = tmp_path / "disk0.img", tmp_path / "other"
        disk.write_bytes(b"data" * 4096)
        match what:
            case "directory":
                other.mkdir()
            case "symlink":
                other.symlink_to(disk)
            case _:
                pass
        disks = [] if what == "nothing" else [str(disk), str(other)]
        code, _ = run("wipe", {"disks": disks, "samples": 8})
        assert code != 0
        assert disk.read_bytes().startswith(b"data")


class TestRevoke:
    """Our own key goes last, and nothing else of authorized_keys."""

    def test_files_go_and_are_named(self, tmp_path: Path) -> None:
        for name in ("munge.key", "one.conf", "two.conf"):
            (tmp_path / name).write_text("secret")
        patterns = [str(tmp_path / "munge.key"), str(tmp_path / "*.conf"), str(tmp_path / "none")]
        code, said = run("revoke", {"services": [], "files": patterns, "operator_keys": []})
        assert (code, list(tmp_path.iterdir())) == (0, [])
        assert said["shown"]["files"].count(",") == 2


AMD_VERSION = [{"amdgpu_version": "6.14.14", "rocm_version": "7.0.2"}]


def amd(directory: Path, *, count: int = 8, errors: Any = 0, celsius: Any = 40, version: Any = None) -> Path:
    rows = [
        {
            "gpu": index,
            "ecc": {"total_uncorrectable_count": errors if index == 3 else 0},
            "temperature": {"edge": "N/A", "hotspot": {"value": celsius, "unit": "C"} if celsius != "N/A" else "N/A"},
        }
        for index in range(count)
    ]
    answers = {"version": version or AMD_VERSION, "metric": rows}
    for name, answer in answers.items():
        (directory / f"{name}.json").write_text(json.dumps(answer))
    tool(directory, "amd-smi", f'cat {directory}/"$1".json\n')
    return directory


ASKED = {
    "vendor": "amd",
    "accelerators": 8,
    "versions": {"driver": "6.14.14", "rocm": "7.0.2"},
    "level": "standard",
    "hottest": 100,
    "tool_seconds": 2,
}


class TestVerify:
    """never 5 and 7: fit is what was measured to be fit."""

    def test_all_is_well_and_the_figures_are_told(self, tmp_path: Path) -> None:
        code, said = run("verify", ASKED, amd(tmp_path))
        assert code == 0
        assert said["shown"] == {
            "driver": "6.14.14", "rocm": "7.0.2", "accelerators": "8", "hottest_celsius": "40", "uncorrectable": "0",
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("seen", "why"),
        [
            pytest.param({"count": 7}, "7 of 8 accelerators", id="one is missing"),
            pytest.param({"errors": 2}, "gpu 3: uncorrectable errors 2", id="errors"),
            pytest.param({"errors": "N/A"}, "gpu 3: uncorrectable errors not measured", id="N/A is not 0"),
            pytest.param({"celsius": 101}, "temperature 101 °C", id="too hot"),
            pytest.param({"celsius": "N/A"}, "temperature not measured", id="no temperature"),
            pytest.param(
                {"version": [{"amdgpu_version": "6.12.12", "rocm_version": "7.0.2"}]},
                "driver 6.12.12, released 6.14.14",
                id="the old driver still runs",
            ),
        ],
    )
    def test_what_is_not_fit(self, tmp_path: Path, seen: dict[str, Any], why: str) -> None:
        code, said = run("verify", ASKED, amd(tmp_path, **seen))
        assert code == 1
        assert why in said["why"]

    def test_quick_asks_for_presence_only(self, tmp_path: Path) -> None:
        assert run("verify", ASKED | {"level": "quick"}, amd(tmp_path, errors=9, celsius=200))[0] == 0

    def test_a_tool_that_hangs_is_ended_with_its_children(self, tmp_path: Path) -> None:
        tool(tmp_path, "amd-smi", "sleep 600 & sleep 600\n")
        code, said = run("verify", ASKED | {"tool_seconds": 0.5}, tmp_path)
        assert (code, "gave no answer in 0.5 s" in said["why"]) == (1, True)

    def test_no_tool_no_fitness(self, tmp_path: Path) -> None:
        assert run("verify", ASKED, tmp_path)[0] == 1


class TestConverge:
    """never 6: the very file handed to dpkg has the pinned digest, and nothing outside the release is touched."""

    @pytest.fixture
    def tools(self, tmp_path: Path) -> Path:
        """apt and dpkg as scripts: apt-get fetches a file and says what it would do; dpkg notes what it was given."""
        tool(tmp_path, "dpkg-query", f'test -e {tmp_path}/done && printf "drv\\t1:2.0\\tinstalled\\n" || true\n')
        tool(
            tmp_path,
            "apt-get",
            f'case "$*" in *download*) printf content > drv_1%3a2.0_all.deb;;\n'
            f"*simulate*) cat {tmp_path}/would;; esac\n",
        )
        tool(tmp_path, "dpkg-deb", 'printf "Package: drv\\nVersion: 1:2.0\\n"\n')
        tool(
            tmp_path,
            "dpkg",
            f'[ "$1" = --audit ] && exit; for f; do :; done; sha256sum "$f" > {tmp_path}/handed; > {tmp_path}/done\n',
        )
        (tmp_path / "would").write_text("Inst drv (1:2.0 local [all])\nConf drv (1:2.0 local [all])\n")
        return tmp_path

    @staticmethod
    def release(tools: Path, sha256: str) -> dict[str, Any]:
        packages = [{"name": "drv", "version": "1:2.0", "sha256": sha256}]
        return {"release": "test", "packages": packages, "cache": str(tools / "cache")}

    GOOD = hashlib.sha256(b"content").hexdigest()

    def test_the_checked_file_is_the_one_that_dpkg_gets(self, tools: Path) -> None:
        code, said = run("converge", self.release(tools, self.GOOD), tools)
        assert (code, said["changed"], said["shown"]) == (0, True, {"drv": "1:2.0"})
        assert (tools / "handed").read_text().startswith(self.GOOD)

    def test_what_is_installed_is_left_alone(self, tools: Path) -> None:
        (tools / "done").touch()
        code, said = run("converge", self.release(tools, self.GOOD), tools)
        assert (code, said["changed"]) == (0, False)
        assert not (tools / "handed").exists()

    def test_another_digest_is_refused(self, tools: Path) -> None:
        code, said = run("converge", self.release(tools, "0" * 64), tools)
        assert (code, self.GOOD in said["why"]) == (78, True)
        assert not (tools / "handed").exists()

    @pytest.mark.parametrize("line", ["Inst other (2.0 local [all])", "Remv slurmd [22.05]", "Remv drv [1.0]"])
    def test_apt_touching_anything_else_is_refused(self, tools: Path, line: str) -> None:
        with (tools / "would").open("a") as would:
            would.write(line + "\n")
        code, said = run("converge", self.release(tools, self.GOOD), tools)
        assert (code, line.split()[1] in said["why"]) == (78, True)
        assert not (tools / "handed").exists()

    def test_staging_installs_nothing(self, tools: Path) -> None:
        code, said = run("converge", self.release(tools, self.GOOD) | {"download_only": True}, tools)
        assert (code, said["changed"]) == (0, False)
        assert not (tools / "handed").exists()

    def test_a_release_without_packages_is_refused(self, tools: Path) -> None:
        assert run("converge", {"release": "empty", "packages": [], "cache": str(tools)}, tools)[0] == 78
