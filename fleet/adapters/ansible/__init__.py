"""Ansible by ansible-runner, as the port `Configure`.

Here: runs of playbooks, their inventories, what their events mean, the end of their processes. Not here: what a verb
does, which is in `playbooks/`. One reason: every trap of running Ansible from a program is sprung in one place.
"""

from fleet.adapters.ansible.configure import AnsibleConfigure, Settings

__all__ = ["AnsibleConfigure", "Settings"]
