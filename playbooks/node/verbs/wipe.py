"""Overwrites disks and reads them back. The grade is what was really done: one overwrite is a clear, never a purge.

Arguments: {"disks": [paths], "samples": number}. A disk is a block device or a regular file that stands for one; one
that is mounted, or holds what is mounted, is refused before anything is touched. The result names, per disk, method,
bytes, samples and whether all of them read back as written.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys

BLOCK = 1 << 20
SAMPLE = 4096


def stop(code, why):
    """End with one line of JSON."""
    print(json.dumps({"why": why}))
    sys.exit(code)


def mounted():
    """Device numbers of everything that is mounted, and of the disks that hold them."""
    numbers = set()
    with open("/proc/self/mountinfo") as file:
        for line in file:
            major, minor = line.split()[2].split(":")
            numbers.add((int(major), int(minor)))
    return numbers | {parent for number in numbers for parent in parents(number)}


def parents(number):
    """The whole disk of a partition."""
    try:
        home = os.path.realpath("/sys/dev/block/%d:%d" % number)
        with open(os.path.join(os.path.dirname(home), "dev")) as file:
            major, minor = file.read().strip().split(":")
        return [(int(major), int(minor))]
    except (OSError, ValueError):
        return []


def check(path, taken):
    """Refuse what isn't a disk, or is in use."""
    try:
        found = os.lstat(path)
    except OSError as error:
        stop(1, "%s: %s" % (path, error.strerror))
    if stat.S_ISBLK(found.st_mode):
        if (os.major(found.st_rdev), os.minor(found.st_rdev)) in taken:
            stop(78, "%s is mounted, or holds what is mounted" % path)
    elif not stat.S_ISREG(found.st_mode):
        stop(78, "%s is neither a block device nor a regular file" % path)


def size_of(handle):
    """Bytes of a file or device."""
    return os.lseek(handle, 0, os.SEEK_END)


def overwrite(handle, size):
    """Zeros over all of it, on the medium before we return."""
    zeros = bytes(BLOCK)
    os.lseek(handle, 0, os.SEEK_SET)
    left = size
    while left:
        left -= os.write(handle, zeros[: min(BLOCK, left)])
    os.fsync(handle)
    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)


def offsets(size, samples):
    """Where to read: both ends, and places spread over the whole by a fixed rule that the certificate can name."""
    places = {0, max(0, size - SAMPLE)}
    for number in range(samples):
        seed = int.from_bytes(hashlib.sha256(b"%d/%d" % (size, number)).digest()[:8], "big")
        places.add(seed % max(1, size - SAMPLE + 1) if size > SAMPLE else 0)
    return sorted(places)


def read_back(handle, size, samples):
    """Samples read, how many of them were not zeros, and a digest over all of them."""
    bad, seen = 0, hashlib.sha256()
    places = offsets(size, samples)
    for place in places:
        data = os.pread(handle, SAMPLE, place)
        seen.update(data)
        if len(data) != min(SAMPLE, size) or data.strip(b"\0"):
            bad += 1
    return {"samples": len(places), "sample_bytes": SAMPLE, "bad": bad, "sha256": seen.hexdigest()}


def wiped(path, samples):
    """One disk, overwritten and read back."""
    handle = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        size = size_of(handle)
        had_data = any(os.pread(handle, SAMPLE, place).strip(b"\0") for place in offsets(size, samples))
        overwrite(handle, size)
        checked = read_back(handle, size, samples)
    finally:
        os.close(handle)
    return {
        "disk": path,
        "bytes": size,
        "method": "overwrite, one pass of zeros",
        "grade": "clear",
        "had_data": had_data,
        "verified": checked["bad"] == 0 and size > 0,
        "verification": checked,
    }


def main():
    """All disks are checked before the first is touched."""
    asked = json.load(sys.stdin)
    disks = asked["disks"]
    if not disks:
        stop(78, "no disk was named; a wipe of nothing proves nothing")
    taken = mounted()
    for path in disks:
        check(path, taken)
    report = [wiped(path, asked["samples"]) for path in disks]
    unproven = [row["disk"] for row in report if not row["verified"]]
    if unproven:
        print(json.dumps({"why": "read back other than written: %s" % ", ".join(unproven), "disks": report}))
        return 1
    detail = "%d disk%s cleared and read back" % (len(report), "" if len(report) == 1 else "s")
    print(json.dumps({"changed": True, "detail": detail, "shown": {"wipe": json.dumps(report)}}))
    return 0


sys.exit(main())
