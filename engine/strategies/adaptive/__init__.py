"""``adaptive``: every phase counts towards every decision."""
