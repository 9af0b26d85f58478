"""What a screen or a terminal sees of the core, and the way to it over a wire."""
