"""Promises that are not met yet and name no later part of the road map: an entry goes when its promise is met."""

COMING: tuple[str, ...] = ()
"""How the items begin, as `make audit` prints them."""
