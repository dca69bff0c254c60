"""Takes away what lets this node in elsewhere, and us in here: the scheduler's key, credentials, certificates, our key.

Arguments: {"services": [names], "files": [glob patterns], "operator_keys": ["type base64"]}. Our own key goes last: if
it is gone, everything before it is gone too. A file is overwritten before it is unlinked.
"""

from __future__ import annotations

import glob
import json
import os
import stat
import subprocess
import sys

AUTHORIZED = ("/root/.ssh/authorized_keys", "/root/.ssh/authorized_keys2")


def quiet(*argv):
    """Run something whose failure changes nothing that is checked afterwards."""
    subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def remove(path):
    """Overwrite and unlink a file."""
    found = os.lstat(path)
    if stat.S_ISREG(found.st_mode) and found.st_size:
        with open(path, "r+b") as file:
            file.write(bytes(found.st_size))
            file.flush()
            os.fsync(file.fileno())
    os.unlink(path)


def without(path, keys):
    """Take the keys out of an authorized_keys file; how many there were."""
    try:
        with open(path) as file:
            lines = file.readlines()
    except FileNotFoundError:
        return 0
    kept = [line for line in lines if not any(key in line.split() for key in keys)]
    if len(kept) != len(lines):
        temporary = path + ".fleet"
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.writelines(kept)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    return len(lines) - len(kept)


def main():
    """Services, files, and at the very end our key."""
    asked = json.load(sys.stdin)
    for name in asked["services"]:
        quiet("systemctl", "disable", "--now", "--", name)
    removed = []
    for pattern in asked["files"]:
        for path in sorted(glob.glob(pattern)):
            remove(path)
            removed.append(path)
    left = [path for pattern in asked["files"] for path in glob.glob(pattern)]
    if left:
        print(json.dumps({"why": "still there: %s" % ", ".join(left)}))
        return 1
    blobs = [key.split()[1] for key in asked["operator_keys"]]
    keys = sum(without(path, blobs) for path in AUTHORIZED)
    shown = {"files": ", ".join(removed) or "none", "operator_keys": str(keys)}
    print(json.dumps({"changed": bool(removed or keys), "detail": "access revoked", "shown": shown}))
    return 0


sys.exit(main())
