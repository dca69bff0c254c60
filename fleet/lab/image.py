"""The root file system of the lab's machines: Debian with Slurm from the host's own mirror, one image for both roles.

Two steps, each cached under a name that is a hash of what went in: the Debian base (a minute or so, `mmdebstrap`), and
the image with the files of `guest/` laid over it (seconds, `podman import`). Several checkouts share both.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from fleet.lab.commands import attempt, run
from fleet.lab.home import cache

SUITE = "bookworm"
PACKAGES = (
    "systemd", "systemd-sysv", "dbus", "openssh-server", "slurmd", "slurmctld", "slurm-client", "munge",
    "python3", "python3-apt", "systemd-journal-remote", "procps", "iproute2", "iputils-ping", "less", "util-linux",
    "gpgv",
)  # fmt: skip
LEFT_OUT = ("/usr/share/man/*", "/usr/share/locale/*", "/usr/share/doc/*", "/usr/share/info/*")
HOOKS = (
    'chroot "$1" useradd --create-home --uid 1000 --shell /bin/bash alice',
    'rm -rf "$1"/etc/ssh/ssh_host_* "$1"/etc/munge/munge.key "$1"/etc/apt/sources.list "$1"/etc/apt/sources.list.d/*',
    'rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/*.bin "$1"/etc/default/slurm*',
    'chroot "$1" systemctl mask apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer console-getty.service '
    "getty@tty1.service systemd-networkd.service systemd-resolved.service e2scrub_all.timer fstrim.timer",
    'chroot "$1" install -d -o slurm -g slurm -m 755 /var/lib/slurm/slurmctld /var/lib/slurm/slurmd /var/log/slurm',
)
# The guest's own accounts are only known inside it: whatever names one runs in a chroot.
LIBRARY = "usr/lib/fleet-lab"
PLACES = {
    "files/sshd.conf": "etc/ssh/sshd_config.d/lab.conf",
    "files/journald.conf": "etc/systemd/journald.conf.d/lab.conf",
    "files/apt.conf": "etc/apt/apt.conf.d/90lab",
}
LINKS = {
    "etc/systemd/system/multi-user.target.wants/lab-boot.service": "../lab-boot.service",
    "etc/systemd/system/multi-user.target.wants/lab-repository.service": "../lab-repository.service",
    "etc/systemd/system/munge.service.requires/lab-boot.service": "../lab-boot.service",
    "etc/systemd/system/ssh.service.requires/lab-boot.service": "../lab-boot.service",
}
NAME = "localhost/fleet-lab"


@dataclass(frozen=True, slots=True)
class GuestFile:
    """One file of the lab's own in the image."""

    path: str
    content: bytes
    mode: int


def guest_files() -> tuple[GuestFile, ...]:
    """What the lab adds to Debian, in a fixed order."""
    return tuple(sorted(_guest_files(), key=lambda file: file.path))


def _guest_files() -> Iterator[GuestFile]:
    root = Path(str(files("fleet.lab"))) / "guest"
    for source in root.rglob("*"):
        name = source.relative_to(root).as_posix()
        if source.is_dir() or "__pycache__" in name:
            continue
        if name in PLACES:
            place = PLACES[name]
        elif name.startswith("units/"):
            place = "etc/systemd/system/" + name.removeprefix("units/")
        else:
            place = f"{LIBRARY}/{name}" if name.startswith("bin/") else f"{LIBRARY}/fleet/lab/guest/{name}"
        yield GuestFile(place, source.read_bytes(), 0o755 if name.startswith("bin/") else 0o644)


def base_key() -> str:
    """Hash of what the Debian base is made from."""
    return _hash(SUITE, *PACKAGES, *LEFT_OUT, *HOOKS)


