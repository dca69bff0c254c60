"""Makes the packages of a release the installed ones: exactly these versions, exactly these files, nothing else.

Arguments: {"release": name, "packages": [{"name", "version", "sha256"}], "download_only": bool, "cache": directory}.
Every file is fetched by exact version into a directory of root's, its SHA-256 compared with the signed manifest's, and
that very file is given to dpkg. Before that apt says what it would do with them: a package outside the list ends it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

CACHE = "/var/cache/fleet"
FAILED, REFUSED = 1, 78
LOCK_SECONDS = 120
APT = ["apt-get", "-q", "-o", "DPkg::Lock::Timeout=%d" % LOCK_SECONDS, "-o", "Acquire::Retries=2"]
QUIET = {"DEBIAN_FRONTEND": "noninteractive", "NEEDRESTART_MODE": "l", "UCF_FORCE_CONFFOLD": "1"}


def stop(code, why):
    """End with one line of JSON."""
    print(json.dumps({"why": why}))
    sys.exit(code)


def run(argv, cwd="/"):
    """A finished process with its text."""
    return subprocess.run(
        argv,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        env=dict(os.environ, **QUIET),
    )


def complaint(done):
    """The line of a failed command that says why."""
    lines = [line for line in (done.stderr + "\n" + done.stdout).splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("E:", "dpkg: error", "dpkg-deb: error"))]
    return (errors or lines or ["it said nothing"])[0].strip()[:300]


def installed(names):
    """Versions that are wholly installed, by name."""
    done = run(["dpkg-query", "-W", "-f", "${Package}\t${Version}\t${db:Status-Status}\n"] + names)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return {row[0]: row[1] for row in rows if len(row) == 3 and row[2] == "installed"}


def digest(file_name):
    """The SHA-256 of a file."""
    sum_ = hashlib.sha256()
    with open(file_name, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            sum_.update(block)
    return sum_.hexdigest()


def fetched(package, folder, refreshed):
    """The one file of a package's exact version, its digest compared; from the cache if it lies there whole."""
    home = os.path.join(folder, package["name"])
    os.makedirs(home, mode=0o700, exist_ok=True)
    have = [os.path.join(home, name) for name in os.listdir(home)]
    if len(have) == 1 and digest(have[0]) == package["sha256"]:
        return have[0]
    shutil.rmtree(home)
    os.makedirs(home, mode=0o700)
    wanted = "%s=%s" % (package["name"], package["version"])
    argv = APT + ["-o", "APT::Sandbox::User=root", "download", wanted]
    done = run(argv, home)
    if done.returncode and not refreshed:
        refreshed.append(run(APT + ["update"]))
        done = run(argv, home)
    if done.returncode:
        if refreshed and refreshed[0].returncode:
            done = refreshed[0]
        mismatch = re.search(r"Hash Sum mismatch|unexpected size|Hashes of", done.stderr + done.stdout)
        stop(REFUSED if mismatch else FAILED, "%s can't be fetched: %s" % (wanted, complaint(done)))
    have = [os.path.join(home, name) for name in os.listdir(home)]
    if len(have) != 1:
        stop(FAILED, "%s: %d files were fetched" % (wanted, len(have)))
    found = digest(have[0])
    if found != package["sha256"]:
        shutil.rmtree(home)
        stop(REFUSED, "%s: the file's SHA-256 is %s, the release pins %s" % (wanted, found, package["sha256"]))
    return have[0]


def check_fields(package, file_name):
    """A file with the pinned digest that calls itself something else is a mistake in the release."""
    fields = run(["dpkg-deb", "-f", file_name, "Package", "Version"]).stdout
    pairs = dict(line.split(": ", 1) for line in fields.splitlines() if ": " in line)
    if (pairs.get("Package"), pairs.get("Version")) != (package["name"], package["version"]):
        stop(
            REFUSED, "%s is %s %s, not %s" % (file_name, pairs.get("Package"), pairs.get("Version"), package["version"])
        )


def check_reach(files, names):
    """What apt would do with these files must touch nothing but the release's packages."""
    argv = APT + [
        "install",
        "--simulate",
        "--no-install-recommends",
        "--allow-downgrades",
        "--allow-change-held-packages",
    ]
    done = run(argv + files)
    if done.returncode:
        stop(FAILED, "the release doesn't fit this node: %s" % complaint(done))
    touched = re.findall(r"^(Inst|Remv|Purg) (\S+)", done.stdout, re.M)
    others = sorted({"%s %s" % pair for pair in touched if pair[0] != "Inst" or pair[1] not in names})
    if others:
        stop(REFUSED, "apt would also touch: %s; the release must list its whole closure" % ", ".join(others[:10]))


def mend(names):
    """Finish what a killed dpkg left half done, if it is of this release; anything else is for a person."""
    broken = [line.split()[0] for line in run(["dpkg", "--audit"]).stdout.splitlines() if re.match(r" \w", line)]
    foreign = sorted(set(broken) - set(names))
    if foreign:
        stop(FAILED, "dpkg left other packages half installed: %s" % ", ".join(foreign[:10]))
    if broken:
        run(["dpkg", "--force-confdef", "--force-confold", "--configure", "--pending"])


def install(files):
    """Hand the files to dpkg, waiting for its lock within bounds."""
    argv = ["dpkg", "--force-confdef", "--force-confold", "--install"] + files
    until = time.monotonic() + LOCK_SECONDS
    done = run(argv)
    while done.returncode and "lock" in done.stderr and "is locked by another process" in done.stderr:
        if time.monotonic() > until:
            break
        time.sleep(2)
        done = run(argv)
    if done.returncode:
        stop(FAILED, "dpkg: %s" % complaint(done))


def main():
    """Compare, fetch, check, install, compare."""
    asked = json.load(sys.stdin)
    wanted = {package["name"]: package["version"] for package in asked["packages"]}
    names = sorted(wanted)
    if not names:
        stop(REFUSED, "the release lists no packages")
    was = installed(names)
    if was == wanted:
        return {"changed": False, "detail": "%s was installed" % asked["release"], "shown": was}
    folder = os.path.join(asked.get("cache", CACHE), re.sub(r"[^\w.-]", "_", asked["release"]))
    os.makedirs(folder, mode=0o700, exist_ok=True)
    refreshed = []
    missing = [package for package in asked["packages"] if was.get(package["name"]) != package["version"]]
    files = [fetched(package, folder, refreshed) for package in missing]
    for package, file_name in zip(missing, files):
        check_fields(package, file_name)
    if asked.get("download_only"):
        return {"changed": False, "detail": "%s is fetched and checked" % asked["release"], "shown": was}
    mend(names)
    check_reach(files, wanted)
    install(files)
    now = installed(names)
    if now != wanted:
        stop(FAILED, "after dpkg the node still has %s" % json.dumps(now, sort_keys=True))
    shutil.rmtree(folder, ignore_errors=True)
    changes = ["%s %s -> %s" % (name, was.get(name, "none"), now[name]) for name in names if was.get(name) != now[name]]
    return {"changed": True, "detail": "; ".join(changes), "shown": now}


print(json.dumps(main()))
