"""Names from files, escaped and shortened for pictures, columns and sentences."""

from collections.abc import Sequence
from unicodedata import bidirectional

from demur.errors import harmless, repeated, shown

_FROM_THE_RIGHT = ("R", "AL", "AN")
_ISOLATES = ("\u2068", "\u2069")  # Unicode isolates around right-to-left names
_LONGEST = 24


def isolated(name: str) -> str:
    r"""Prepare a name for a sentence: right-to-left names get Unicode isolates, so as not to reorder other words.

    >>> isolated("few_shot"), len(isolated("\u05d0")), isolated("\u202e")
    ('few_shot', 3, "'\\u202e'")
    """
    text = shown(name)
    return text.join(_ISOLATES) if any(bidirectional(letter) in _FROM_THE_RIGHT for letter in text) else text


def inert(text: str) -> str:
    r"""A sentence on one line, with all control characters escaped except Unicode isolates.

    >>> print(inert("\x1b[31m"), len(inert(isolated("\u05d0"))))
    \x1b[31m 3
    """
    if text.isprintable():
        return text
    return "".join(character if character in _ISOLATES else harmless(character) for character in text)


def shortened(names: Sequence[str], longest: int = _LONGEST) -> tuple[str, ...]:
    """Shorten names: long ones lose their middle, and get a number if they would be the same.

    >>> shortened(["reranked", "llama-3.1-70b-instruct-seed-1"])
    ('reranked', 'llama-3.1-7…truct-seed-1')
    >>> shortened([f"{'a' * 20}{n}{'b' * 20}" for n in "xy"], 12)
    ('1 aaaa…bbbbb', '2 aaaa…bbbbb')
    """
    # `shown` would cut the end of a long name, which may be what distinguishes it.
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


def unisolated(text: str) -> str:
    r"""Remove the Unicode isolates around right-to-left names, for media that do not support them.

    >>> unisolated(isolated("\u05d0")) == "\u05d0"
    True
    """
    return "".join(character for character in text if character not in _ISOLATES)
