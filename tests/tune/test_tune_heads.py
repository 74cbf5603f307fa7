"""Test models with a masked language head: existing heads, new heads, and new tokens."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_models import FAMILIES, TEXT, folder, make_config, make_model, make_tokenizer, transformers

from lexshift.encode.loading import digest_weights, load_model
from lexshift.errors import UserError
from lexshift.tune.heads import add_tokens, head_of, load_with_head, predict

pytestmark = pytest.mark.tune

IN_ONE_PLACE = ("bert", "roberta", "xlm-roberta", "mpnet")


@cache
def with_head(family: str) -> Any:
    """Return a shared model with a head in which every weight affects the result; do not modify it."""
    make_model(family, depth=1)  # this imports the family without warnings
    torch.manual_seed(3)
    model = transformers.AutoModelForMaskedLM.from_config(make_config(family, depth=2))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.2)
    return model.eval()


def saved(family: str, place: Path, model: Any = None) -> Path:
    """Return the folder of a model with a head."""
    make_tokenizer(family).save_pretrained(place)
    (model or with_head(family)).save_pretrained(place)
    return place


def inputs_of(family: str) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    """Return a padded batch and some positions in it."""
    made = make_tokenizer(family)(TEXT[:5], padding=True, return_tensors="pt")
    real = made["attention_mask"].bool()
    where = (torch.rand(real.shape, generator=torch.Generator().manual_seed(0)) < 0.3) & real
    where[2] = False  # a sentence with none
    assert where.sum() > 10
    return {"input_ids": made["input_ids"], "attention_mask": made["attention_mask"]}, where


@pytest.mark.parametrize("family", FAMILIES)
def test_predictions_equal_the_full_forward_pass_at_the_masked_positions(family: str) -> None:
    model = with_head(family)
    assert (head_of(model) is not None) == (family in IN_ONE_PLACE)
    inputs, where = inputs_of(family)
    with torch.no_grad():
        ours, theirs = predict(model, inputs, where), model(**inputs).logits[where]
    assert ours.shape == (int(where.sum()), len(make_tokenizer(family)))
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)


def test_predictions_of_camembert_equal_its_forward_pass() -> None:
    config = {**make_config("roberta", 2).to_dict(), "model_type": "camembert"}
    model = transformers.CamembertForMaskedLM(transformers.CamembertConfig(**config)).eval()
    assert head_of(model) is not None
    inputs, where = inputs_of("roberta")
    with torch.no_grad():
        torch.testing.assert_close(predict(model, inputs, where), model(**inputs).logits[where], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_saved_head_is_used(family: str, tmp_path: Path) -> None:
    model, tokenizer, place, new_head = load_with_head(saved(family, tmp_path), None)
    assert not new_head
    assert place == tmp_path
    assert len(tokenizer) == len(make_tokenizer(family))
    inputs, where = inputs_of(family)
    with torch.no_grad():
        ours, theirs = model.eval()(**inputs).logits[where], with_head(family)(**inputs).logits[where]
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_missing_head_is_created_from_the_word_embeddings(family: str) -> None:
    model, _, _, new_head = load_with_head(folder(family), None)
    assert new_head
    words = model.get_input_embeddings().weight
    assert model.get_output_embeddings().weight is words
    body, _, _ = load_model(folder(family))
    theirs = body.state_dict()
    for name, weight in model.base_model.state_dict().items():
        assert torch.equal(weight, theirs[name]), name


@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert"])
@pytest.mark.parametrize("whole", [False, True], ids=["without a head", "with a head"])
def test_model_that_lacks_weights_of_its_layers_is_refused(family: str, whole: bool, tmp_path: Path) -> None:
    saved(family, tmp_path, None if whole else make_model(family, depth=2))
    file = tmp_path / "model.safetensors"
    weights = load_file(file)
    gone = sorted(name for name in weights if re.search(r"layer\.1\..*weight$", name))
    kept = {name: value for name, value in weights.items() if name not in gone}
    assert len(kept) < len(weights)
    save_file(kept, file, metadata={"format": "pt"})
    with pytest.raises(UserError, match=rf"lacks {len(gone)} of its weights \(\S*{re.escape(gone[0])} is the first\)$"):
        load_with_head(tmp_path, None)


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_model_without_its_pooler_is_not_missing_weights(family: str, tmp_path: Path) -> None:
    saved(family, tmp_path, make_model(family, depth=2))
    file = tmp_path / "model.safetensors"
    weights = load_file(file)
    kept = {name: value for name, value in weights.items() if "pooler" not in name}
    assert len(kept) < len(weights)
    save_file(kept, file, metadata={"format": "pt"})
    assert load_with_head(tmp_path, None)[3]


def test_tokenizer_without_a_mask_token_is_refused(tmp_path: Path) -> None:
    saved("modernbert", tmp_path)
    tokenizer = make_tokenizer("modernbert")
    plain = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer.backend_tokenizer, model_max_length=64, pad_token="[PAD]", unk_token="[UNK]"
    )
    plain.save_pretrained(tmp_path)
    with pytest.raises(UserError, match=r"the tokenizer of the model '.*' has no mask token, so it cannot be trained"):
        load_with_head(tmp_path, None)


def test_model_without_a_masked_language_head_is_refused(tmp_path: Path) -> None:
    make_tokenizer("bert").save_pretrained(tmp_path)
    config = transformers.GPT2Config(vocab_size=200, n_embd=16, n_layer=1, n_head=2, n_positions=32)
    transformers.GPT2Model(config).save_pretrained(tmp_path)
    with pytest.raises(UserError, match=r"cannot be loaded to predict masked words: [^\n]+$"):
        load_with_head(tmp_path, None)


@pytest.mark.parametrize("damage", ["cut", "no config", "no weights"])
def test_damaged_folder_is_refused(damage: str, tmp_path: Path) -> None:
    saved("bert", tmp_path)
    if damage == "cut":
        file = tmp_path / "model.safetensors"
        file.write_bytes(file.read_bytes()[:-100])
    else:
        (tmp_path / ("config.json" if damage == "no config" else "model.safetensors")).unlink()
    with pytest.raises(UserError, match=re.escape(str(tmp_path))):
        load_with_head(tmp_path, None)


@pytest.mark.parametrize("family", FAMILIES)
def test_new_tokens_are_single_tokens_and_old_embeddings_are_unchanged(family: str, tmp_path: Path) -> None:
    model, tokenizer, _, _ = load_with_head(saved(family, tmp_path / "before"), None)
    old = model.get_input_embeddings().weight.detach().clone()
    text = "A mouse ran under the table."
    pieces = tokenizer(text, add_special_tokens=False)["input_ids"]
    inputs, where = inputs_of(family)
    with torch.no_grad():
        before = model.eval()(**inputs).logits[where]
    torch.manual_seed(0)
    add_tokens(model, tokenizer, ["<1>", "<2>", "<3>"])
    n = len(old)
    assert len(tokenizer) == n + 3
    numbers = [tokenizer(token, add_special_tokens=False)["input_ids"] for token in ("<1>", "<2>", "<3>")]
    assert numbers == [[n], [n + 1], [n + 2]]
    whole = tokenizer(f"<2>{text}", add_special_tokens=False)["input_ids"]
    assert whole[0] == n + 1
    assert tokenizer(text, add_special_tokens=False)["input_ids"] == pieces

    rows = model.get_input_embeddings().weight
    assert rows.shape == (n + 3, old.shape[1])
    assert torch.equal(rows[:n], old)
    assert model.get_output_embeddings().weight is rows
    assert len(torch.unique(rows[n:].detach(), dim=0)) == 3
    far = ((rows[n:] - old.mean(0)) / old.std(0)).detach()
    assert 0.5 < float(far.std()) < 1.5  # as words are
    assert float(far.abs().max()) < 5
    with torch.no_grad():
        after = model(**inputs).logits[where]
    assert after.shape == (len(before), n + 3)
    torch.testing.assert_close(after[:, :n], before, rtol=1e-5, atol=1e-5)

    model.save_pretrained(tmp_path / "after")
    tokenizer.save_pretrained(tmp_path / "after")
    again, known, _, new_head = load_with_head(tmp_path / "after", None)
    assert not new_head
    assert known.convert_tokens_to_ids(["<1>", "<2>", "<3>"]) == [n, n + 1, n + 2]
    with torch.no_grad():
        torch.testing.assert_close(again.eval()(**inputs).logits[where], after, rtol=1e-5, atol=1e-5)


def test_new_tokens_use_spare_rows_of_the_embeddings() -> None:
    config = make_config("bert", depth=1)
    tokenizer = make_tokenizer("bert")
    n = len(tokenizer)
    config.vocab_size = n + 5
    model = transformers.BertForMaskedLM(config)
    old = model.get_input_embeddings().weight.detach().clone()
    add_tokens(model, tokenizer, ["<1>", "<2>"])
    rows = model.get_input_embeddings().weight
    assert len(rows) == n + 5
    assert torch.equal(rows[:n], old[:n])
    assert torch.equal(rows[n + 2 :], old[n + 2 :])
    assert not torch.isclose(rows[n : n + 2], old[n : n + 2]).all()


def test_weights_have_their_own_digest() -> None:
    model = transformers.BertForMaskedLM(make_config("bert", depth=1))
    before = digest_weights(model)
    assert before == digest_weights(model)
    with torch.no_grad():
        model.cls.predictions.bias[3] += 1e-6
    assert digest_weights(model) != before
    with torch.no_grad(), TemporaryDirectory() as place:
        changed = digest_weights(model)
        model.save_pretrained(place)
        assert digest_weights(transformers.BertForMaskedLM.from_pretrained(place)) == changed
