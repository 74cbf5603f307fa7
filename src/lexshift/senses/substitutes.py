"""Describe a sense by substitutes: the words that a masked language model expects in place of the target word.

Card (2023) masks the word in each usage and takes the likeliest fillers that are whole words. Those of a sense are
counted, and the ones that are more frequent than in the other senses come first, ordered by their log-likelihood ratio.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from lexshift.corpus.tokens import split_words
from lexshift.corpus.vocabulary import is_word
from lexshift.encode.batches import make_batches
from lexshift.encode.loading import check_folder, find_model, first_line, load_tokenizer, quiet
from lexshift.encode.windows import Ids, WindowTokenizer
from lexshift.errors import UserError
from lexshift.senses.description import SenseUsages
from lexshift.senses.distinctive_words import log_likelihood_ratios

_BATCH_TOKENS = 2_048
_WINDOW = 128  # tokens around the word
_REPEATED = 2  # usages that must have a substitute
_UNUSED = ("pooler.", "embeddings.position_ids")  # weights that a masked language model does not need
_BEGINNINGS = ("\u2581", "\u0120")  # how tokenizers of sentencepiece and of bytes mark the first piece of a word
_CONTINUATION = "##"


class Substitutes:
    """Find the likeliest substitutes of the word in each sense.

    Parameters
    ----------
    model, tokenizer
        A masked language model of transformers and its fast tokenizer, as :func:`load_masked_model` returns them.
    n_words : int
        Maximum number of substitutes of a sense.
    n_fillers : int
        Number of substitutes of a usage that are counted.
    """

    name = "substitutes"

    def __init__(self, model: Any, tokenizer: Any, n_words: int = 8, n_fillers: int = 5) -> None:
        self.n_words, self.n_fillers = n_words, n_fillers
        self._model, self._tokenizer = model.eval(), tokenizer
        longest = min(_WINDOW, tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", _WINDOW))
        self._windows = WindowTokenizer(tokenizer, longest)
        self._words = _whole_words(tokenizer)

    def describe(self, usages: SenseUsages) -> list[list[str]]:
        """Return the substitutes of each sense, the most distinctive one first."""
        n_senses = int(np.max(usages.labels, initial=-1)) + 1
        totals = np.bincount(usages.labels, minlength=n_senses)
        counts = [Counter[str]() for _ in range(n_senses)]
        for label, fillers in zip(usages.labels, self.fill(usages), strict=True):
            counts[label].update(fillers)
        everything = sum(counts, Counter[str]())
        described = []
        for count, total in zip(counts, totals.tolist(), strict=True):
            words = sorted(word for word, n in count.items() if n >= min(_REPEATED, total))
            own = np.array([count[word] for word in words], int)
            others = np.array([everything[word] for word in words], int) - own
            rest = int(totals.sum()) - total
            scores = log_likelihood_ratios(own, total, others, rest) if rest else own.astype(float)
            order = np.argsort(-scores, kind="stable")[: self.n_words]
            described.append([words[i] for i in order if scores[i] > 0])
        return described

    def fill(self, usages: SenseUsages) -> list[list[str]]:
        """Return the likeliest substitutes of each usage; none if the tokenizer drops the word."""
        own = set(split_words(usages.word))
        sequences, positions, rows = self._mask(usages)
        substitutes: list[list[str]] = [[] for _ in usages.sentences]
        for batch in make_batches([len(ids) for ids in sequences], _BATCH_TOKENS):
            scores = self._predict([sequences[i] for i in batch], [positions[i] for i in batch])
            for i, row in zip(batch, scores, strict=True):
                taken = {*own, *split_words(usages.sentences[rows[i]][slice(*usages.spans[rows[i]])])}
                for token in np.argsort(-row, kind="stable"):
                    word = self._words.get(int(token))
                    if word is not None and word not in taken:
                        substitutes[rows[i]].append(word)
                        taken.add(word)
                    if len(substitutes[rows[i]]) == self.n_fillers:
                        break
        return substitutes

    def _mask(self, usages: SenseUsages) -> tuple[list[Ids], list[int], list[int]]:
        """Return token ids with a mask in place of the word, the position of the mask, and the row of the usage."""
        windows = self._windows.cut(usages.sentences, usages.spans, None)
        sequences, positions, rows = [], [], []
        for row, (number, (first, last)) in enumerate(zip(windows.sequence, windows.positions, strict=True)):
            if number >= 0:
                ids = windows.sequences[number]
                sequences.append(np.concatenate([ids[:first], [self._tokenizer.mask_token_id], ids[last:]]))
                positions.append(first)
                rows.append(row)
        return sequences, positions, rows

    def _predict(self, sequences: Sequence[Ids], positions: Sequence[int]) -> Any:
        """Return the scores of all tokens at the masks, (n, vocabulary)."""
        import torch

        longest = max(map(len, sequences))
        ids = np.full((len(sequences), longest), int(self._tokenizer.pad_token_id or 0), np.int64)
        mask = np.zeros_like(ids)
        for i, sequence in enumerate(sequences):
            ids[i, : len(sequence)], mask[i, : len(sequence)] = sequence, 1
        with torch.inference_mode():
            logits = self._model(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask)).logits
        return logits[torch.arange(len(sequences)), torch.tensor(positions)].float().numpy()


def load_masked_model(name: str | os.PathLike[str], revision: str | None = None) -> tuple[Any, Any] | None:
    """Load a model with its masked-language-model head, and its tokenizer; None if it has no trained head.

    Parameters
    ----------
    name : str or path
        A folder, or a name on the hub. The built-in encoders and adapters have no head.
    revision : str, optional
        Revision of a model on the hub.
    """
    from transformers import AutoModelForMaskedLM

    folder, text = find_model(name, revision), os.fspath(name)
    if not (folder / "config.json").is_file():  # an adapter
        return None
    check_folder(folder, text)
    tokenizer = load_tokenizer(folder, text)
    if tokenizer.mask_token_id is None:
        return None
    with quiet():
        try:
            model, info = AutoModelForMaskedLM.from_pretrained(
                str(folder), use_safetensors=True, trust_remote_code=False, output_loading_info=True
            )
        except ValueError:  # the architecture has no such head
            return None
        except Exception as error:  # safetensors has errors of its own for damaged files
            raise UserError(f"the model {text!r} cannot be loaded, or is damaged: {first_line(error)}") from None
    missing = [key for key in info["missing_keys"] if not any(part in key for part in _UNUSED)]
    return None if missing else (model, tokenizer)


def _whole_words(tokenizer: Any) -> dict[int, str]:
    """Return the folded word of each token that is a whole word."""
    vocabulary = tokenizer.get_vocab()
    special = set(tokenizer.all_special_tokens)
    has_continuations = any(token.startswith(_CONTINUATION) for token in vocabulary)
    words = {}
    for token, number in vocabulary.items():
        begins = not token.startswith(_CONTINUATION) if has_continuations else token.startswith(_BEGINNINGS)
        if begins and token not in special:
            split = split_words(tokenizer.convert_tokens_to_string([token]))
            if len(split) == 1 and is_word(split[0]):
                words[number] = split[0]
    return words
