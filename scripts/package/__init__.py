"""Makes installable packages from a clone."""
