"""`fleet:index:Node`: one machine, found by its serial and taken into the ledger.

Existence is five facts, each looked at before anything is changed, so that first creation, repetition after an
interrupted run and adoption of what is there already are the same path:

1. the ledger knows nothing that speaks against it (another serial, another name, a retirement);
2. the BMC answers, and names the declared serial;
3. power is on (only for nodes declared in service, or not enrolled yet; never against an open order);
4. the node answers SSH with a boot identity, the same serial, and the host key that is pinned, if one is;
5. it is enrolled in the ledger, its host key pinned.

Until something was changed a failure is a refusal, and nothing of it is kept. Afterwards it is unfinished, and the next
`pulumi up` comes back to it. What can't be seen is never taken for a change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fleet.errors import Unavailable
from fleet.model.ids import NodeId, PoolId
from fleet.model.observation import Enrolment, Power
from fleet.model.order import Done
from fleet.model.topology import DeclaredNode, Disposition
from fleet.provider.properties import UNKNOWN, Properties
from fleet.provider.resource import Ask, Flaw, Gone, Made, Ports, Refused, changed, flaws_of_shape, text, way_out

TYPE = "fleet:index:Node"

SHAPE: dict[str, type | tuple[type, ...]] = {
    "node": str,
    "site": str,
    "rack": str,
    "slot": int,
    "pool": str,
    "serial": str,
    "address": str,
    "bmc": str,
    "bmcSecret": str,
    "accelerators": int,
    "disposition": str,
}
OPTIONAL = frozenset({"rack", "slot", "address", "bmcSecret", "accelerators", "disposition"})
REFERENCES = ("file:", "env:")
LOOK_AGAIN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Node:
    """The resource. Its ports are opened when hardware or the ledger is first asked."""

    ports: Callable[[], Ports]

    def check(self, olds: Properties, news: Properties) -> Sequence[Flaw]:
        """Shape, identity, and that the secret is a reference: a value would end in Pulumi's state."""
        found = flaws_of_shape(news, SHAPE, OPTIONAL)
        secret = text(news, "bmcSecret")
        if secret and secret != UNKNOWN and not secret.startswith(REFERENCES):
            found.append(Flaw("bmcSecret", "must be a reference (`file:PATH` or `env:NAME`), never the secret itself"))
        disposition = text(news, "disposition")
        if disposition and disposition not in set(Disposition):
            found.append(Flaw("disposition", f"`{disposition}` is none of {', '.join(Disposition)}"))
        if olds and text(olds, "node") != text(news, "node"):
            found.append(Flaw("node", f"{text(olds, 'node')} can't become {text(news, 'node')}: a node keeps its name"))
        return found

    def diff(self, old_inputs: Properties, outputs: Properties, news: Properties) -> Sequence[str]:
        """Changed inputs, and what a refresh has found. Never a replacement: a node is not made anew."""
        found = set(changed(old_inputs, news)) if old_inputs else set()
        if text(outputs, "serial") != text(news, "serial"):
            found.add("serial")
        if _in_service(news) and text(outputs, "power") == Power.OFF:
            found.add("power")
        if outputs.get("enrolled") is False:
            found.add("enrolled")
        return sorted(found)

    def create(self, inputs: Properties, ask: Ask) -> Made | Refused:
        """Makes the five facts true, or adopts a machine for which they are."""
        return self._exist(inputs, ask)

    def update(self, id: str, inputs: Properties, outputs: Properties, ask: Ask) -> Made | Refused:
        """Makes them true again. Of a retired node only the note is changed."""
        enrolled = self.ports().enrol.enrolment(NodeId(id))
        if enrolled is not None and enrolled.retired:
            if _in_service(inputs):
                return Refused(
                    f"{id} is retired", "a retired name never returns", "declare the machine under a new name"
                )
            return Made(id, {**outputs, **inputs})
        return self._exist(inputs, ask)

    def read(self, id: str, inputs: Properties, outputs: Properties) -> Made | Gone | Refused:
        """The machine as its BMC and the ledger show it now; what doesn't answer keeps its last known value."""
        ports = self.ports()
        if not inputs:
            declared = ports.declared(NodeId(id))
            if declared is None:
                return Refused(f"{id} can't be imported", "the inventory doesn't declare it", f"declare {id} first")
            inputs = outputs = declared
        node = node_of(inputs)
        enrolled = ports.enrol.enrolment(node.id)
        seen: dict[str, object] = {"enrolled": enrolled is not None}
        if enrolled is not None and enrolled.host_key:
            seen["hostKey"] = enrolled.host_key
        unseen: tuple[str, ...] = ()
        if not (enrolled is not None and enrolled.retired):
            try:
                seen["serial"] = ports.power.serial(node)
                power = ports.power.power(node)
                if power == Power.UNKNOWN:
                    raise Unavailable(f"BMC of {id}", "power is changing just now")
                seen["power"] = power
            except Unavailable as error:
                unseen = (f"{id}: what the BMC shows is not known: {error}",)
        return Made(id, {**outputs, **seen}, unseen, inputs)  # type: ignore[dict-item]  # str and bool, all of them

    def delete(self, id: str, outputs: Properties) -> Gone | Refused:
        """Only of a node whose retirement is certified; never 8."""
        ports = self.ports()
        enrolled = ports.enrol.enrolment(NodeId(id))
        if enrolled is None:
            return Gone()
        if not (enrolled.retired and enrolled.certificate):
            return Refused(f"{id} can't be deleted", "it is not retired", way_out(id))
        ports.enrol.released(NodeId(id), ports.by)
        return Gone()

    def _exist(self, inputs: Properties, ask: Ask) -> Made | Refused:
        ports, node = self.ports(), node_of(inputs)
        enrolled = ports.enrol.enrolment(node.id)
        refusal = _ledger_speaks_against(node, enrolled, ports.enrol.by_serial(node.serial))
        if refusal is not None:
            return refusal
        try:
            serial, power = ports.power.serial(node), ports.power.power(node)
        except Unavailable as error:
            return Refused(
                f"{node.id}: the BMC at {node.bmc} gave no answer", str(error), _ASK_BMC.format(node=node.id)
            )
        if serial != node.serial:
            return Refused(
                f"{node.id}: wrong serial",
                f"the BMC at {node.bmc} says {serial}, declared is {node.serial}",
                _WRONG_SERIAL,
            )
        shown: dict[str, str | bool] = {"serial": serial, "power": power, "enrolled": enrolled is not None}
        if enrolled is not None and enrolled.host_key:
            shown["hostKey"] = enrolled.host_key
        if enrolled is not None and node.disposition is not Disposition.IN_SERVICE:
            return Made(node.id, {**inputs, **shown})
        unfinished = _power_on(ports, node) if power != Power.ON else None
        if unfinished is None:
            shown["power"] = Power.ON
            unfinished = _enrol(ports, node, enrolled, shown, ask)
        return Made(node.id, {**inputs, **shown}, (unfinished,) if unfinished else ())


