"""Plugins: folders in EulerCopilot's format that let the model reach a person's own systems."""
