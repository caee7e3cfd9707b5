"""Work on parts of the data, by whoever the user has: this process, other processes, or a cluster."""
