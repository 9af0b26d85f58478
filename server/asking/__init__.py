"""Asks the model short questions, with answers of a fixed form."""
