"""Statements about results: typed values with their numbers, each worded once."""
