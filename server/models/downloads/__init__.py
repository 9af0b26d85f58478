"""Downloads that fetch a file in pieces, resume after a crash and verify the result."""
