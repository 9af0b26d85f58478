"""<|recipient|>name and <|content|>{…}, text to "all": Functionary v2."""

from functools import partial

from server.engine.styles.base import Format
from server.engine.styles.recipient import Recipients, prepare
from server.engine.styles.shape import has

STYLE = Recipients(between="\n<|content|>", again="\n<|from|>assistant\n<|recipient|>")
FORMAT = Format(
    "functionary v2", has("<|from|>", "<|recipient|>"), partial(prepare, STYLE), always=True
)
