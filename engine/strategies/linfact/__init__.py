"""LinFACT: all compounds within epsilon of the best."""
