"""The wizard of a new campaign."""
