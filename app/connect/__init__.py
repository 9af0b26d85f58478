"""The Connect page."""
