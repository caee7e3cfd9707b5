"""Samples: the data as a table per cluster, how often each cluster is drawn, and running sums with their areas."""
