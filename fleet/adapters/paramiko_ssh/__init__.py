"""SSH by paramiko: a pool of connections, the observer of nodes, their identity at enrolment.

Here: everything that speaks SSH from this process. Not here: Ansible's own connections. One reason: host keys are
pinned, time limits set and connections kept in one place.
"""

from fleet.adapters.paramiko_ssh.observe import HostKey, SshIdentity, SshObserve, target_of
from fleet.adapters.paramiko_ssh.pool import Answer, SshPool, Target, known_host_key, runner, scan_host_key

__all__ = [
    "Answer",
    "HostKey",
    "SshIdentity",
    "SshObserve",
    "SshPool",
    "Target",
    "known_host_key",
    "runner",
    "scan_host_key",
    "target_of",
]
