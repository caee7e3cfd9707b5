"""Facts: what is known, before anything is computed: units, clusters, instruments, signals."""
