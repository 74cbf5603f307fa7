"""The network of sense tuning: an encoder whose cosines predict whether two usages share a sense.

The vector of a word is the mean over its pieces in the last layer. For two usages of one lemma, or a usage and a gloss,
the probability of a shared sense is a logistic function of the cosine of their vectors; usages and glosses each have a
slope and an intercept that are learned. The loss is the cross-entropy of these probabilities. All negative examples are
other senses of the same lemma, the hardest that there are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import Trainer

from lexshift.encode.windows import WindowTokenizer
from lexshift.tune.evaluation import figures, pair_labels
from lexshift.tune.pairs import Pair
from lexshift.tune.sense_blocks import Block, Item, SenseBlocks

_PART = 64  # sequences that run through the model together; parts of similar length need little padding
_SLOPE, _INTERCEPT = 8.0, -4.0  # of the logistic function at the start
_SCALAR_RATE = 0.02  # learning rate of slope and intercept
_GAIN = 4.0  # of an adapter's product, divided by the square root of its rank


class LowRankLinear(nn.Module):
    """A linear layer whose weight matrix has a trainable change of low rank; the matrix itself is not trained."""

    def __init__(self, linear: nn.Linear, rank: int) -> None:
        super().__init__()
        self.linear = linear
        self.linear.weight.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features))
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank))
        self.gain = _GAIN / math.sqrt(rank)

    def forward(self, x: Tensor) -> Tensor:
        """Return x (W + gain * up down)' + b: (..., in) to (..., out)."""
        return self.linear(x) + self.gain * F.linear(F.linear(x, self.down), self.up)


def tuned_layers(body: Any, count: int | None) -> list[nn.Module]:
    """Return the upper ``count`` layers of a transformer, or all of them."""
    depth = int(body.config.num_hidden_layers)
    stack = next(m for m in body.modules() if isinstance(m, nn.ModuleList) and len(m) == depth)
    return list(stack)[depth - min(count or depth, depth) :]


def make_trainable(body: Any, count: int | None, rank: int | None) -> None:
    """Make the upper layers of a model trainable: by changes of low rank, or all their weights if ``rank`` is None.

    Dropout is switched off: most examples are seen once or a few times, and the loss falls faster without it.
    """
    for parameter in body.parameters():
        parameter.requires_grad_(False)
    for module in body.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    for layer in tuned_layers(body, count):
        for parameter in layer.parameters():
            parameter.requires_grad_(rank is None or parameter.ndim == 1)
        if rank is not None:
            for module in list(layer.modules()):
                for name, child in list(module.named_children()):
                    if isinstance(child, nn.Linear):
                        setattr(module, name, LowRankLinear(child, rank))


def low_rank_changes(body: Any) -> Iterator[tuple[str, Tensor, Tensor]]:
    """Yield the name of each changed weight matrix, and the two factors of its change."""
    for name, module in body.named_modules():
        if isinstance(module, LowRankLinear):
            yield f"{name}.weight", module.gain * module.up.detach(), module.down.detach()


def trained_vectors(body: Any) -> Iterator[tuple[str, Tensor]]:
    """Yield the trained vectors of weights, by the names that they have in the base model."""
    for name, parameter in body.named_parameters():
        if parameter.requires_grad and parameter.ndim == 1:
            yield name.replace(".linear.", "."), parameter.detach()


class SenseNetwork(nn.Module):
    """A transformer with the logistic functions of its cosines."""

    def __init__(self, body: Any) -> None:
        super().__init__()
        self.body = body
        self.log_slope = nn.Parameter(torch.full((2,), math.log(_SLOPE)))  # of two usages; of a usage and a gloss
        self.intercept = nn.Parameter(torch.full((2,), _INTERCEPT))

    def vectors(self, parts: list[dict[str, Tensor]], order: Tensor) -> Tensor:
        """Return the unit vectors of the words of a batch in its order, (n, d)."""
        pooled = []
        for part in parts:
            states = self.body(input_ids=part["ids"], attention_mask=part["mask"]).last_hidden_state  # (b, length, d)
            pooled.append(torch.einsum("bl,bld->bd", part["pooling"], states.float()))
        return F.normalize(torch.cat(pooled)[order], dim=1)

    def forward(
        self, parts: list[dict[str, Tensor]], order: Tensor, block: Tensor, sense: Tensor, is_gloss: Tensor
    ) -> dict[str, Tensor]:
        """Return the loss of a batch of n usages and glosses.

        Parameters
        ----------
        parts : list of dict of Tensor
            The sequences, see :func:`collate`.
        order : Tensor of shape (n,)
            Position of each usage or gloss in the parts.
        block, sense : Tensor of shape (n,)
            Number of its lemma in the batch, and of its sense in the lemma.
        is_gloss : Tensor of shape (n,)
        """
        vectors = self.vectors(parts, order)
        first, second = torch.triu_indices(len(block), len(block), 1, device=block.device)
        useful = (block[first] == block[second]) & ~(is_gloss[first] & is_gloss[second])
        first, second = first[useful], second[useful]
        kind = (is_gloss[first] | is_gloss[second]).long()
        cosine = (vectors[first] * vectors[second]).sum(1)
        logit = self.log_slope.exp()[kind] * cosine + self.intercept[kind]
        losses = F.binary_cross_entropy_with_logits(logit, (sense[first] == sense[second]).float(), reduction="none")
        pairs = torch.bincount(block[first], minlength=int(block.max()) + 1)
        weight = pairs[block[first]].float().rsqrt()  # a lemma counts by the square root of its number of pairs
        return {"loss": (losses * weight).sum() / weight.sum()}


