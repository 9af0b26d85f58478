"""Decoding: batches, and the choice of the next token by sampling, by a grammar or on a card."""
