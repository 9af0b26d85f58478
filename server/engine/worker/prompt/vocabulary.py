"""Turns text into tokens and back, with a cache of the text of each token."""

import ctypes
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.engine.causes import JobRefused, too_long
from server.engine.worker.decode.batch import Tokens
from server.engine.worker.load.native import INT_P, lib, pointer

PIECE_BYTES = 1024
PART_CHARS = 4096
"""The rough size of a part in characters. A long text is tokenised in parts, because llama.cpp
searches the rest for every marker after each one that it finds, which takes quadratic time."""
PARTED_FROM = 2 * PART_CHARS
LOST_AT_A_CUT = 8
"""A cut through a word makes some more tokens of it, but always fewer than this."""
NO_TOKEN = (
    "{part} is no token of this model, which has {size}. Send text, or tokens of this model: the "
    "tokens of another one mean something else here."
)


class Unwanted(Exception):
    """The request was cancelled, so nobody waits for the result."""


class Markers:
    """Finds where a text can be cut without a change of its tokens: before a marker that no other
    marker overlaps."""

    def __init__(self, texts: Iterable[str], cuttable: Iterable[str]) -> None:
        known = [text for text in texts if text]
        self._cuttable = tuple(text for text in cuttable if text)
        self._by_first: dict[str, tuple[str, ...]] = {}
        for text in known:
            self._by_first[text[0]] = (*self._by_first.get(text[0], ()), text)
        firsts = "".join(map(re.escape, {text[0] for text in self._cuttable}))
        self._firsts = re.compile(f"[{firsts}]") if firsts else None
        self._longest = max(map(len, known), default=0)

    def parts(self, text: str) -> Iterator[str]:
        start = 0
        while start < len(text):
            end = self._cut(text, start + PART_CHARS)
            yield text[start:end]
            start = end

    def _cut(self, text: str, at: int) -> int:
        found = self._firsts.finditer(text, at) if self._firsts else ()
        places = (match.start() for match in found)
        return next((place for place in places if self._is_clear(text, place)), len(text))

    def _is_clear(self, text: str, place: int) -> bool:
        if not text.startswith(self._cuttable, place):
            return False
        for before in range(max(0, place - self._longest + 1), place):
            for marker in self._by_first.get(text[before], ()):
                if len(marker) > place - before and text.startswith(marker, before):
                    return False
        return True


