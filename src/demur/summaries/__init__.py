"""Summaries: whole-number counts from which every quantity of a curve follows, and which merge in any order."""
