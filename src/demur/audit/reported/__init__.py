"""Reported figures: what somebody computed from the same data, recomputed, and why it differs where it does."""
