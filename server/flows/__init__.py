"""Flows: declared steps that call tools and the model, in EulerCopilot's format."""
