"""Actions of MCP servers."""
