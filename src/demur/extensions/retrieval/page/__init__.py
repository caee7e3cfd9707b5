"""The page of an evaluation of retrieval."""
