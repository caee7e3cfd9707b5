"""The quantities of retrieval, in the order they are listed in: of detection, of rankings, and of what is shown."""

from demur.quantities.registry import FAMILIES, Family

_COMPUTED_BY = "evaluate_retrieval computes it, of rankings"
FAMILIES |= {
    "ranking": Family(
        _COMPUTED_BY,
        {
            "Ties": "none: a list has an order.",
            "Abstentions": "an empty list finds nothing: 0.",
            "Undefined": "never; 0 where there is no gold.",
        },
    ),
    "selection": Family(_COMPUTED_BY, {"Ties": "none: what is shown is a set.", "Undefined": "never."}),
    "decision": Family(
        _COMPUTED_BY, {"Ties": "none, rankings are not looked at.", "Abstentions": "are what is judged."}
    ),
}

# isort: off
from demur.extensions.retrieval.quantities import detection, ranking, evidence  # noqa: E402, F401
