"""Raters of the same units, published points and forced runs, to compare systems with."""
