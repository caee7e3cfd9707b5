"""Audit: results of demur evaluated again, and figures that others reported, with the likely cause of each difference."""
