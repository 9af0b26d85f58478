"""Finds words, numbers and dates in what people write."""
