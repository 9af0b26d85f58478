"""Words, numbers and dates in what people write."""
