"""Confidences: what ranks the answers, from a signal of a run to a fitted calibrator."""
