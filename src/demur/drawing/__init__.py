"""Drawing: picture data without knowledge of any file, and the SVG and HTML that page and notebook make of it."""
