"""Plates in a campaign: where measurements stand, and what controls say."""
