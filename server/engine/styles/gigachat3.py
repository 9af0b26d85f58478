"""A message of the role "function call" with {"name": …, "arguments": {…}}: GigaChat 3."""

from server.engine.styles.json_body import JsonBody
from server.engine.styles.shape import Shape, native

SHAPE = Shape(
    JsonBody(), mark="<|message_sep|>\n\nfunction call<|role_sep|>", opens="\n", single=True
)
FORMAT = native("gigachat 3", SHAPE, "function call", "<|message_sep|>", "<|role_sep|>")
