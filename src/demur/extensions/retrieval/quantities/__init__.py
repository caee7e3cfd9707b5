"""The quantities of retrieval, in the order they are listed in: of detection, of rankings, and of what is shown."""

# isort: off
from demur.extensions.retrieval.quantities import detection, ranking, evidence  # noqa: F401
