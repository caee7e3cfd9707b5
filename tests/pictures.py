"""What holds of every picture: names are shown and not obeyed, texts are not scaled, and classes have rules."""

import re
from xml.etree import ElementTree as ET

HOSTILE = "</text><script>alert(1)</script>\"'&"
_PLAIN = {"end", "pointwise"}  # classes of plain text, which need no rule


def check_texts(picture):
    """What is stretched to the plot holds paths alone, and places of texts are in percent."""
    for plane in re.findall("<svg viewBox.*?</svg>", picture.svg):
        assert "<text" not in plane
        assert 'preserveAspectRatio="none"' in plane
    for x in re.findall('<text[^>]* x="([^"]*)"', picture.svg):
        assert x.endswith("%")


def check_names(plain, hostile):
    """A picture with a hostile name has the elements of one with a plain name, on the page and alone."""
    for draw in (lambda picture: picture.svg, lambda picture: picture.standalone()):
        tags = [[node.tag for node in ET.fromstring(draw(each)).iter()] for each in (plain, hostile)]  # noqa: S314
        assert tags[0] == tags[1]


def check_alone(picture):
    """Alone it draws what the page draws."""
    assert picture.svg[picture.svg.index(">") + 1 : -len("</svg>")] in picture.standalone()


def without_rule(*pictures):
    """The classes that are drawn and have no rule, but for those of plain text."""
    drawn = "".join(each.standalone() for each in pictures)
    style = re.search("<style>(.*?)</style>", drawn, re.DOTALL)[1]
    names = {name for names in re.findall('class="([^"]*)"', drawn) for name in names.split()}
    return {name for name in names if f".{name}" not in style} - _PLAIN
