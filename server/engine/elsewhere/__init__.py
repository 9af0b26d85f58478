"""An engine on another machine, behind OpenAI's protocol."""
