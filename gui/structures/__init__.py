"""Structures as they are drawn and copied."""
