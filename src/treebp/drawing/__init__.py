"""Trees, plots and pages as SVG, HTML or text for a terminal. What they show is computed elsewhere."""
