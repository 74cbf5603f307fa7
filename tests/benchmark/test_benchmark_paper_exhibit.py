"""Test the text of numbers in tables."""

from __future__ import annotations

from lexshift.benchmark.paper.exhibit import format_number, format_scaled, format_spread


def test_numbers_are_printed_with_significant_digits_only() -> None:
    assert (format_number(0.12345), format_number(3.0, 0), format_number(float("nan"))) == ("0.123", "3", "–")
    assert (format_spread(float("nan"), 0.1), format_spread(-0.5, 0.25)) == ("–", "-0.500 ± 0.250")
    assert (format_scaled(467.1, 0), format_scaled(1.2345, 0.5)) == ("467 ± 0", "1.23 ± 0.50")
