"""What is said of results: typed values with their numbers, each worded once."""
