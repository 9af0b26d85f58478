"""What Core is made of: each part one thing it opens, asks and closes."""
