"""The interface of the core for windows and terminals, and its transport between processes."""

from typing import Annotated

from pydantic import PlainSerializer, PlainValidator

from server.sentences import from_wire, to_wire

Text = Annotated[str, PlainValidator(from_wire), PlainSerializer(to_wire, when_used="json")]
"""A text for people. If it is a `Sentence`, the window gets its template and its fields."""
