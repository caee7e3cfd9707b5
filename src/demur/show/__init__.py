"""What is said of results, and how each medium shows it."""
