"""Charts as SVG and HTML for the page and notebooks; they know nothing of files or results."""
