"""Reports: what an artifact says, for people."""
