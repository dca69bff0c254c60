"""`fleet approve PLAN or ORDER`: a person's word, signed with their SSH key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fleet.cli.options import As, Inventory, person
from fleet.errors import Misuse
from fleet.model.ids import Because
from fleet.model.order import RolloutState
from fleet.model.plan import RolloutMoved


def approve(
    what: Annotated[str, typer.Argument(metavar="PLAN|ORDER", help="As `fleet status` or the plan names it.")],
    key: Annotated[Path | None, typer.Option("--key", help="Your SSH key.", show_default="~/.ssh/id_ed25519")] = None,
    inventory: Inventory = None,
    by: As = None,
) -> None:
    """Approve a plan or an order; the approval is signed with your SSH key and kept in the trail.

    \b
    fleet approve 4d7fa57f38314765
    fleet approve upgrade:n03:amd-2026.2 --key ~/.ssh/id_ed25519
    """
    from fleet import app
    from fleet.cli.say import out
    from fleet.render.text import line

    who = person(by)
    with app.open_fleet(inventory) as fleet:
        _, observed, decided = fleet.controller().decide()
        rollouts = [r for r in observed.records.rollouts.values() if r.plan == what]
        held = {name for each in decided.held if each.reason is Because.APPROVAL_MISSING for name in each.names}
        orders = {order.id for order in observed.records.orders.values()}
        if not rollouts and what not in held | orders:
            waiting = sorted(held | {r.plan for r in observed.records.rollouts.values() if r.state == "planned"})
            raise Misuse(f"approve {what}", "nothing of that name waits", f"waiting: {', '.join(waiting) or 'nothing'}")
        signature, signer = _signed(what, key, fleet.settings.inventory)
        now = fleet.clock.now()
        fleet.store.approve(what, signer or who, signature, now)
        for rollout in rollouts:
            if rollout.state is RolloutState.PLANNED:
                moved = RolloutMoved(rollout.id, RolloutState.RUNNING, f"approved by {signer or who}")
                fleet.store.commit([moved], who, now)
        out([line(f"{what} is approved by {signer or who}")])


def _signed(what: str, key: Path | None, inventory: Path) -> tuple[str, str]:
    """The signature, and who made it as allowed_signers says; raises Untrusted for a key that isn't in it."""
    from fleet.adapters.ssh_signatures import sign
    from fleet.spec.signature import APPROVAL, verify

    place = key or Path("~/.ssh/id_ed25519").expanduser()
    if not place.exists():
        raise Misuse(f"{place}", "there is no such key", "name yours with --key")
    signers = next(
        (p for p in (inventory / "allowed_signers", inventory.parent / "allowed_signers") if p.exists()), None
    )
    if signers is None:
        raise Misuse(f"{inventory}/allowed_signers", "there is no such file", "list there who may approve")
    data = what.encode()
    signature = sign(data, place, APPROVAL)
    signer = verify(data, signature, signers.read_bytes(), APPROVAL)[0]
    return signature.decode(), signer
