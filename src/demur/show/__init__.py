"""Statements about results, and their rendering for console, page, tables, figures and papers."""
