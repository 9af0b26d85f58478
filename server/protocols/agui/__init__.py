"""AG-UI: agents whose runs are streams of typed events. CopilotKit speaks it from 1.50 on."""
