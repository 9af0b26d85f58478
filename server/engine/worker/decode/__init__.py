"""Choosing the next token: sampling, grammars, guesses, text."""
