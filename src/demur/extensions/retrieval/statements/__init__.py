"""What is said of results of retrieval."""
