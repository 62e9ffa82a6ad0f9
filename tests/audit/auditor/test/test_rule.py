"""An event that is printed is the event that was counted: read back from its words, it gives the same counts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sample_work
from scipy import special

from audit.auditor.api import audit_dp
from audit.auditor.learn.condition import EntryCondition
from audit.auditor.targets.sampling import BURN_IN, TEST, BlockName, CallableTarget, Pair, draw_block
from audit.auditor.terms.claim import Epsilon
from audit.auditor.terms.leaves import flatten
from audit.auditor.terms.outputs import VALUE_BITS, tabulate
from audit.auditor.test import rule as module
from audit.auditor.test.budget import burn_in
from audit.auditor.test.confidence import Selection
from audit.auditor.test.draws import Binning, RunSettings, Work, conduct
from audit.auditor.test.lookup import Lookup
from audit.auditor.test.plan import make_plan
from audit.auditor.test.rule import EventRule, Part, _Draws, _Entry, learn_rule

PAIR = ([0.0], [1.0])


# ------------------------------------------------------------------------------------------- rules made by hand


LOW, HIGH = Part(0, (EntryCondition(0, "≤", 1.0),)), Part(1, (EntryCondition(0, "≥", 3.0),))


def test_the_first_part_that_an_output_fulfils_guesses_its_side() -> None:
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    both = EventRule((LOW, HIGH), 1)
    assert both.guess(tabulate(x)).tolist() == [0, 0, -1, 1, 1]
    assert (both.sides, EventRule((LOW,), 1).sides) == (2, 1)
    wide = EventRule((Part(1, (EntryCondition(0, "≤", 2.0), EntryCondition(0, "≥", 1.0))), LOW), 1)
    assert wide.guess(tabulate(x)).tolist() == [0, 1, 1, -1, -1]
    labels = np.array([0, 1, 1, 1, 0])
    assert both.count(tabulate(x), labels).tolist() == [[1, 4], [0, 2]]
    assert both.count_scalars(x, 1).tolist() == [[1, 4], [0, 2]]
    equal = EventRule((Part(0, (EntryCondition(0, "=", 3.0),)),), 1)
    assert equal.count_scalars(np.array([3, 3, 4]), 0).tolist() == [[1, 2], [0, 2]]
    pieces = np.array([[[1, 4], [0, 2]], [[3, 2], [0, 2]]])
    assert both.selection(pieces) == Selection(6, 4, 10, sides=2, fixed=False)
    assert EventRule((LOW, HIGH), 1).digest == both.digest != EventRule((HIGH, LOW), 1).digest


def test_a_rule_in_words() -> None:
    assert str(EventRule((LOW, HIGH), 1)) == (
        "output ≤ 1 is likelier on the dataset; output ≥ 3 is likelier on the neighbour"
    )
    middle = Part(1, (EntryCondition(0, "≥", 0.5), EntryCondition(0, "≤", 2.0)))
    assert str(EventRule((LOW, middle), 1)) == (
        "output ≤ 1 is likelier on the dataset; any other output in [0.5, 2] is likelier on the neighbour"
    )
    again = Part(0, (EntryCondition(0, "=", 2.0),))
    assert str(EventRule((LOW, again), 1)) == "output ≤ 1 or output = 2 is likelier on the dataset"
    entry = Part(0, (EntryCondition(2, "≤", 2.0), EntryCondition(1, "≥", 0.0)))
    assert str(EventRule((entry,), 3)) == (
        "output with entry 2 (of 0–2) ≤ 2 and with entry 1 (of 0–2) ≥ 0 is likelier on the dataset"
    )


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1.0, 3.0, (1.0, 3.0)),
        (1.0, 1.5, (1.2, 1.2)),
        (0.12, 0.125, (0.122, 0.122)),
        (-2.5, 2.6, (0.05, 0.05)),
        (1.0, float(np.nextafter(1.0, 2.0)), (1.0, float(np.nextafter(1.0, 2.0)))),
        (1e15, 2e15, (1.5e15, 1.5e15)),
    ],
)
def test_thresholds_are_as_short_as_they_can_be(low: float, high: float, expected: tuple[float, float]) -> None:
    assert module._thresholds(low, high) == expected


def test_how_sure_many_conditions_make_one() -> None:
    n, k = np.array([50.0, 50.0, 10.0, 7.0]), np.array([50.0, 30.0, 0.0, 7.0])
    expected = [m * special.betaincinv(j, m - j + 1, 0.25) if j else 0.0 for m, j in zip(n, k, strict=True)]
    assert module._sure(n, k) == pytest.approx(expected)
    assert module._sure(n[:1], k[:1]) == pytest.approx([50 * 0.5 ** (1 / 50)])


def test_cuts_are_finer_towards_the_ends() -> None:
    values = np.arange(30.0)
    assert module._cuts(values, np.ones(30)).tolist() == list(range(1, 30))
    many = module._cuts(np.arange(5000.0), np.ones(5000))
    assert many[0] <= 5
    assert many[-1] >= 4990
    assert len(many) <= 48
    gaps = np.diff(many)
    assert gaps.max() <= 220
    assert gaps[0] < gaps[len(gaps) // 2]


def test_a_value_is_as_unlike_as_its_standard_deviations_say() -> None:
    place, labels = np.array([0, 0, 0, 0, 1, 1, 2]), np.array([1, 1, 1, 1, 0, 1, 0])
    assert module._unlike(place, labels, np.array([4, 2, 1])) == pytest.approx([2.0, 0.0, 1.0])


def test_of_many_entries_the_telling_ones_are_looked_at() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 400)
    x = rng.normal(size=(400, 40))
    x[:, 37] += 3 * labels
    chosen = module._telling(tabulate(x), labels)
    assert len(chosen) == 32
    assert 37 in chosen
    assert chosen == sorted(chosen)
    assert module._telling(tabulate(x[:, :32]), labels) == list(range(32))
    assert module._telling(tabulate(x), np.ones(400)) == list(range(32))


def numbers(d: Any, rng: np.random.Generator) -> Any:
    return [float(rng.normal()), float(d[0] + rng.normal())]


def words(d: Any, rng: np.random.Generator) -> Any:
    return str(rng.choice(["yes", "no", "perhaps"], p=[0.2 + 0.4 * d[0], 0.5 - 0.3 * d[0], 0.3 - 0.1 * d[0]]))


def ragged(d: Any, rng: np.random.Generator) -> Any:
    return [0.0] * (2 + int(rng.random() < 0.2 + 0.5 * d[0]))


def rare(d: Any, rng: np.random.Generator) -> Any:
    return 137 if rng.random() < 0.05 * d[0] else int(rng.integers(1000))


def nothing_or_number(d: Any, rng: np.random.Generator) -> Any:
    return None if rng.random() < 0.05 + 0.3 * d[0] else float("inf") if rng.random() < 0.1 else float(rng.normal())


def fulfils(words: str, output: Any) -> bool:
    """Whether an output fulfils the words of one event: read from the text alone, by none of the code that wrote it."""
    leaves, _ = flatten(output)
    for alternative in re.split(r" or (?=output)", words):
        met = True
        for clause in re.split(
            r" and (?=with|≤|≥|=|in)", alternative.removeprefix("any other ").removeprefix("output ")
        ):
            if length := re.fullmatch(r"with (at most|more than) (\d+) entries", clause):
                met &= (len(leaves) > int(length[2])) == (length[1] == "more than")
                continue
            place = re.match(r"with entry (\d+) \(of 0–\d+\) ", clause)
            at = int(place[1]) if place else 0
            said = clause[place.end() :] if place else clause
            leaf = leaves[at] if at < len(leaves) else None
            x = (
                float(leaf)
                if isinstance(leaf, float | int)
                else {"inf": np.inf, "-inf": -np.inf}.get(str(leaf), np.nan)
            )
            if ends := re.fullmatch(r"in \[(.*), (.*)\]", said):
                met &= float(ends[1]) <= x <= float(ends[2])
            elif number := re.fullmatch(r"([≤≥=]) (-?[\d.e+-]+)", said):
                value = float(number[2])
                met &= {"≤": x <= value, "≥": x >= value, "=": x == value}[number[1]]
            elif said == "a number":
                met &= isinstance(leaf, float | int)
            else:
                word = said.removeprefix("= ")
                met &= isinstance(leaf, str) and leaf.removeprefix("str:") == {"+inf": "inf", "NaN": "nan"}.get(
                    word, word
                )
        if met:
            return True
    return False


def recounted(text: str, mechanism: Callable[..., Any], seed: int, samples: int) -> tuple[int, int]:
    """The test draws once more, and how many of them the words hold, and hold rightly."""
    events = [re.fullmatch(r"(.*) is likelier on the (dataset|neighbour)", part) for part in text.split("; ")]
    draws = 2 * samples - burn_in(2 * samples, 2)
    target, selected, right = CallableTarget(mechanism), 0, 0
    for index, done in enumerate(range(0, draws, 1024)):
        block = draw_block(target, Pair(*PAIR, 0), BlockName(seed, TEST, 0, index), min(1024, draws - done))
        for output, label in zip(block.raw, block.labels, strict=True):
            side = next((event[2] for event in events if event and fulfils(event[1], output)), None)
            selected += side is not None
            right += side == ("neighbour" if label else "dataset")
    return selected, right


@pytest.mark.parametrize("mechanism", [numbers, words, ragged, rare, nothing_or_number])
@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_the_words_give_the_counts(mechanism: Callable[..., Any], delta: float) -> None:
    result = audit_dp(mechanism, *PAIR, epsilon=0.1, delta=delta, samples=3000, seed=5, lints=False)
    assert result.rule is not None
    assert (result.rule.selected, result.rule.right) == recounted(result.rule.text, mechanism, 5, 3000)
    assert result.rule.right > result.rule.selected / 2
    if delta == 0:
        bound = special.logit(
            special.betaincinv(
                result.rule.right, result.rule.selected - result.rule.right + 1, 0.001 * (1 - 0.02 * (delta == 0))
            )
        )
        assert result.rule.lower == pytest.approx(max(bound, 0.0), abs=1e-9)
    assert str(result.rule.selected) in str(result)


def test_what_no_short_rule_says_is_not_told_as_one() -> None:
    """Twenty entries that say a little each: the entries' weights are told, and the rule with its own small bound."""
    result = audit_dp(
        lambda d, size, rng: 0.3 * d[0] + rng.laplace(size=(size, 20)),
        *PAIR,
        epsilon=0.1,
        samples=3000,
        seed=1,
        lints=False,
    )
    assert result.rule is not None
    assert result.rule.lower < 0.9 * result.lower
    assert result.event.startswith("a learned score on 20 entries, of its weight")
    assert f"the best short rule: {result.rule.text} (right for" in str(result)
    assert result.to_dict()["rule"]["lower"] == result.rule.lower


