"""Files: strict JSON, the models of what is written, and writing a whole file or none."""
