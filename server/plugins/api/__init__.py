"""Actions that call an HTTP API described by openapi.yaml."""