def test_no_condition_is_true_of_every_output() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 4000)
    table = tabulate([[float(x), "a"] for x in rng.normal(size=4000) + labels])
    rule = learn_rule(table, labels, 10_000, Epsilon(0.1), 0.001, VALUE_BITS)
    assert rule is not None
    for part in rule.parts:
        assert all(0 < condition.holds(table).sum() < len(table) for condition in part.conditions)
    assert learn_rule(tabulate(np.zeros(100)), labels[:100], 100, Epsilon(0.1), 0.001, VALUE_BITS) is None


def test_a_lookup_counts_the_rule_as_the_plan_does() -> None:
    target = CallableTarget(sample_work.laplace)
    burn = draw_block(target, Pair(*PAIR, 0), BlockName(0, BURN_IN, 0, 0), 8000)
    binning = Binning.of(*make_plan(burn.values, burn.labels, 40_000, Epsilon(0.5), 0.05))
    rule = learn_rule(burn.values, burn.labels, 40_000, Epsilon(0.5), 0.05, VALUE_BITS)
    assert rule is not None
    lookup = Lookup.fit(binning, burn.values)
    shares = []
    for found in (lookup, None):
        work = Work(target, Pair(*PAIR, 0), 0, 40_000, 4096, VALUE_BITS, (binning,), found, rule=rule)
        counts = conduct(work, RunSettings(), lambda text: None)[-1]
        assert counts is not None
        seen = rule.selection(counts)
        assert seen.draws == 40_000
        shares.append((seen.n / 40_000, seen.k / seen.n))
    assert shares[0] == pytest.approx(shares[1], abs=6 * 0.5 / np.sqrt(shares[0][0] * 40_000))


