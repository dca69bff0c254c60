"""`fleet certificate show, verify`: evidence of retirements, checked offline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fleet.cli.options import Json

app = typer.Typer(help="Certificates of retirement: show one, or verify it offline.")

File = Annotated[Path, typer.Argument(help="The certificate (.json); its signature lies beside it (.json.sig).")]
Signers = Annotated[
    Path | None, typer.Option("--signers", help="Who may sign, as an allowed_signers file.", show_default=False)
]


@app.command()
def show(file: File, json: Json = False) -> None:
    """Print what a certificate says, without checking it."""
    from json import loads

    from fleet.cli.say import as_json, out, width
    from fleet.errors import Misuse
    from fleet.render.certificate import certificate

    try:
        found = loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Misuse(f"{file}", str(error), "name a certificate: .fleet/certificates/NODE-ORDER.json") from None
    if json:
        as_json("certificate", {"certificate": found})
    else:
        out(certificate(found, width()))


@app.command()
def verify(file: File, signers: Signers = None, json: Json = False) -> None:
    """Check a certificate offline: its signature, its shape and its proofs. Exit code 3: it does not hold.

    \b
    fleet certificate verify .fleet/certificates/n04-retire-n04-260301T120000.000.json
    """
    from fleet.adapters.ssh_signatures.certificates import verify_certificate
    from fleet.cli.say import as_json, out, width
    from fleet.errors import Untrusted
    from fleet.render.certificate import certificate
    from fleet.render.text import Span, line

    allowed = signers or file.resolve().parent.parent / "certificates.signers"
    try:
        found = verify_certificate(file, allowed)
    except Untrusted as error:
        if json:
            as_json("certificate", {"holds": False, "why": error.cause or error.thing})
        else:
            out([line(Span(f"{error.thing}: {error.cause}", "bad")), line(f"next: {error.next_step}")])
        raise typer.Exit(3) from None
    if json:
        as_json("certificate", {"holds": True, "signer": found.signer, "certificate": dict(found.certificate)})
        return
    out([line(Span(f"it holds; signed by {found.signer}", "good")), *certificate(found.certificate, width())])
