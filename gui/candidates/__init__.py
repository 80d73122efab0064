"""The Candidates page."""
