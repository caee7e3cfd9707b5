"""Features: one folder each, of what adds to an evaluation. `demur.feature` finds them."""