class Vocabulary:
    def __init__(self, native: Any) -> None:
        self.native = native
        self.size: int = lib.llama_vocab_n_tokens(native)
        self.adds_bos: bool = lib.llama_vocab_get_add_bos(native)
        self.bos = self._special(lib.llama_vocab_bos(native))
        self.eos = self._special(lib.llama_vocab_eos(native))
        self.ends = frozenset(t for t in range(self.size) if lib.llama_vocab_is_eog(native, t))
        self._pieces: dict[int, bytes] = {}
        self._marked: dict[int, bytes] = {}
        self._digit_first: NDArray[np.bool_] | None = None
        self._markers: Markers | None = None

    def tokenize(
        self,
        text: str,
        *,
        special: bool = True,
        bos: bool = False,
        most: int | None = None,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Tokens:
        """Tokenises a text. If it is long, raises Refused as soon as it surely has more than `most`
        tokens, and Unwanted if `is_wanted` returns False between two parts."""
        if len(text) <= PARTED_FROM:
            return self._tokenize(text, special=special, bos=bos)
        begin, end = self._around() if bos else ((), ())
        made, count, seen = [np.array(begin, np.int32)], len(begin), 0
        for part in self._markers_known.parts(text) if special else (text,):
            if not is_wanted():
                raise Unwanted
            if most is not None and len(part) > max(PARTED_FROM, 2 * (most - count)):
                self._count_slices(part, (count, seen, len(text)), most, special, is_wanted)
            tokens = self._tokenize(part, special=special)
            made.append(tokens)
            count += len(tokens)
            seen += len(part)
            if most is not None and count > most:
                raise too_long(count * len(text) // seen, most, is_certain=seen == len(text))
        return np.concatenate([*made, np.array(end, np.int32)])

    def _count_slices(
        self,
        part: str,
        so_far: tuple[int, int, int],
        most: int,
        special: bool,
        is_wanted: Callable[[], bool],
    ) -> None:
        """Raises Refused if a part is too long, before it is tokenised as a whole."""
        count, seen, whole = so_far
        for at in range(0, len(part), PART_CHARS):
            if not is_wanted():
                raise Unwanted
            cut = part[at : at + PART_CHARS]
            count += max(1, len(self._tokenize(cut, special=special)) - LOST_AT_A_CUT)
            seen += len(cut)
            if count > most:
                raise too_long(count * whole // seen, most, is_certain=False)

    def _tokenize(self, text: str, *, special: bool, bos: bool = False) -> Tokens:
        raw = text.encode()
        room = len(raw) + 8
        tokens = np.empty(room, np.int32)
        count = lib.llama_tokenize(
            self.native, raw, len(raw), pointer(tokens, INT_P), room, bos, special
        )
        return tokens[: max(0, count)].copy()

    def _around(self) -> tuple[Sequence[int], Sequence[int]]:
        """Returns the tokens that the model wants before and after a prompt."""
        both = self._tokenize("", special=False, bos=True).tolist()
        begins = bool(both) and both[0] == lib.llama_vocab_bos(self.native)
        return (both[:1], both[1:]) if begins else ((), both)

    @property
    def _markers_known(self) -> "Markers":
        if self._markers is None:
            strips = lib.LLAMA_TOKEN_ATTR_LSTRIP
            found = self.special_tokens()
            bare = {
                text
                for text, token in found.items()
                if not lib.llama_vocab_get_attr(self.native, token) & strips
            }
            self._markers = Markers(found, bare)
        return self._markers

    def tokenize_prompt(
        self,
        text: str,
        most: int | None = None,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Tokens:
        """Tokenises a whole prompt with its markers. Adds the BOS that the model wants, once."""
        return self.tokenize(text, bos=self.lacks_bos(text), most=most, is_wanted=is_wanted)

    def tokenize_parts(self, parts: Sequence[str | int], most: int | None = None) -> Tokens:
        """Tokenises a prompt of texts and token numbers. Only a text at its start may get a BOS."""
        made: list[Tokens] = []
        for at, part in enumerate(parts):
            if isinstance(part, str):
                made.append(self.tokenize(part, bos=at == 0 and self.lacks_bos(part), most=most))
            elif 0 <= part < self.size:
                made.append(np.array([part], np.int32))
            else:
                raise JobRefused("invalid_request", NO_TOKEN.format(part=part, size=self.size))
        return np.concatenate(made) if made else np.empty(0, np.int32)

    def tokenize_infill(
        self,
        gap: Mapping[str, Any],
        begin: str | Sequence[str | int],
        most: int | None = None,
    ) -> Tokens:
        """Tokenises the text around a gap. Raises Refused if the model has no marks for gaps."""
        names = ("pre", "suf", "mid", "rep", "sep")
        marks = {name: getattr(lib, f"llama_vocab_fim_{name}")(self.native) for name in names}
        if min(marks["pre"], marks["suf"], marks["mid"]) < 0:
            raise JobRefused(
                "not_supported", "This model cannot fill a gap: it has no marks for one."
            )
        parts: list[str | int] = [lib.llama_vocab_bos(self.native)] if self.adds_bos else []
        if marks["rep"] >= 0 and gap["files"]:
            parts += [marks["rep"], "project\n"]
        for name, text in gap["files"]:
            heading = (
                [marks["sep"], f"{name}\n"] if marks["sep"] >= 0 else [f"\n\n--- {name} ---\n"]
            )
            parts += [*heading, text]
        if marks["sep"] >= 0 and gap["files"]:
            parts += [marks["sep"], "current\n"]
        parts += [marks["pre"], gap["before"], marks["suf"], gap["after"], marks["mid"]]
        parts += [begin] if isinstance(begin, str) else begin
        # The texts are untrusted: marks in them count as plain text.
        known = (
            self.tokenize(part, special=False, most=most) if isinstance(part, str) else [part]
            for part in parts
        )
        return np.concatenate([np.asarray(tokens, np.int32) for tokens in known])

    def lacks_bos(self, prompt: str) -> bool:
        return not (self.bos and prompt.startswith(self.bos))

    def piece(self, token: int) -> bytes:
        """Returns the bytes that a token adds to the answer; empty for markers."""
        known = self._pieces.get(token)
        if known is None:
            known = self._pieces[token] = self._read(token, special=False)
        return known

    def marked_piece(self, token: int) -> bytes:
        """Returns the bytes of a token, with markers spelled out."""
        known = self._marked.get(token)
        if known is None:
            known = self._marked[token] = self._read(token, special=True)
        return known

    def detokenize(self, tokens: Sequence[int]) -> str:
        known = (t for t in tokens if 0 <= t < self.size)
        return b"".join(self.marked_piece(t) for t in known).decode(errors="replace")

    def markers(self, texts: Iterable[str]) -> frozenset[int]:
        """Returns the tokens whose spelling is exactly one of the texts."""
        found = (self.tokenize(text) for text in texts)
        return frozenset(int(tokens[0]) for tokens in found if len(tokens) == 1)

    def special_tokens(self) -> dict[str, int]:
        """Returns the special tokens (markers) by their spelling."""
        shown = lib.LLAMA_TOKEN_ATTR_CONTROL | lib.LLAMA_TOKEN_ATTR_USER_DEFINED
        ids = (t for t in range(self.size) if lib.llama_vocab_get_attr(self.native, t) & shown)
        return {self.marked_piece(t).decode(errors="replace"): t for t in ids}

    def begins_with_digit(self) -> NDArray[np.bool_]:
        """Returns for each token whether its text begins with a digit."""
        if self._digit_first is None:
            pieces = (self.piece(token)[:1].isdigit() for token in range(self.size))
            self._digit_first = np.fromiter(pieces, np.bool_, self.size)
        return self._digit_first

    def _special(self, token: int) -> str:
        return "" if token < 0 else self._read(token, special=True).decode(errors="replace")

    def _read(self, token: int, *, special: bool) -> bytes:
        buffer = ctypes.create_string_buffer(PIECE_BYTES)
        size = lib.llama_token_to_piece(self.native, token, buffer, PIECE_BYTES, 0, special)
        return buffer.raw[: max(0, size)]
