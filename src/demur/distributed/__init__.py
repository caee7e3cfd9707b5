"""Evaluation of data in parts, by this process, several processes, a Dask cluster, or sites that keep their data."""
