"""Graphs: links under edge privacy, what they amount to, and a graph that may be released."""
