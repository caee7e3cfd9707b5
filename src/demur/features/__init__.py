"""Features: what adds to an evaluation, one folder each; the core finds them through `demur.feature`."""
