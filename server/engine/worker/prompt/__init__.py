"""Turning a request into tokens: templates, vocabulary, pictures."""
