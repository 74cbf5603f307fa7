"""Keep special tokens out of corpus text: text that spells ``[SEP]`` or ``</s>`` is tokenized as plain characters."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from lexshift.encode.protocol import Span

_FIRST = 0x100000  # the first of the private characters that disguise special tokens
_REPLACEMENT = "\ufffd"


class SpecialTokens:
    """The special tokens of a fast tokenizer, and a copy of the tokenizer in which they have other names.

    Each special token is disguised as a run of one private character, as long as the token, so that character offsets
    stay the same. The copy of the tokenizer spells special tokens by their disguises, in its vocabulary as well. So
    corpus text cannot spell a special token, and every disguise was inserted on purpose. Telling the tokenizer to split
    special tokens would not be enough, because some vocabularies contain them as pieces of text.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        special = dict(zip(tokenizer.all_special_tokens, tokenizer.all_special_ids, strict=True))
        special |= {token.content: number for number, token in tokenizer.added_tokens_decoder.items() if token.special}
        names = sorted(filter(None, special), key=lambda name: (-len(name), name))
        self._disguises = {name: chr(_FIRST + i) * len(name) for i, name in enumerate(names)}
        self._names = {disguise: name for name, disguise in self._disguises.items()}
        self._spelled = re.compile("|".join(map(re.escape, names)) or "(?!)")
        self._disguised = re.compile("|".join(self._names) or "(?!)")
        self._private = re.compile(f"[{chr(_FIRST)}-{chr(_FIRST + len(names))}]")
        self._unknown: str | None = tokenizer.unk_token
        # Text that the vocabulary does not cover legitimately becomes the unknown token.
        self._numbers = np.array(sorted(set(special.values()) - {tokenizer.unk_token_id}), np.int64)

    def highest_text_id(self) -> int:
        """Return the highest id that plain text may have; special tokens do not count."""
        numbers = np.fromiter(self._tokenizer.get_vocab().values(), np.int64)
        return int(numbers[~np.isin(numbers, self._numbers)].max(initial=0))

    def clean(self, sentence: str) -> str:
        """Return a corpus sentence without the characters that disguises are made of."""
        return self._private.sub(_REPLACEMENT, sentence)

    def break_up(self, sentence: str) -> str:
        """Return a sentence of the same length without spelled special tokens, for libraries that would parse them."""
        return self._spelled.sub(lambda match: " " + match[0][1:], sentence)

    def disguise(self, marker: str) -> str:
        """Return a marker with its special tokens disguised."""
        return self._spelled.sub(lambda match: self._disguises[match[0]], marker)

    def reveal(self, sentences: Sequence[str]) -> tuple[list[str], npt.NDArray[np.int64]]:
        """Return sentences with disguised markers replaced by special tokens, and the number of these in each."""
        revealed = [self._disguised.subn(lambda match: self._names[match[0]], sentence) for sentence in sentences]
        return [text for text, _ in revealed], np.array([count for _, count in revealed], np.int64)

    def find_wrong(
        self, sentences: Sequence[str], ids: Sequence[npt.NDArray[np.int64]], marker_counts: npt.NDArray[np.int64]
    ) -> list[int]:
        """Return the indices of sentences whose number of special tokens differs from their number of markers."""
        rows = np.repeat(np.arange(len(ids)), [len(row) for row in ids])
        counts = np.bincount(rows[np.isin(np.concatenate(ids), self._numbers)], minlength=len(ids))
        spelled = np.array([self._unknown is not None and self._unknown in sentence for sentence in sentences])
        return np.flatnonzero((counts != marker_counts) | spelled).tolist()

    def tokenize(self, sentence: str) -> tuple[npt.NDArray[np.int64], list[Span]]:
        """Return the ids and offsets of a clean sentence; only its disguised markers become special tokens."""
        encoding = self._disguised_tokenizer.encode(sentence, add_special_tokens=False)
        return np.array(encoding.ids, np.int64), encoding.offsets

    @cached_property
    def _disguised_tokenizer(self) -> Any:
        """The copy of the tokenizer, made on first use because it takes time and few corpora need it."""
        from tokenizers import Tokenizer

        spec = json.loads(self._tokenizer.backend_tokenizer.to_str())
        spec["truncation"] = spec["padding"] = None
        for token in spec["added_tokens"]:
            if token["content"] in self._disguises:
                token |= {"content": self._disguises[token["content"]], "normalized": False}
        model = spec["model"]
        vocabulary = model["vocab"]
        if isinstance(vocabulary, dict):
            model["vocab"] = {self._disguises.get(piece, piece): number for piece, number in vocabulary.items()}
        else:  # pieces with their scores
            model["vocab"] = [[self._disguises.get(piece, piece), score] for piece, score in vocabulary]
        if model.get("unk_token") is not None:
            model["unk_token"] = self._disguises.get(model["unk_token"], model["unk_token"])
        return Tokenizer.from_str(json.dumps(spec))
