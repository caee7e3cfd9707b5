"""Facts: what is known, before anything is computed: units, rankings, clusters, instruments, signals."""
