"""Reads, describes, queries and draws tables, documents and texts that come from outside."""
