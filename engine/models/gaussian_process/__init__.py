"""The series model: a Gaussian process on the sites of a series."""
