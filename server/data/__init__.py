"""Rows, documents and texts from outside: read, described, queried and drawn."""
