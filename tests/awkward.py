"""Names and ids that a program would stumble over if it took them for anything but data."""

from hypothesis import strategies as st

PREFIXES = [
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
_TEXTS = st.text(st.sampled_from("ab1/:@|'\", .-_+é"), min_size=1, max_size=6).filter(lambda text: text == text.strip())

NAMES = st.sampled_from(PREFIXES) | _TEXTS
IDS = st.sampled_from([*PREFIXES, "a=b", "=", "1=1"]) | st.text(
    st.sampled_from("ab1/:@=|'\", .-_+é"), min_size=1, max_size=6
).filter(lambda text: text == text.strip())
