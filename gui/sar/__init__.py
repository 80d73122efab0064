"""The SAR page."""
