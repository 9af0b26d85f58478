"""The projector of a model, which turns pictures into embedding rows among the tokens.

In a prompt, a picture takes as many places as the model counts positions for it. The places hold
negative numbers made from the picture's bytes, so that prompts can be compared like any others.
"""

import ctypes
import hashlib
import weakref
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from server.engine.causes import JobRefused, too_long
from server.engine.worker.decode.batch import Tokens
from server.engine.worker.load.model import Model
from server.engine.worker.load.native import BYTE_P, lib, vision
from server.engine.worker.load.plan import Plan
from server.sentences import Sentence
from server.system.lazy import Late

if TYPE_CHECKING:
    from server.engine.worker.prompt.pictures import Bitmap

image_files = Late("server.engine.worker.prompt.pictures")
Rows = NDArray[np.float32]


class Chunks:
    """The chunks that llama.cpp made of a prompt, freed together with the last picture in them."""

    def __init__(self) -> None:
        self.native = vision.mtmd_input_chunks_init()
        weakref.finalize(self, vision.mtmd_input_chunks_free, self.native)

    def __iter__(self) -> Iterator[Any]:
        for number in range(vision.mtmd_input_chunks_size(self.native)):
            yield vision.mtmd_input_chunks_get(self.native, number)


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """An image in a prompt, or a part of an image: its first place, positions and tokens."""

    start: int
    positions: int
    tokens: int
    native: Any
    chunks: Chunks

    @property
    def end(self) -> int:
        return self.start + self.positions


class View:
    """An encoded picture. `done` counts the rows that the slot already holds."""

    def __init__(self, rows: Rows, places: NDArray[np.int32], *, causal: bool) -> None:
        self.rows = rows
        self.places = places
        self.causal = causal
        self.done = 0

    @property
    def left(self) -> int:
        return len(self.rows) - self.done


@dataclass(frozen=True, slots=True)
class TokenPrompt:
    tokens: Tokens
    pictures: tuple[Picture, ...] = ()


