"""Confidences: the numbers that rank answers, from a signal of a run to the output of a fitted calibrator."""
