"""What leaves the program: work lists and shortlists."""
