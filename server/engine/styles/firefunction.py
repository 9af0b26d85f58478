"""functools[{"name": …, "arguments": {…}}]: Firefunction v2."""

from server.engine.styles.json_body import JsonBody
from server.engine.styles.shape import Shape, native

SHAPE = Shape(JsonBody(), mark="functools[", between=", ", closes="]")
FORMAT = native("firefunction", SHAPE, " functools[")
