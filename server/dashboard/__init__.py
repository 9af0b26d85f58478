"""Answering questions about a dashboard whose data the client holds."""
