"""Models of measured compounds: least squares, the posterior view, diagnostics."""
