"""The button language."""
