"""AG-UI, a protocol for agents whose runs are streams of events. CopilotKit uses it since 1.50."""
