"""Results: the two tasks, the table of estimates with what stands beside it, and the files it is written to."""
