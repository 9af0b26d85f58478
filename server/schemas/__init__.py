"""JSON Schemas and grammars: simplifies, bounds, checks and fills in schemas."""
