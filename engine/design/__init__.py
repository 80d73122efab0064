"""Which compounds to measure, and how often: optimal designs with certificates."""
