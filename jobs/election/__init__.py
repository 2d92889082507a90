"""Elections: one rule, written once, in every privacy model."""
