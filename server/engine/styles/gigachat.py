"""<|function_call|>{"name": …, "arguments": {…}}: GigaChat 3.1."""

from server.engine.styles.json_body import JsonBody
from server.engine.styles.shape import Shape, native

SHAPE = Shape(JsonBody(), mark="<|function_call|>", single=True)
FORMAT = native("gigachat", SHAPE, "<|function_call|>")
