"""SSH signatures by `ssh-keygen -Y`: releases, approvals, certificates. People have the keys already; works offline.

Here: signing, the port Trust, and certificates of retirement. Not here: who may sign what; that is the one
allowed_signers file. One reason: a signature is made and checked in one format, that any auditor can check without us.
"""

from fleet.adapters.ssh_signatures.signing import SshTrust, sign, sign_file

__all__ = ["SshTrust", "sign", "sign_file"]
