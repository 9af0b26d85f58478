"""The page of the first run."""
