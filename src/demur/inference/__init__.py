"""Inference: views that can be drawn again, one pass over the draws, contrasts, intervals, warnings."""
