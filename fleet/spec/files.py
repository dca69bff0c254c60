"""The shape of each inventory file, as pydantic models: which keys there are, and what kind of value each takes."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from fleet.model.ids import Verb
from fleet.model.plant import Code
from fleet.model.topology import PoolPurpose
from fleet.spec.economy_file import EconomyFile
from fleet.spec.hardware_file import HardwareFile
from fleet.spec.policy_file import Duration, PolicyFile
from fleet.spec.quantities import Watts
from fleet.spec.words import STRICT, Host, Name, Reference, Sha256, Text, Vendor, Version

__all__ = ["Duration", "ManifestFile", "PoliciesFile", "PoolsFile", "SiteFile"]


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
    power: Watts | None = None
    code: Code | None = None
    next_rack: Watts | None = None
    hardware: HardwareFile | None = None
    economy: EconomyFile | None = None
    access: AccessFile | None = None


class TenantFile(BaseModel):
    """Who shares a pool."""

    model_config = STRICT
    quota: int | None = Field(None, ge=0)
    priority: int = Field(0, ge=0, le=1000)


class PoolFile(BaseModel):
    """One pool. One without an accelerator (login, storage, CPU nodes) has neither vendor nor release."""

    model_config = STRICT
    purpose: PoolPurpose = PoolPurpose.TRAINING
    accelerator: Text | Literal[""] = ""
    vendor: Vendor | Literal[""] = ""
    release: Name | Literal[""] = ""
    policy: Name = "default"
    scheduler: Literal["slurm", "kubernetes"] = "slurm"
    partition: Name | None = None
    priority: int = Field(0, ge=0, le=1000)
    tenants: dict[Name, TenantFile] = {}
    data_class: Name | Literal[""] = ""
    regions: list[Text] = []
    model: Text | None = None
    node: HardwareFile | None = None


class PoolsFile(BaseModel):
    """pools.yaml."""

    model_config = STRICT
    pools: dict[Name, PoolFile]


class PoliciesFile(BaseModel):
    """policy.yaml."""

    model_config = STRICT
    policies: dict[Name, PolicyFile]
    roles: dict[Name, list[Text]] = {}


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
