"""Sets up a fresh clone until the program runs. It needs only Python's standard library."""
