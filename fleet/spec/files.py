"""The shape of each inventory file, as pydantic models: which keys there are, and what kind of value each takes."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from fleet.model.ids import Verb
from fleet.model.topology import Disposition
from fleet.spec.policy_file import Duration, PolicyFile

__all__ = ["Duration", "ManifestFile", "NodesFile", "PoliciesFile", "PoolsFile", "RacksFile", "SiteFile"]

STRICT = ConfigDict(extra="forbid", frozen=True)

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]
"""What may name a thing: it becomes a file name, a host name and an argument of commands."""

Host = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9.:-]{0,252}$")]
Https = Annotated[str, StringConstraints(pattern=r"^https://[A-Za-z0-9\[][A-Za-z0-9.:\[\]-]*(/[A-Za-z0-9._/-]*)?$")]
Reference = Annotated[str, StringConstraints(pattern=r"^(file:[^\x00\n]+|env:[A-Za-z_][A-Za-z0-9_{}]*)$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Version = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+:~_-]{0,127}$")]
Vendor = Literal["amd", "nvidia"]


def _empty(value: object) -> object:
    return {} if value is None else value


class SshFile(BaseModel):
    """`access.ssh`."""

    model_config = STRICT
    user: Name = "root"
    key: Text
    known_hosts: Text
    port: int = Field(22, ge=1, le=65535)


class SchedulerFile(BaseModel):
    """`access.scheduler`."""

    model_config = STRICT
    kind: Literal["slurm"] = "slurm"
    address: Host | Literal[""] = ""


class BmcFile(BaseModel):
    """`access.bmc`."""

    model_config = STRICT
    user: Text
    password: Reference
    ca: Text | None = None


class AccessFile(BaseModel):
    """`access` in site.yaml."""

    model_config = STRICT
    ssh: SshFile
    scheduler: SchedulerFile = SchedulerFile()
    bmc: BmcFile


class SiteFile(BaseModel):
    """site.yaml."""

    model_config = STRICT
    site: Name
    region: Text = ""
    access: AccessFile | None = None


class DomainFile(BaseModel):
    """A feed, a loop or a leaf: its name is all that is said of it so far."""

    model_config = STRICT


DomainsFile = dict[Name, Annotated[DomainFile, BeforeValidator(_empty)]]


class RackFile(BaseModel):
    """One rack."""

    model_config = STRICT
    feed: Name | None = None
    leaf: Name | None = None
    loop: Name | None = None
    units: int = Field(42, ge=1, le=100)


class RacksFile(BaseModel):
    """racks.yaml."""

    model_config = STRICT
    feeds: DomainsFile = {}
    leaves: DomainsFile = {}
    loops: DomainsFile = {}
    racks: dict[Name, RackFile]


class PoolFile(BaseModel):
    """One pool."""

    model_config = STRICT
    accelerator: Text
    vendor: Vendor
    release: Name
    policy: Name = "default"
    partition: Name | None = None


class PoolsFile(BaseModel):
    """pools.yaml."""

    model_config = STRICT
    pools: dict[Name, PoolFile]


class NodeFile(BaseModel):
    """One node."""

    model_config = STRICT
    serial: Text
    rack: Name
    pool: Name
    address: Host
    bmc: Https
    slot: int | None = Field(None, ge=1, le=200)
    accelerators: int = Field(8, ge=0, le=128)
    disposition: Disposition = Disposition.IN_SERVICE
    release: Name | None = None
    nvlink: Name | None = None


class NodesFile(BaseModel):
    """nodes.yaml."""

    model_config = STRICT
    nodes: dict[Name, NodeFile]


class PoliciesFile(BaseModel):
    """policy.yaml."""

    model_config = STRICT
    policies: dict[Name, PolicyFile]


class PackageFile(BaseModel):
    """One package of a release's closure."""

    model_config = STRICT
    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.+-]{0,127}$")]
    version: Version
    sha256: Sha256
    part: Name


class ManifestFile(BaseModel):
    """releases/<name>.yaml: the text that is signed."""

    model_config = STRICT
    release: Name
    serial: int = Field(ge=1)
    expires: date
    vendor: Vendor
    versions: Annotated[dict[Name, Version], Field(min_length=1)]
    needs: list[Verb] = []
    irreversible: list[str] = []
    forbids: list[Verb] = []
    built_for: list[Version] = []
    unit: Literal["", "nvlink", "rack"] = ""
    packages: list[PackageFile] = []
