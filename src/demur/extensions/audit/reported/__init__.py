"""The audit of reported figures: recomputed from the data, with the likely cause of each difference."""
