"""A new campaign on one screen."""
