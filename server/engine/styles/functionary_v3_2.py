"""name, a line break and {…}, parts divided by >>>, text to "all": Functionary v3.2."""

from functools import partial

from server.engine.styles.base import Format
from server.engine.styles.recipient import Recipients, prepare
from server.engine.styles.shape import has

STYLE = Recipients(between="\n", again=">>>")
FORMAT = Format("functionary v3.2", has(">>>all"), partial(prepare, STYLE), always=True)
