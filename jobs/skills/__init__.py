"""Skills: the private k-d tree over encrypted histograms."""
