"""`fleet draw [INVENTORY]`: racks, feeds, loops and fabrics of a declaration as a picture. Looks at no machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleet.cli.options import Json
from fleet.errors import Misuse

if TYPE_CHECKING:
    from fleet.feasibility.plant_figures import PlantFigures


def draw(
    inventory: Annotated[Path | None, typer.Argument(help="The site's directory; the only one otherwise.")] = None,
    rack: Annotated[str | None, typer.Option("--rack", help="Only these racks: r1, r[01-16].")] = None,
    svg: Annotated[Path | None, typer.Option("--svg", help="Also write each rack as SVG into this directory.")] = None,
    json: Json = False,
) -> None:
    """Draw a site as it is declared: racks with their power and heat, feeds, cooling loops and fabrics.

    \b
    fleet draw
    fleet draw inventory/lab --rack r[1-2]
    fleet draw --svg drawings
    """
    from fleet.cli.say import as_json, out, progress, width
    from fleet.feasibility.plant_figures import plant_figures
    from fleet.render.draw import facts, fullest, picture
    from fleet.render.text import line, plural
    from fleet.spec import find_inventory, load

    declared = load(find_inventory(inventory))
    figures = plant_figures(declared)
    named = _named(rack, figures)
    if json:
        as_json("draw", facts(declared, figures))
    else:
        out(picture(declared, figures, named or fullest(figures), width()))
    if svg is not None:
        from fleet.render.rack_svg import rack_svg

        svg.mkdir(parents=True, exist_ok=True)
        for name in named or tuple(figures.racks):
            (svg / f"{name}.svg").write_text(rack_svg(figures.racks[name], declared.plant), encoding="utf-8")
        progress([line(f"wrote {plural(len(named or figures.racks), 'rack')} to {svg}")])


def _named(text: str | None, figures: PlantFigures) -> tuple[str, ...]:
    """The racks that are asked for, in the site's order; Misuse where one isn't declared."""
    if text is None:
        return ()
    from fleet.spec.sets import expand

    try:
        asked = set(expand(text))
    except ValueError as error:
        cause, _, step = str(error).partition("; ")
        raise Misuse(f"--rack {text}", cause, step) from None
    unknown = sorted(asked - set(figures.racks))
    if unknown:
        known = ", ".join(list(figures.racks)[:12])
        raise Misuse(f"--rack {text}", f"there is no rack {unknown[0]}", f"declared are {known}")
    return tuple(name for name in figures.racks if name in asked)
