"""Stored conversations: their runs, their files and their responses."""
