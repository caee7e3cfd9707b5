"""`demur convention`: explain, compare and convert between definitions of the AURC."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import typer

from demur.cli.app import TRUST, app
from demur.cli.plain_values import Commands
from demur.errors import UserError, literal, located

conventions = Commands(help="Say which AURC: definitions of demur and of other tools.", no_args_is_help=True)
app.add_typer(conventions, name="convention", rich_help_panel=TRUST)
Which = Annotated[str, typer.Argument(help="A signature, or the name of a convention: demur, fd-shifts, geifman, …")]


@conventions.command()
def explain(signature: Which) -> None:
    """Print a signature in words, or the definition of a named convention; an unknown key or value is an error.

    Example: demur convention explain "$(jq -r .convention.signature metrics.json)"

    Example: demur convention explain fd-shifts
    """
    from demur.features.conventions.bridges import CONVENTIONS, convention_of
    from demur.quantities.signature import meaning
    from demur.show.console import ConsoleText
    from demur.show.text import table

    name, keys = convention_of(signature)
    rows = [(key, value, meaning(key, value)) for key, value in keys.items()]
    origin = "This is not the convention of demur or of a known tool."
    if name:
        different = [key for key, value in CONVENTIONS[name].items() if keys[key] != value]
        origin = f"This is the convention of {name}{', but for ' if different else ''}{' and '.join(different)}."
    typer.echo(ConsoleText([*table(rows, to_the_left=(0, 1, 2)), origin]))


@conventions.command()
def compare(first: Which, second: Which) -> None:
    """List how two conventions differ, what that does to a number, and the bridge between them if there is one.

    Example: demur convention compare demur torch-uncertainty
    """
    from demur.features.conventions import bridges
    from demur.show.console import ConsoleText

    (name, keys), (other_name, other_keys) = bridges.convention_of(first), bridges.convention_of(second)
    lines = [line for difference in bridges.differences(keys, other_keys) for line in difference]
    verdict = "may not be compared"
    if bridges.comparable(keys, other_keys):
        scaled = ", once they are on one scale" if keys["x"] != other_keys["x"] else ""
        verdict = f"may be compared at equal Cmax, or cut at one coverage{scaled}"
    lines = [*(lines or ["They agree in every key that both have."]), "", f"Numbers of the two {verdict}."]
    if name and other_name and name != other_name:
        lines += _bridges(name, other_name)
    typer.echo(ConsoleText(lines))


def _bridges(name: str, other: str) -> list[str]:
    from demur.features.conventions.bridges import BRIDGES, ties_matter

    lines = []
    for quantity, bridges in BRIDGES.items():
        if name in bridges and other in bridges:
            lines += [f"{quantity} of {convention} = {bridges[convention].formula}" for convention in (name, other)]
    if not lines:
        return [f"No bridge leads from {name} to {other}: demur evaluate --convention computes both from the data."]
    without_ties = " where no confidences are equal" if ties_matter(name, other) else ""
    return [*lines, f"Exact{without_ties}; demur convention convert uses it."]


@conventions.command()
def convert(
    value: Annotated[str, typer.Argument(help="The number: a decimal, or a fraction such as 151/480.")],
    source: Annotated[str, typer.Option("--from", help="The convention it is in: a name, or a signature.")],
    target: Annotated[str, typer.Option("--to", help="The convention to take it to.")] = "demur",
    quantity: Annotated[str, typer.Option(help="What it is: aurc or augrc.")] = "aurc",
    answered: Annotated[int | None, typer.Option(help="How many units are answered (n).")] = None,
    cmax: Annotated[str | None, typer.Option(help="Which share of all units that is.")] = None,
    first_risk: Annotated[str | None, typer.Option(help="The loss of the most confident answer.")] = None,
    risk: Annotated[str | None, typer.Option(help="The mean loss of all answers.")] = None,
) -> None:
    """Convert a number from one convention to another, given the values that the bridge needs.

    Example: demur convention convert 419.4444 --from fd-shifts --to demur --cmax 0.75

    Example: demur convention convert 47/240 --from torch-uncertainty --answered 5 --first-risk 0 --cmax 1
    """
    from demur.features.conventions import bridges
    from demur.sampling.coverage import risk_of

    (origin, scale), (destination, other_scale) = (_named(text) for text in (source, target))
    texts, numbers = {"value": value, "cmax": cmax, "first_risk": first_risk, "risk": risk}, dict[str, Fraction]()
    for name, text in texts.items():
        with located(name.replace("_", "-")):
            numbers |= {} if text is None else {name: risk_of(text)}
    number = numbers.pop("value") / scale
    about_answers = bridges.KnownOfAnswers(answered=answered, **numbers)
    converted = bridges.converted(number, (origin, destination), quantity, about_answers) * other_scale
    is_short = len(str(converted)) <= len("0.1234567890123456")
    exact = f" = {converted}" if is_short and converted.denominator != 1 else ""
    typer.echo(f"{quantity} of {destination}: {float(converted):.12g}{exact}")
    if origin != destination and bridges.ties_matter(origin, destination):
        typer.echo(
            "This holds if no confidences are equal; with ties, demur evaluate --convention computes it from the data."
        )


def _named(text: str) -> tuple[str, Fraction]:
    """The convention of a name or a signature, and by which factor its numbers are on another scale there."""
    from demur.features.conventions.bridges import convention_of, scale_of

    name, keys = convention_of(text)
    if name is None:
        raise UserError(f"{literal(text)} is the signature of no known convention, so no bridge leads to it or from it")
    return name, scale_of(name, keys)
