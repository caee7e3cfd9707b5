"""Importers: logs of other tools are converted to units, by one registered module per tool."""

from demur.extension import Extension

_TOOLS = ("helm", "inspect", "lm-eval", "oai-evals", "promptfoo")
EXTENSION = Extension("importers", {"import": f"{__name__}.command"}, logs=dict.fromkeys(_TOOLS, f"{__name__}.units"))
