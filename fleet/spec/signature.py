"""Who signed a file: `ssh-keygen -Y verify` against an allowed_signers file.

Reading declared state includes knowing whether to believe it, so the check stands here; signing is an adapter's.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from datetime import date
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from fleet.errors import Untrusted

RELEASE = "fleet-release"
APPROVAL = "fleet-approval"
CERTIFICATE = "fleet-certificate"

_SECONDS = 20.0
_BEGIN = b"-----BEGIN SSH SIGNATURE-----"


def verify(data: bytes, signature: bytes, signers: bytes, namespace: str) -> tuple[str, ...]:
    """The principals whose key made `signature` over `data` for `namespace`; raises Untrusted.

    `signers` is the text of an allowed_signers file; validity of keys is judged at the present time.
    """
    if not signature.lstrip().startswith(_BEGIN):
        raise Untrusted("the signature", "it is no SSH signature", "sign it with `ssh-keygen -Y sign`")
    with tempfile.TemporaryDirectory(prefix="fleet-verify-") as name:
        directory = Path(name)
        sig, allowed = directory / "signature", directory / "allowed_signers"
        sig.write_bytes(signature)
        allowed.write_bytes(signers)
        found = _run(["-Y", "find-principals", "-s", str(sig), "-f", str(allowed)], b"")
        principals = tuple(line for line in found.stdout.decode(errors="replace").splitlines() if line)
        if found.returncode or not principals:
            raise Untrusted(
                "the signature", "its key is not among the allowed signers", "add the signer, or sign it anew"
            )
        why = ""
        for principal in principals:
            checked = _run(["-Y", "verify", "-f", str(allowed), "-I", principal, "-n", namespace, "-s", str(sig)], data)
            if checked.returncode == 0:
                return (principal,)
            why = why or _cause(checked.stdout + checked.stderr)
        raise Untrusted("the signature", why, "sign the present text anew, with a key that is allowed to")


def principals(signers: bytes, namespace: str, today: date) -> tuple[str, ...]:
    """Who in an allowed_signers file may sign for a namespace on a day, patterns (`*@here`) as they stand there."""
    found: dict[str, None] = {}
    for line in signers.decode(errors="replace").splitlines():
        if line.lstrip().startswith("#"):
            continue
        who, _, options = line.strip().partition(" ")
        said = {key.lower(): value for key, value in _OPTION.findall(options)}
        allowed = said.get("namespaces", "*").split(",")
        day = today.strftime("%Y%m%d")
        valid = said.get("valid-after", "0")[:8] <= day <= said.get("valid-before", "9")[:8]
        if options and valid and any(fnmatchcase(namespace, pattern) for pattern in allowed):
            found.update(dict.fromkeys(each for each in who.strip('"').split(",") if not each.startswith("!")))
    return tuple(found)


_OPTION = re.compile(r'([A-Za-z-]+)="([^"]*)"')


@lru_cache(maxsize=512)
def checked(data: bytes, signature: bytes, signers: bytes, namespace: str, day: str) -> str:  # noqa: ARG001
    """Why a signature does not hold, empty where it does; remembered for the day, as inventories are read often."""
    try:
        verify(data, signature, signers, namespace)
    except Untrusted as error:
        return error.cause
    return ""


def _run(arguments: list[str], data: bytes) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["ssh-keygen", *arguments], input=data, capture_output=True, timeout=_SECONDS, check=False
        )
    except FileNotFoundError as error:
        raise Untrusted(
            "the signature", "ssh-keygen is not installed", "install openssh-client 8.1 or later"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise Untrusted("the signature", "ssh-keygen gave no answer", "run the command again") from error


_CAUSES = (
    (b"incorrect signature", "what was signed is another text: it was altered after signing"),
    (b"namespace does not match", "it was made for another purpose"),
    (b"not permitted for use in signature namespace", "its key may not sign this kind of file"),
    (b"has expired", "its key is no longer valid"),
    (b"not yet valid", "its key is not valid yet"),
    (b"no principal matched", "its key is not valid for the signer now"),
)


def _cause(output: bytes) -> str:
    for sign, cause in _CAUSES:
        if sign in output:
            return cause
    last = output.decode(errors="replace").strip().splitlines()
    return f"it does not hold ({last[-1].strip()})" if last else "it does not hold"
