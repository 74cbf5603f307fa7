"""Test that the examples run and show the documented result."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.model

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_demo_ranks_the_words_with_a_new_sense_above_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "arrays.py"), run_name="__main__")
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    ranking = {line[0]: line[-1] for line in lines if line and line[-1] in ("changed", "stable")}
    assert list(ranking.values()) == ["changed"] * 4 + ["stable"] * 3
    assert set(list(ranking)[:4]) == {"mouse", "cloud", "tablet", "stream"}


def run_notebook(name: str, folder: Path) -> list[Any]:
    """Run a notebook in a folder and return the outputs of its cells."""
    notebook = nbformat.read(EXAMPLES / name, as_version=4)  # type: ignore[no-untyped-call]
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.outputs for cell in cells] == [[]] * len(cells), "the outputs of the notebook must be removed"
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    return [output for cell in cells for output in cell.outputs]


def shown(outputs: list[Any]) -> str:
    """Return everything that the cells of a notebook display, as text and as HTML."""
    data = [part for output in outputs for part in output.get("data", {}).values()]
    return "\n".join(map(str, data)) + "\n".join(output.get("text", "") for output in outputs)


def test_two_novels_are_read_as_wrapped_text_without_header_and_licence(tmp_path: Path) -> None:
    outputs = run_notebook("two_novels.ipynb", tmp_path)
    text = shown(outputs)
    bar = next(output for output in outputs if output.output_type == "display_data")
    notes = [
        "note: the encoder is minilm-senses, because the text is in English (--model auto)",
        "note: there is no comparison with ordinary words, because only 25 words occur 20 times or more in both "
        "corpora",
    ]  # the progress bar is removed at the end, and the notes are left
    assert bar.data["text/html"] == "<br>".join(notes)
    assert "2 of 4 words changed between first and second" in text
    assert "wrapped" in text
    assert "Gutenberg" not in (tmp_path / "first.txt").read_text("utf-8")
    assert (tmp_path / "novels.html").is_file()


def test_dated_table_is_split_at_a_day_and_traced_by_quarter(tmp_path: Path) -> None:
    text = shown(run_notebook("dated_table.ipynb", tmp_path))
    assert "3 of 6 words changed" in text
    assert "2020-Q4" in text
    assert (tmp_path / "posts.html").is_file()


def test_benchmark_evaluates_two_encoders(tmp_path: Path) -> None:
    text = shown(run_notebook("benchmark.ipynb", tmp_path))
    assert "always stable" in text
    assert (tmp_path / "evaluation/evaluation.csv").is_file()
    assert (tmp_path / "evaluation-minilm/evaluation.csv").is_file()


def test_custom_encoder_is_accepted_and_ranks_the_words(tmp_path: Path) -> None:
    text = shown(run_notebook("custom_encoder.ipynb", tmp_path))
    assert "True" in text
    assert text.count("changed") >= 3


def test_every_notebook_has_a_test_and_a_row_in_the_documentation() -> None:
    names = {path.name for path in EXAMPLES.glob("*.ipynb")}
    assert names == {"two_novels.ipynb", "dated_table.ipynb", "benchmark.ipynb", "custom_encoder.ipynb"}
    page = (EXAMPLES.parent / "docs/index.md").read_text("utf-8")
    assert all(f"`{name}`" in page for name in names)
