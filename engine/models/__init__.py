"""What measurements say about compounds: least squares, the posterior view, diagnostics."""
