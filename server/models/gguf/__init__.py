"""Reads GGUF files: parses them within limits, checks them and caches their headers."""
