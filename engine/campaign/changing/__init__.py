"""Changing the terms in the middle of a campaign: what may be changed, and what it does to the guarantee."""
