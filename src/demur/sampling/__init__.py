"""Bootstrap samples: the data as a table per cluster, the weights of the clusters, running sums and their areas."""