def image_key() -> str:
    """Hash of the base and of every file that the lab adds."""
    links = [f"{a}>{b}" for a, b in sorted(LINKS.items())]
    return _hash(base_key(), *links, *(f"{f.path}:{f.mode}:{_hash(f.content.decode())}" for f in guest_files()))


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def reference() -> str:
    """The podman name of the image that this code wants."""
    return f"{NAME}:{image_key()}"


def exists() -> bool:
    """Whether the image is there already."""
    return attempt(["podman", "image", "exists", reference()]).returncode == 0


def ensure(say: Callable[[str], None]) -> str:
    """The image's podman name; builds what is missing of base and image."""
    if exists():
        return reference()
    base = cache() / "lab" / f"base-{base_key()}.tar"
    if not base.exists():
        say("building the node image's Debian base (about a minute, once)")
        _build_base(base)
    say("laying the lab's own files over it")
    whole = base.with_name(f"image-{image_key()}.tar")
    try:
        _lay_over(base, whole)
        run(["podman", "import", "--quiet", whole, reference()], timeout_s=600)
    finally:
        whole.unlink(missing_ok=True)
    _drop_older()
    return reference()


def _build_base(target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(".part.tar")
    args = ["mmdebstrap", "--mode=root", "--variant=minbase", f"--include={','.join(PACKAGES)}"]
    args += [f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT]
    args += ["--dpkgopt=force-unsafe-io", '--aptopt=Acquire::Retries "3"']
    args += [f"--customize-hook={hook}" for hook in HOOKS]
    run([*args, SUITE, part, *_sources()], timeout_s=1800)
    part.replace(target)


def _sources() -> tuple[str, ...]:
    """The host's own list of mirrors where it is for the same suite, else mmdebstrap's."""
    for candidate in (Path("/etc/apt/sources.list.d/debian.sources"), Path("/etc/apt/sources.list")):
        if candidate.exists() and SUITE in candidate.read_text():
            return (str(candidate),)
    return ()


def _lay_over(base: Path, whole: Path) -> None:
    with base.open("rb") as source, whole.open("wb") as sink:
        while block := source.read(2**22):
            sink.write(block)
    with tarfile.open(whole, "a") as tar:
        known = {name.removeprefix("./") for name in tar.getnames()}
        wanted = {parent for path in (*(f.path for f in guest_files()), *LINKS) for parent in _parents(path)}
        for directory in sorted(wanted - known):
            _add_directory(tar, directory)
        for file in guest_files():
            info = tarfile.TarInfo("./" + file.path)
            info.size, info.mode = len(file.content), file.mode
            tar.addfile(info, io.BytesIO(file.content))
        for path, target in sorted(LINKS.items()):
            info = tarfile.TarInfo("./" + path)
            info.type, info.linkname = tarfile.SYMTYPE, target
            tar.addfile(info)


def _parents(path: str) -> list[str]:
    return [str(parent) for parent in list(Path(path).parents)[:-1]]


def _add_directory(tar: tarfile.TarFile, path: str) -> None:
    info = tarfile.TarInfo("./" + path)
    info.type, info.mode = tarfile.DIRTYPE, 0o755
    tar.addfile(info)


def remove() -> tuple[str, ...]:
    """Take away every image and cached base of the lab; says what went."""
    gone = [name for name in _images() if attempt(["podman", "image", "rm", name]).returncode == 0]
    for path in sorted((cache() / "lab").glob("*.tar")):
        path.unlink()
        gone.append(str(path))
    return tuple(gone)


def _images() -> list[str]:
    shown = attempt(["podman", "images", "--format", "{{.Repository}}:{{.Tag}}", NAME]).stdout
    return [line for line in shown.split() if line.startswith(NAME + ":")]


def _drop_older() -> None:
    """Images of earlier code that no container uses, and their bases; podman refuses those in use, which is right."""
    for name in _images():
        if name != reference():
            attempt(["podman", "image", "rm", name])
    for path in (cache() / "lab").glob("base-*.tar"):
        if path.name != f"base-{base_key()}.tar":
            path.unlink(missing_ok=True)
