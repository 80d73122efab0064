"""Exports of the program: work lists and shortlists."""
