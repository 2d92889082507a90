"""Graphs: links under edge privacy, what they add up to, and a graph that may be released."""
