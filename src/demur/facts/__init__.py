"""The data of an evaluation before anything is computed: units, rankings, clusters, instruments and signals."""
