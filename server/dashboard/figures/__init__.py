"""Computes numbers from tables, so that no model has to guess them."""
