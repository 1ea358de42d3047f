"""The styles themselves."""
