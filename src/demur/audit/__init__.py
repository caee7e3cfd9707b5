"""Audit: reported figures recomputed by plain loops that share no metric code with the evaluator."""
