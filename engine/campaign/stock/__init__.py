"""Stock, costs and lead times in a campaign, and the plans there are to choose from."""
