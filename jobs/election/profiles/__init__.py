"""Profiles that are made, not cast: those of the lower bounds' proofs, and random ones of a chosen margin."""