_ASK_BMC = "mend the BMC or its credentials (`fleet doctor` tells which), then run `pulumi up` again"
_WRONG_SERIAL = "correct the serial or the BMC address in the inventory"


def _ledger_speaks_against(node: DeclaredNode, own: Enrolment | None, holder: Enrolment | None) -> Refused | None:
    if own is not None and own.retired:
        return Refused(f"{node.id} is retired", "a retired name never returns", "declare the machine under a new name")
    if own is not None and own.serial != node.serial:
        return Refused(
            f"{node.id} is another machine",
            f"enrolled with serial {own.serial}, declared with {node.serial}",
            f"after a mainboard swap `fleet forget {node.id}` and `pulumi up`; else retire it and declare a new name",
        )
    if holder is not None and holder.node != node.id and not holder.retired:
        return Refused(
            f"{node.id}: serial {node.serial} is taken",
            f"the ledger knows that machine as {holder.node}",
            f"correct the inventory, or retire {holder.node} first",
        )
    if node.disposition is Disposition.RETIRED and own is None:
        return Refused(f"{node.id} is declared retired", "it was never enrolled", "remove it from the inventory")
    return None


def _power_on(ports: Ports, node: DeclaredNode) -> str | None:
    order = ports.busy(node.id)
    if order:
        return f"{node.id} is off, and order {order} is at work on it: it will turn it on; then run `pulumi up` again"
    outcome = ports.power.turn_on(node)
    return (
        None if isinstance(outcome, Done) else f"{node.id} could not be turned on: {outcome.why}; run `pulumi up` again"
    )


