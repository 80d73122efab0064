"""One page per step of a campaign."""
