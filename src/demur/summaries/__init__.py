"""Summaries: the counts that every number of a curve is made of. They are whole numbers, and merge in any order."""
