"""The provider's resources as a program declares them: `fleet:index:*`, nothing but names and inputs."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi

from fleet.provider.properties import Plain


def declare(
    token: str, name: str, inputs: Mapping[str, Plain], options: pulumi.ResourceOptions
) -> pulumi.CustomResource:
    """Registers one resource of the provider `fleet`."""
    return pulumi.CustomResource(token, name, dict(inputs), options)
