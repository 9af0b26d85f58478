"""JSON Schemas and grammars: made plain, bounded, checked, filled in."""
