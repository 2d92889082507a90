"""Tests, path for path as the product."""
