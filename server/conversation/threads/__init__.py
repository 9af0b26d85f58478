"""Conversations that are kept: their runs, their files and their responses."""
