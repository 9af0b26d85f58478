"""Engines on other machines, reached over OpenAI's protocol."""
