"""<TOOLCALL>[{"name": …, "arguments": {…}}]</TOOLCALL>: Nemotron Nano."""

from server.engine.styles.json_body import JsonBody
from server.engine.styles.shape import Shape, native

SHAPE = Shape(JsonBody(), mark="<TOOLCALL>", opens="[", between=", ", closes="]</TOOLCALL>")
FORMAT = native("nemotron", SHAPE, "<TOOLCALL>")