def _enrol(
    ports: Ports, node: DeclaredNode, enrolled: Enrolment | None, shown: dict[str, str | bool], ask: Ask
) -> str | None:
    """Waits for the node, looks who it is, pins its key; notes in `shown` what it saw. Gives what is unfinished."""
    pinned = enrolled.host_key if enrolled is not None else ""
    key = _wait_for_boot(ports, node, pinned, ask)
    if not key:
        why = "the run was interrupted" if ask.interrupted() else f"no answer over SSH within {ask.seconds:.0f} s"
        return f"{node.id} is on and has not been seen to boot: {why}; look at its console, then run `pulumi up` again"
    if pinned and key != pinned:
        return (
            f"{node.id}: its SSH host key is not the one pinned at enrolment; if it was installed anew by hand, "
            f"`fleet forget {node.id}` and `pulumi up`; if not, somebody answers in its place"
        )
    try:
        serial = ports.identity.serial(node)
    except Unavailable as error:
        return f"{node.id} went silent while it was being enrolled: {error}; run `pulumi up` again"
    if serial != node.serial:
        return (
            f"{node.id}: the machine at {node.address} says serial {serial}, its BMC {node.serial}: "
            "address and BMC belong to two machines; correct the inventory"
        )
    if enrolled is None:
        ports.enrol.enrol(Enrolment(node.id, serial, key), ports.by)
    elif not enrolled.host_key:
        ports.enrol.enrol(replace(enrolled, host_key=key), ports.by)
    shown.update(enrolled=True, hostKey=key)
    return None


def _wait_for_boot(ports: Ports, node: DeclaredNode, pinned: str, ask: Ask) -> str:
    """The host key once the node shows a boot identity under it, or another key than the pinned one at once.

    Empty when the time is up or the user interrupts.
    """
    end = ports.clock.monotonic() + ask.seconds
    while not ask.interrupted():
        try:
            key = ports.identity.host_key(node)
            if pinned and key != pinned:
                return key
            if ports.identity.boot(node):
                return key
        except Unavailable:
            pass  # not there yet; the deadline below says for how long
        if ports.clock.monotonic() >= end:
            break
        ports.clock.sleep(LOOK_AGAIN_SECONDS)
    return ""


def _in_service(inputs: Properties) -> bool:
    return text(inputs, "disposition") in {"", Disposition.IN_SERVICE}


def node_of(inputs: Properties) -> DeclaredNode:
    """The declared node that the inputs describe, as far as the ports need it."""
    slot, accelerators = inputs.get("slot"), inputs.get("accelerators")
    return DeclaredNode(
        id=NodeId(text(inputs, "node")),
        pool=PoolId(text(inputs, "pool")),
        serial=text(inputs, "serial"),
        domains=(),
        address=text(inputs, "address"),
        bmc=text(inputs, "bmc"),
        accelerators=accelerators if isinstance(accelerators, int) else 0,
        disposition=Disposition(text(inputs, "disposition") or Disposition.IN_SERVICE),
        rack=text(inputs, "rack"),
        slot=slot if isinstance(slot, int) else None,
    )


def inputs_of(node: DeclaredNode, site: str = "", bmc_secret: str = "") -> dict[str, str | int]:
    """The inputs of a declared node; the reverse of `node_of`."""
    found: dict[str, str | int | None] = {
        "node": node.id,
        "site": site,
        "rack": node.rack,
        "slot": node.slot,
        "pool": node.pool,
        "serial": node.serial,
        "address": node.address,
        "bmc": node.bmc,
        "bmcSecret": bmc_secret,
        "accelerators": node.accelerators,
        "disposition": node.disposition.value,
    }
    return {name: value for name, value in found.items() if value not in (None, "")}
