"""Pictures: what every chart becomes, for a page that has styles or to be looked at on its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from demur.drawing.looks import LOOKS
from demur.drawing.svg import coordinate, element, label, marker

_KEY_ROW = 20
_INK = "#000000"
_LINE = 2.2


@cache
def _style() -> str:
    """The rules of a picture that stands alone; ink, and a black look, have the colour of the text around it."""
    from importlib.resources import files  # noqa: PLC0415  (slow to import, for a picture that few ask for)

    # Every rule is about what lies inside .demur: a style element in a notebook speaks to the whole notebook.
    rules = [files("demur.drawing").joinpath("picture.css").read_text("utf-8")]
    for look in LOOKS:
        dash = " ".join(f"{_LINE * part:.3g}" for part in look.dash) or "none"
        rules.append(f".demur .line.{look.style} {{ stroke-dasharray: {dash} }}\n")
        rules.append(f".demur .{look.style} {{ color: {look.colour if look.colour != _INK else 'inherit'} }}\n")
    return element("style", *rules)


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawn chart with its description, and the label of each system by its style."""

    width: float
    height: float
    words: str
    parts: Sequence[str]
    kind: str
    keys: Sequence[tuple[str, str]] = ()
    data: Mapping[str, str] = field(default_factory=dict)

    @property
    def svg(self) -> str:
        """For the page, whose style sheet knows the classes, and which says itself which system is which."""
        box = f"0 0 {coordinate(self.width)} {coordinate(self.height)}"
        attributes = {"viewBox": box, "role": "img", "aria_label": self.words, "class_": self.kind}
        return element("svg", *self.parts, **attributes, **self.data)

    def standalone(self, *, paper: bool = False) -> str:
        """For a notebook or a file, with its styles and a key; `paper` is white whatever lies around it."""
        keys = [(style, name) for style, name in self.keys if name]
        height = self.height + _KEY_ROW * len(keys)
        box = f"0 0 {coordinate(self.width)} {coordinate(height)}"
        attributes = {"viewBox": box, "width": coordinate(self.width), "role": "img", "aria_label": self.words}
        ground = [element("rect", width=self.width, height=height, fill="white")] if paper else []
        parts = [_style(), *ground, *self.parts]
        for row, (style, name) in enumerate(keys):
            y = self.height + _KEY_ROW * (row + 0.5)
            parts.append(element("path", d=f"M56 {coordinate(y)}h40", class_=f"line {style}"))
            parts += [marker(76, y, style), label(104, y + 4, name, anchor="start", kind="name")]
        return element("svg", *parts, xmlns="http://www.w3.org/2000/svg", **attributes, class_="demur")
