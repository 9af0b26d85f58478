"""CopilotKit's runtime: GraphQL for clients up to 1.10.6, AG-UI for clients since 1.50."""

from server.protocols.copilotkit.routes import ENDPOINTS

__all__ = ["ENDPOINTS"]
