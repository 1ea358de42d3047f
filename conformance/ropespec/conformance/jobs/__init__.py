"""Checks asked of a subject one after another, in as many processes as are wanted."""