class Projector:
    """Reads and encodes pictures. `read` may be called while another thread encodes."""

    def __init__(self, path: Path, model: Model, plan: Plan) -> None:
        params = vision.mtmd_context_params_default()
        params.use_gpu = bool(model.options.gpu_layers)
        params.print_timings = False
        params.n_threads = plan.threads
        self.native = vision.mtmd_init_from_file(str(path).encode(), model.native, params)
        if not self.native or not vision.mtmd_support_vision(self.native):
            raise JobRefused(
                "model_load_failed",
                Sentence(
                    "The vision projector {0} does not match {1}.", path.name, model.path.name
                ),
            )
        self._width: int = lib.llama_model_n_embd_inp(model.native)
        self._batch_tokens = plan.part_tokens
        self._name = f"{path.name} {path.stat().st_size}".encode()
        self._is_planar = bool(vision.mtmd_decode_use_mrope(self.native))

    def read(
        self, texts: Sequence[str], images: Sequence[bytes], room: int, *, bos: bool
    ) -> TokenPrompt:
        """Puts an image between each two texts. Raises Refused if that takes more than `room`."""
        bitmaps: list[Bitmap] = image_files.decode_all(images)
        # First without pixels: a prompt that is too long is refused before it takes memory.
        sized = self._chunks(texts, bitmaps, bos, None)
        needed = vision.mtmd_helper_get_n_tokens(sized.native)
        if needed > room:
            raise too_long(needed, room)
        keys = [hashlib.sha256(image).hexdigest() for image in images]
        return self._prompt(self._chunks(texts, bitmaps, bos, keys))

    def encode(self, picture: Picture) -> View | None:
        """Encodes a picture. Returns None if that failed."""
        if vision.mtmd_encode_chunk(self.native, picture.native):
            return None
        found = vision.mtmd_get_output_embd(self.native)
        rows = np.ctypeslib.as_array(found, (picture.tokens, self._width)).copy()
        return View(rows, self._places(picture), causal=self._is_causal(picture))

    def _places(self, picture: Picture) -> NDArray[np.int32]:
        """Returns the positions of its rows: one axis, or four if the model sees in a plane."""
        if not self._is_planar:
            return np.arange(picture.start, picture.end, dtype=np.int32)[np.newaxis]
        image = vision.mtmd_input_chunk_get_tokens_image(picture.native)
        found = (vision.mtmd_decoder_pos * picture.tokens)()
        vision.mtmd_helper_image_get_decoder_pos(image, picture.start, found)
        places = np.ctypeslib.as_array(found)
        return np.stack([places[axis].astype(np.int32) for axis in ("t", "y", "x", "z")])

    def _is_causal(self, picture: Picture) -> bool:
        """Whether its rows see only those before them, like text. Else they are read at once."""
        return not vision.mtmd_decode_use_non_causal(self.native, picture.native)

    def _chunks(
        self, texts: Sequence[str], bitmaps: "Sequence[Bitmap]", bos: bool, keys: list[str] | None
    ) -> Chunks:
        chunks = Chunks()
        with ExitStack() as held:
            parts = list(_text_parts(texts))
            for number, bitmap in enumerate(bitmaps):
                key = keys[number] if keys else None
                native = _native_bitmap(bitmap, key)
                held.callback(vision.mtmd_bitmap_free, native)
                parts.insert(2 * number + 1, vision.mtmd_input_part(None, native))
            kept = [part for part in parts if part is not None]
            array = (ctypes.POINTER(vision.mtmd_input_part) * len(kept))(
                *(ctypes.pointer(part) for part in kept)
            )
            failed = vision.mtmd_tokenize_from_parts(
                self.native, chunks.native, array, len(kept), bos
            )
        if failed:
            raise JobRefused(
                "invalid_request", Sentence("The model cannot read one of the images.")
            )
        return chunks

    def _prompt(self, chunks: Chunks) -> TokenPrompt:
        pieces: list[Tokens] = []
        pictures: list[Picture] = []
        seen: Counter[bytes] = Counter()
        start = 0
        for native in chunks:
            if vision.mtmd_input_chunk_get_type(native) == vision.MTMD_INPUT_CHUNK_TYPE_TEXT:
                piece = _tokens_of(native)
                if (piece < 0).any():
                    raise JobRefused(
                        "not_supported",
                        Sentence(
                            "The vision projector does not match this "
                            "model: the model lacks tokens it uses."
                        ),
                    )
            else:
                picture = _picture(native, start, chunks)
                self._check(picture)
                pictures.append(picture)
                key = vision.mtmd_input_chunk_get_id(native)
                name = b"%s %s %d" % (self._name, key, seen[key])
                piece = _marks(name, picture.positions)
                seen[key] += 1
            pieces.append(piece)
            start += len(piece)
        return TokenPrompt(np.concatenate(pieces), tuple(pictures))

    def _check(self, picture: Picture) -> None:
        if picture.tokens > self._batch_tokens and not self._is_causal(picture):
            raise JobRefused(
                "not_supported",
                Sentence(
                    "An image takes {0} tokens that the model must read at once; "
                    "it is loaded for {1} at a time.",
                    picture.tokens,
                    self._batch_tokens,
                ),
            )


def _text_parts(texts: Sequence[str]) -> Iterator[Any]:
    for text in texts:
        raw = text.encode()
        whole = vision.mtmd_input_text(raw, len(raw), False, True)  # noqa: FBT003 - a C struct
        yield vision.mtmd_input_part(ctypes.pointer(whole), None) if raw else None


def _native_bitmap(bitmap: "Bitmap", key: str | None) -> Any:
    """Makes a native bitmap. Without a key it has only a size, which is enough to count tokens."""
    pixels = ctypes.cast(ctypes.c_char_p(bitmap.pixels), BYTE_P) if key else None
    native = vision.mtmd_bitmap_init(bitmap.width, bitmap.height, pixels)
    if key:
        vision.mtmd_bitmap_set_id(native, key.encode())
    return native


def _picture(native: Any, start: int, chunks: Chunks) -> Picture:
    positions = vision.mtmd_input_chunk_get_n_pos(native)
    tokens = vision.mtmd_input_chunk_get_n_tokens(native)
    return Picture(start, positions, tokens, native, chunks)


def _tokens_of(native: Any) -> Tokens:
    count = ctypes.c_size_t()
    found = vision.mtmd_input_chunk_get_tokens_text(native, ctypes.byref(count))
    return np.ctypeslib.as_array(found, (count.value,)).astype(np.int32)


def _marks(name: bytes, count: int) -> Tokens:
    """Returns numbers below -1 (not tokens), the same for the same part of the same image."""
    digest = hashlib.shake_256(name).digest(4 * count)
    return -2 - (np.frombuffer(digest, "<u4") >> 2).astype(np.int32)
