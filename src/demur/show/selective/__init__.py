"""The page of an evaluation of answers."""
