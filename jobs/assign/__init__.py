"""Assign: tasks packed by leaf, which workers fetch without saying whose they are."""
