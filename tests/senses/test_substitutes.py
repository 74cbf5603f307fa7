"""Test substitutes with tiny masked language models, one for each kind of tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from planted_usages import make_usages
from tiny_models import KINDS, TEXT, folder, make_config, make_tokenizer, transformers

from lexshift.senses.substitutes import Substitutes, load_masked_model

PLANES = [TEXT[0], TEXT[1]]


def masked_model(family: str) -> Any:
    torch.manual_seed(3)
    return transformers.AutoModelForMaskedLM.from_config(make_config(family, depth=1)).eval()


@pytest.mark.parametrize("family", KINDS.values())
def test_substitutes_are_the_likeliest_whole_words_at_the_mask(family: str) -> None:
    model, tokenizer = masked_model(family), make_tokenizer(family)
    substitutes = Substitutes(model, tokenizer, n_fillers=3)
    found = substitutes.fill(make_usages("plane", PLANES, [0, 0]))
    for sentence, fillers in zip(PLANES, found, strict=True):
        word = " plane" if family == "roberta" else "plane"  # pieces of bytes include the space before the word
        text = sentence.replace(word, tokenizer.mask_token, 1)
        inputs = tokenizer(text, return_tensors="pt")
        place = int((inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[0])
        scores = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]).logits[0, place]
        best = [substitutes._words.get(int(token)) for token in scores.argsort(descending=True)]
        words = list(dict.fromkeys(word for word in best if word not in (None, "plane")))
        assert fillers == words[:3]
        assert all(word.isalpha() and len(word) > 1 for word in fillers)


def test_substitutes_that_only_one_sense_has_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    substitutes = Substitutes(masked_model("bert"), make_tokenizer("bert"))
    fillers = [["craft", "jet"]] * 3 + [["craft", "surface"]] * 3
    monkeypatch.setattr(substitutes, "fill", lambda _: fillers)
    assert substitutes.describe(make_usages("plane", PLANES * 3, [0, 0, 0, 1, 1, 1])) == [
        ["jet"],
        ["surface"],
    ]


def test_no_usages_have_no_substitutes() -> None:
    assert Substitutes(masked_model("bert"), make_tokenizer("bert")).describe(make_usages("plane", [], [])) == []


def test_a_model_without_a_head_is_not_loaded_and_one_with_a_head_is(tmp_path: Path) -> None:
    assert load_masked_model(folder("bert")) is None
    make_tokenizer("bert").save_pretrained(tmp_path)
    masked_model("bert").save_pretrained(tmp_path)
    loaded = load_masked_model(tmp_path)
    assert loaded is not None
    found = Substitutes(*loaded).fill(make_usages("plane", PLANES, [0, 0]))
    assert np.array(found).shape == (2, 5)
