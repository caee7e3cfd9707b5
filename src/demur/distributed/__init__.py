"""Evaluation of data in parts, by this process, several processes, or a Dask cluster."""
