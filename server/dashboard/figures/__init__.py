"""Numbers that are computed from tables rather than guessed."""
