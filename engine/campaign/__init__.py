"""A campaign: facts and decisions as events in one file, and the state they add up to."""
