"""The shape of burst.yaml: capacity that pools may hire.

bursts:
  spill:
    pool: train
    provider: aws
    regions: [eu-central-1]
    types: [p5.48xlarge, p5en.48xlarge]
    ceiling: 6
    budget: {hour: 400 USD/h, month: 100000 USD/month}
    lifetime: 3d
    buy: spot
    may_not_leave: [patient]
    egress_per_month: 20 TB
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, Field

from fleet.spec.money import PerHour, PerMonth
from fleet.spec.policy_file import Duration
from fleet.spec.quantities import Gigabytes
from fleet.spec.words import STRICT, Name, Text


class Buying(StrEnum):
    """How machines are hired: for sure, or cheaper and taken back at any time."""

    ON_DEMAND = "on_demand"
    SPOT = "spot"


class MoneyFile(BaseModel):
    """The most that may be spent."""

    model_config = STRICT
    hour: PerHour | None = None
    month: PerMonth | None = None


class BurstFile(BaseModel):
    """What one pool may hire at one provider."""

    model_config = STRICT
    pool: Name
    provider: Name
    regions: list[Text] = []
    types: Annotated[list[Text], Field(min_length=1)]
    ceiling: int | None = Field(None, ge=0, le=100_000)
    budget: MoneyFile = MoneyFile()
    lifetime: Duration | None = None
    buy: Buying = Buying.ON_DEMAND
    may_not_leave: list[Name] = []
    egress_per_month: Gigabytes | None = None


class BurstsFile(BaseModel):
    """burst.yaml."""

    model_config = STRICT
    bursts: dict[Name, BurstFile] = {}
