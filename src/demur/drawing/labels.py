"""Labels: names from a file as pictures, columns and sentences have room for them, without effect on what is around."""

from collections.abc import Sequence
from unicodedata import bidirectional

from demur.errors import harmless, repeated, shown

_FROM_THE_RIGHT = ("R", "AL", "AN")
_ISOLATES = ("\u2068", "\u2069")  # around names that run from right to left; they end with their line
_LONGEST = 24


def isolated(name: str) -> str:
    r"""A name inside a sentence; one with letters that run from right to left may not turn the words around it.

    >>> isolated("few_shot"), len(isolated("\u05d0")), isolated("\u202e")
    ('few_shot', 3, "'\\u202e'")
    """
    text = shown(name)
    return text.join(_ISOLATES) if any(bidirectional(letter) in _FROM_THE_RIGHT for letter in text) else text


def inert(text: str) -> str:
    r"""A sentence with names in it, on one line: nothing is obeyed but what keeps a name to itself.

    >>> print(inert("\x1b[31m"), len(inert(isolated("\u05d0"))))
    \x1b[31m 3
    """
    if text.isprintable():
        return text
    return "".join(sign if sign in _ISOLATES else harmless(sign) for sign in text)


def shortened(names: Sequence[str], longest: int = _LONGEST) -> tuple[str, ...]:
    """Names as a column or a picture has room for them: long ones lose their middle, and get a number if alike then.

    >>> shortened(["reranked", "llama-3.1-70b-instruct-seed-1"])
    ('reranked', 'llama-3.1-7…truct-seed-1')
    >>> shortened([f"{'a' * 20}{n}{'b' * 20}" for n in "xy"], 12)
    ('1 aaaa…bbbbb', '2 aaaa…bbbbb')
    """
    # `shown` would cut the end of a long name, which may be all that tells it from another.
    plain = [name if name.isprintable() and name.strip() == name != "" else shown(name) for name in names]
    texts = [_without_middle(name, longest) for name in plain]
    alike, numbers = {*repeated(texts)}, [f"{number} " for number in range(1, len(texts) + 1)]
    return tuple(
        number + _without_middle(name, longest - len(number)) if text in alike else text
        for name, text, number in zip(plain, texts, numbers, strict=True)
    )


def _without_middle(name: str, longest: int) -> str:
    end = longest // 2
    return name if len(name) <= longest else f"{name[: longest - end - 1]}…{name[-end:]}"