def test_scalars_are_counted_as_tables_are() -> None:
    x = np.array([0.0, 0.5, 1.0, 2.5, np.inf, -np.inf, np.nan])
    for condition in (EntryCondition(0, "≤", 0.5), EntryCondition(0, "≥", 1.0), EntryCondition(0, "=", 2.5)):
        rule = EventRule((Part(1, (condition,)),), 1)
        for side in (0, 1):
            expected = rule.count(tabulate(x), np.full(len(x), side))
            assert np.array_equal(rule.count_scalars(x, side), expected)


def test_overlapping_parts_say_which_comes_first() -> None:
    low, high = EntryCondition(0, "≤", 0.0), EntryCondition(0, "≥", 1.0)
    apart = EventRule((Part(0, (low,)), Part(1, (high,))), 1)
    assert str(apart) == "output ≤ 0 is likelier on the dataset; output ≥ 1 is likelier on the neighbour"
    over = EventRule((Part(0, (low,)), Part(1, (EntryCondition(0, "≤", 3.0),))), 1)
    assert str(over) == "output ≤ 0 is likelier on the dataset; any other output ≤ 3 is likelier on the neighbour"
    both = EventRule((Part(1, (high, EntryCondition(0, "≤", 3.0))),), 1)
    assert str(both) == "output in [1, 3] is likelier on the neighbour"
    assert over.guess(tabulate(np.array([-1.0, 2.0, 4.0]))).tolist() == [0, 1, -1]


def test_what_a_single_entry_counts_by_cells_is_what_it_counts_draw_by_draw():
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, 3000)
    table = tabulate([*rng.normal(size=2000) + labels[:2000], *rng.choice(["a", "b"], 1000)])
    entry = _Entry.of(table, labels, 0)
    assert entry is not None
    (cells,), drawn = _Draws.of([entry], labels)
    assert len(drawn.labels) == 2 * entry.size < 300
    for member in entry.members[::7]:
        here, there = member[entry.cells] > 0, member[cells.cells] > 0
        assert drawn.among(there) == here.sum() > 0
        by_cells, by_draws = cells.counts(~there, drawn), entry.counts(~here, _Draws(labels))
        assert [part.tolist() for part in by_cells] == [part.tolist() for part in by_draws]
