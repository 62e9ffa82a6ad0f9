"""Every number that a Markdown file quotes is what the code computes, and every number that is computed is quoted."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from docs import markers, quoted_numbers
from docs.quoted_numbers import NUMBERS

ROOT = Path(__file__).parents[2]
QUOTES = markers.quotes_in(ROOT)


@pytest.mark.parametrize("quote", QUOTES, ids=lambda q: f"{q.file}:{q.line}")
def test_a_quoted_number_is_what_the_code_computes(quote: markers.Quote) -> None:
    assert quote.problem() == ""


@pytest.mark.parametrize(
    ("printed", "value", "agree"),
    [
        ("1.23", 1.2349, True),
        ("1.23", 1.2351, False),
        ("1.23", Fraction(1235, 1000), True),
        ("29", 29, True),
        ("29", 30, False),
        ("29", 29.6, False),
        ("40,401", 40401, True),
        ("7.3e-4", 0.000734, True),
        ("7.3e-4", 0.000736, False),
        ("−0.5", -0.46, True),
        ("12 %", 0.123, True),
        ("12%", 0.126, False),
        ("holds", "holds", True),
        ("holds", "refuted", False),
        ("1/3", "1/3", True),
        ("nan", 3, False),
        ("1e999999", 3, False),
    ],
)
def test_agreement_is_at_the_printed_precision(printed: str, value: object, agree: bool) -> None:
    assert markers.agrees(printed, value) is agree


@pytest.mark.parametrize(
    ("value", "agree"), [("1.23", True), ("1.2399", True), ("1.2299", False), ("1.24", False), ("1.2351", True)]
)
def test_a_lower_bound_is_rounded_down(value: str, agree: bool) -> None:
    """δ(1) ≥ 0.277 was quoted of a bound of 0.27668: that is not shown."""
    assert markers.agrees("1.23", Fraction(value), least=True) is agree
    marked = "<!-- number: statements -->29<!-- /number -->"
    for before, least in (("≥ ", True), ("at least\n", True), ("≥ 2, ", False), ("beat least ", False)):
        (quote,) = markers.quotes(f"δ {before}{marked}", "README.md")
        assert quote.least is least


def test_markers_are_found_with_their_line_and_broken_ones_are_faults() -> None:
    start = "<!-- number: statements -->29"
    text = f"a\n{start}<!-- /number -->\n{start}"
    good, broken = markers.quotes(text, "README.md")
    assert (good.line, good.name, good.printed, good.problem()) == (2, "statements", "29", "")
    assert broken.line == 3
    assert "cannot be read" in broken.problem()


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        ("<!-- number: statements -->28<!-- /number -->", "which gives 29"),
        ("<!-- number: nothing -->28<!-- /number -->", "docs/quoted_numbers.py does not have"),
        ("<!-- number: os.getpid -->28<!-- /number -->", "cannot be read"),
    ],
)
def test_a_wrong_quotation_is_a_fault(marker: str, message: str) -> None:
    (quote,) = markers.quotes(marker, "README.md")
    assert message in quote.problem()


def test_counts_are_renewed_and_measured_numbers_left_alone() -> None:
    numbers = {"count": lambda: 7, "measured": lambda: 2.5, "other": lambda: 1.5}
    text = (
        "a <!-- number: count -->6<!-- /number --> b <!-- number: measured -->2.4<!-- /number -->"
        " <!-- number: other -->3<!-- /number --> <!-- number: nothing -->3<!-- /number -->"
    )
    assert markers.with_counts(text, numbers) == text.replace("-->6<", "-->7<")


def test_every_number_of_the_table_is_quoted_and_no_other() -> None:
    assert {quote.name for quote in QUOTES} == set(NUMBERS)


def test_a_number_reacts_to_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: an oracle that is not the printed one."""
    assert NUMBERS["printed_oracle_zeros"]() == NUMBERS["oracle_trials"]()
    quoted_numbers.oracle_zeros.cache_clear()
    monkeypatch.setattr(quoted_numbers, "oracle_printed", quoted_numbers.oracle)
    assert NUMBERS["printed_oracle_zeros"]() < NUMBERS["oracle_trials"]()
    quoted_numbers.oracle_zeros.cache_clear()
