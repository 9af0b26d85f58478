"""Action: and a fenced list of {"tool_name": …, "parameters": {…}}: Command R and R+."""

from server.engine.styles.json_body import JsonBody
from server.engine.styles.shape import Shape, native

SHAPE = Shape(
    JsonBody("tool_name", "parameters"),
    mark="Action:",
    opens="\n```json\n[",
    between=", ",
    closes="]\n```",
    lead="\n",
)
FORMAT = native("command r", SHAPE, "Action:", "```json")
