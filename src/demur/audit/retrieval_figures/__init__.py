"""Figures of rankings recomputed by plain loops in fractions, which share no code with `demur.quantities`."""

from demur.audit.retrieval_figures import detection, ranking, selection
from demur.audit.retrieval_figures.numbers import Figure

FIGURES: dict[str, Figure] = ranking.FIGURES | selection.FIGURES | detection.FIGURES

__all__ = ["FIGURES", "detection", "ranking", "selection"]
