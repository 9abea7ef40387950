"""Leaves: small functions that know nothing of ptp."""
