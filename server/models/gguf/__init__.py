"""GGUF files: parsed under limits, checked, and read once."""
