"""Audit: results of demur evaluated again, and figures of others, with the likely cause of each difference."""
