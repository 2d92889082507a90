"""The command, end to end, on real processes."""
