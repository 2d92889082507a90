"""Ratios against peers and against the machine's own limits, measured side by side in one run."""
