"""Reports: results for people, as pages, tables, figures and text."""
