"""Answers questions about a dashboard whose data the client holds and sends on request."""
