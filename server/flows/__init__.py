"""Flows: steps declared in YAML that call tools and the model, in EulerCopilot's format."""
