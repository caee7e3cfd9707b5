"""Files: strict JSON, models of the files that demur writes, and atomic writing."""
