"""functools[{"name": …, "arguments": {…}}]: Firefunction v2."""

from server.engine.formats.json_body import JsonBody
from server.engine.formats.shape import Shape, native

SHAPE = Shape(JsonBody(), mark="functools[", between=", ", closes="]")
FORMAT = native("firefunction", SHAPE, " functools[")