def collate(blocks: list[Block], windows: WindowTokenizer, pad: int) -> dict[str, Any]:
    """Return the batch of some blocks: sequences of similar length together, each part padded to its longest."""
    items = [(number, item) for number, block in enumerate(blocks) for item in block]
    cut = windows.cut([item.sentence for _, item in items], [(item.start, item.end) for _, item in items], None)
    rows = [row for row, number in enumerate(cut.sequence) if number >= 0]
    rows.sort(key=lambda row: len(cut.sequences[cut.sequence[row]]))
    order = np.empty(len(rows), np.int64)
    order[np.argsort(np.argsort(rows))] = np.arange(len(rows))
    kept = sorted(rows)
    labels = torch.tensor([(items[row][0], items[row][1].sense, items[row][1].is_gloss) for row in kept])
    return {
        "parts": [_part(cut, rows[start : start + _PART], pad) for start in range(0, len(rows), _PART)],
        "order": torch.from_numpy(order),
        "block": labels[:, 0],
        "sense": labels[:, 1],
        "is_gloss": labels[:, 2].bool(),
    }


def _part(cut: Any, rows: list[int], pad: int) -> dict[str, Tensor]:
    """Return the sequences of some rows: ids, mask and the weights of the word's pieces, each (rows, length)."""
    sequences = [cut.sequences[cut.sequence[row]] for row in rows]
    length = max(map(len, sequences))
    ids, pooling = torch.full((len(rows), length), pad), torch.zeros(len(rows), length)
    mask = torch.zeros(len(rows), length, dtype=torch.long)
    for i, (row, sequence) in enumerate(zip(rows, sequences, strict=True)):
        start, end = cut.positions[row]
        ids[i, : len(sequence)] = torch.from_numpy(sequence)
        mask[i, : len(sequence)] = 1
        pooling[i, start:end] = 1 / (end - start)
    return {"ids": ids, "mask": mask, "pooling": pooling}


class SenseTrainer(Trainer):
    """The trainer of transformers, evaluated by the cosines of held-out pairs."""

    def __init__(
        self,
        network: SenseNetwork,
        blocks: SenseBlocks,
        held_out: list[Pair],
        windows: WindowTokenizer,
        pad: int,
        arguments: Any,
        callbacks: list[Any],
    ) -> None:
        self._network = network
        self._held_out = held_out
        self._collate = partial(collate, windows=windows, pad=pad)
        super().__init__(
            model=network,
            args=arguments,
            data_collator=self._collate,
            train_dataset=blocks,
            eval_dataset=blocks,
            callbacks=callbacks,
        )

    def create_optimizer(self, model: Any = None) -> Any:  # noqa: ARG002
        """Return AdamW with a rate of its own for slope and intercept, which are not decayed."""
        scalars = [self._network.log_slope, self._network.intercept]
        weights = [weight for weight in self._network.body.parameters() if weight.requires_grad]
        groups = [
            {"params": weights, "lr": self.args.learning_rate, "weight_decay": self.args.weight_decay},
            {"params": scalars, "lr": _SCALAR_RATE, "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98))
        return self.optimizer

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Return the results on the held-out pairs."""
        results = {
            f"eval_{name}": value for name, value in figures(self._cosines(), pair_labels(self._held_out)).items()
        }
        self.log(results)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, results)
        return results

    def _cosines(self) -> Any:
        """Return the cosine of the two usages of each held-out pair, (pairs,)."""
        was_training = self._network.training
        self._network.eval()
        cosines = []
        for start in range(0, len(self._held_out), _PART):
            pairs = self._held_out[start : start + _PART]
            usages = [usage for pair in pairs for usage in (pair.first, pair.second)]
            batch: Any = self._prepare_inputs(self._collate([[Item(*usage, 0, False)] for usage in usages]))
            with torch.no_grad(), self.compute_loss_context_manager():
                vectors = torch.zeros(len(usages), self._network.body.config.hidden_size, device=self.args.device)
                vectors[batch["block"]] = self._network.vectors(batch["parts"], batch["order"])
            cosines.append((vectors[::2] * vectors[1::2]).sum(1).double().cpu().numpy())
        self._network.train(was_training)
        return np.concatenate(cosines)
