"""Names and ids that a program would stumble over if it took them for anything but data."""

from hypothesis import strategies as st

_SPELLED = [
    "bge",
    "bge/large",
    "bge/large/v2",
    "bg",
    "a",
    "aa",
    "a a",
    "a:b",
    "a@10",
    "a|b",
    'a"b',
    "a'b",
    "a,b",
    "all",
]


def _trimmed(characters: str) -> st.SearchStrategy[str]:
    return st.text(st.sampled_from(characters), min_size=1, max_size=6).filter(lambda text: text == text.strip())


NAMES = st.sampled_from(_SPELLED) | _trimmed("ab1/:@|'\", .-_+é")
IDS = st.sampled_from([*_SPELLED, "a=b", "=", "1=1", "1.5", "007", "null", "NaN"]) | _trimmed("ab1/:@=|'\", .-_+é")
