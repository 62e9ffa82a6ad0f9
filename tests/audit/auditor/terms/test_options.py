"""Options in groups and as keywords: the same, never both, and refused in one line where they make no sense."""

from __future__ import annotations

import inspect
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from typing import Any, get_type_hints

import numpy as np
import pytest

from audit import Budget, Code, Execution, assert_dp, audit_dp, audit_grid
from audit.auditor.terms.claim import Epsilon
from audit.auditor.terms.options import DEFAULT_SAMPLES, TIMED_SAMPLES, GridKeywords, Keywords, gathered

GROUPS: dict[str, Any] = {"budget": Budget, "code": Code, "execution": Execution}


def noisy(dataset: Any, size: int, rng: np.random.Generator) -> Any:
    return dataset[0] + rng.laplace(size=size)


def audit(*args: Any, **keywords: Any) -> Any:
    return audit_dp(noisy, *(args or ([0.0], [1.0])), **({"epsilon": 1.0, "samples": 500} | keywords))


def line(error: pytest.ExceptionInfo[Exception]) -> str:
    text = str(error.value)
    assert "\n" not in text
    assert len(text) <= 160
    return text


def test_draws_of_both_sides_unless_said() -> None:
    assert [
        Budget().draws,
        Budget(seconds=5.0).draws,
        Budget(samples=70).draws,
        Budget(samples=70, seconds=5.0).draws,
    ] == [
        2 * DEFAULT_SAMPLES,
        2 * TIMED_SAMPLES,
        140,
        140,
    ]
    assert DEFAULT_SAMPLES < TIMED_SAMPLES


def test_every_field_is_a_typed_keyword() -> None:
    hints = {name: hint for group in GROUPS.values() for name, hint in get_type_hints(group).items()}
    assert get_type_hints(Keywords) == hints
    assert get_type_hints(GridKeywords) == {name: hint for name, hint in hints.items() if name != "make"}
    assert sum(len(fields(group)) for group in GROUPS.values()) == len(hints), "two groups share a field"


def test_a_newcomer_sees_few_parameters_and_assert_dp_has_the_same() -> None:
    seen = inspect.signature(audit_dp)
    problem = ["mechanism", "dataset", "neighbour", "epsilon", "delta", "rho", "mu", "claim", "neighbours", "pairs"]
    assert list(seen.parameters) == [*problem, *GROUPS, "keywords"]
    asserted = dict(inspect.signature(assert_dp).parameters)
    assert asserted.pop("strict").default is True
    assert list(asserted.values()) == list(seen.parameters.values())


def test_a_group_and_its_keywords_give_the_same_result() -> None:
    one = audit(samples=600, confidence=0.9, floats="bits", seed=4)
    two = audit_dp(
        noisy,
        [0.0],
        [1.0],
        epsilon=1.0,
        budget=Budget(samples=600, confidence=0.9),
        code=Code(floats="bits"),
        execution=Execution(seed=4),
    )
    one.seconds = two.seconds = 0.0
    assert one.to_dict() == two.to_dict()


@pytest.mark.parametrize("name", [f.name for group in GROUPS.values() for f in fields(group)])
def test_a_group_and_a_keyword_of_it_are_refused_together(name: str) -> None:
    group = next(g for g, kind in GROUPS.items() if name in {f.name for f in fields(kind)})
    with pytest.raises(ValueError, match="both given") as error:
        gathered(
            "audit_dp",
            **{"budget": None, "code": None, "execution": None, group: GROUPS[group]()},
            keywords={name: None},
        )
    assert line(error) == (f"{group} and {name} are both given: write {group}={GROUPS[group].__name__}(…, {name}=…)")


def test_both_is_refused_by_each_function() -> None:
    for function in (audit_dp, assert_dp):
        with pytest.raises(ValueError, match="budget and samples are both given"):
            function(noisy, [0.0], [1.0], epsilon=1.0, budget=Budget(), samples=100)
    with pytest.raises(ValueError, match="execution and seed are both given"):
        audit_grid(lambda: noisy, [{}], [([0.0], [1.0])], epsilon=1.0, execution=Execution(), seed=1)


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("neighbors", "neighbours"), ("sample", "samples"), ("worker", "workers"), ("confidense", "confidence")],
)
def test_a_misspelt_keyword_is_told_the_right_one(wrong: str, meant: str) -> None:
    with pytest.raises(TypeError) as error:
        audit(**{wrong: 1})
    assert line(error) == f"audit_dp() got an unexpected keyword argument {wrong!r}, did you mean {meant}?"


def test_a_group_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match=r"budget = 1000 must be a Budget, e\.g\. Budget"):
        audit_dp(noisy, [0.0], [1.0], epsilon=1.0, budget=1000)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("1", "epsilon = '1' is a str: give a number"),
        (Decimal(1), r"epsilon = Decimal\('1'\) is a Decimal: give a number, e.g. epsilon=float"),
        (None, "nothing is claimed: give one of epsilon="),
        (True, "epsilon = True is a bool: give a number"),
        (-1, "epsilon = -1 must be a finite number ≥ 0$"),
        (float("nan"), "epsilon = nan must be a finite number ≥ 0$"),
        (float("inf"), "an infinite ε claims nothing"),
    ],
)
def test_an_epsilon_that_means_nothing_is_refused_to_the_point(value: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says) as error:
        audit(epsilon=value)
    line(error)


@pytest.mark.parametrize("value", [np.float32(1), np.int64(1), Fraction(1), 1])
def test_other_real_numbers_are_understood(value: Any) -> None:
    assert Epsilon(value).epsilon == 1
    assert type(Epsilon(value).epsilon) in (int, float)
    assert audit(epsilon=value).to_dict()["claimed_epsilon"] == 1


@pytest.mark.parametrize("value", [1e3, 1000, np.float64(1000), np.int32(1000)])
def test_a_whole_number_of_samples_is_understood(value: Any) -> None:
    assert audit(samples=value).samples == 1000
    assert type(Budget(samples=value).samples) is int


@pytest.mark.parametrize("value", [1000.5, 9, -1000, "1000", float("inf"), float("nan")])
def test_other_samples_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"samples = .* must be an integer of at least 10 draws a side"):
        audit(samples=value)


A, B = [0.0, 1.0], [1.0, 1.0]
ROWS = np.ones((3, 2)), np.ones(3)
FLIPPED = ROWS[0], np.array([-1.0, 1.0, 1.0])


@pytest.mark.parametrize("pairs", [(A, B), [A, B], ([0.0] * 3, [0.0, 0.0, 1.0]), (ROWS, FLIPPED)])
def test_a_bare_pair_is_told_to_be_a_list(pairs: Any) -> None:
    with pytest.raises(ValueError, match="pairs is one pair") as error:
        audit_dp(noisy, pairs=pairs, epsilon=1.0)
    assert "pairs=[(dataset, neighbour)]" in line(error)


@pytest.mark.parametrize(
    "pairs",
    [
        [(A, B), (B, A)],
        ((A, B), (A, B)),
        [(ROWS, FLIPPED), (FLIPPED, ROWS)],
        [(A, B)],
        [([0.0], [1.0])] * 2,
        [("ab", "ac"), ("ab", "ad")],
    ],
)
def test_two_pairs_are_two_pairs(pairs: Any) -> None:
    result = audit_dp(lambda d, rng: rng.laplace() + len(d), pairs=pairs, epsilon=1.0, samples=50, lints=False)
    assert result.verdict == "inconclusive"


@pytest.mark.parametrize("pairs", [[], [[0.0]], [(A, B, A)], 3, [(A, B), 3]])
def test_what_are_no_pairs_is_refused(pairs: Any) -> None:
    with pytest.raises(ValueError, match=r"pairs = .* must hold at least one \(dataset, neighbour\), and nothing else"):
        audit_dp(noisy, pairs=pairs, epsilon=1.0)


@pytest.mark.parametrize("given", [{"dataset": A}, {"dataset": A, "neighbour": B}, {"neighbour": B}])
def test_pairs_and_a_dataset_are_refused_together(given: Any) -> None:
    with pytest.raises(ValueError, match="pairs replaces dataset and neighbour: give either, not both"):
        audit_dp(noisy, pairs=[(A, B)], epsilon=1.0, **given)


def test_a_failing_assertion_hides_its_own_frame() -> None:
    assert "__tracebackhide__" in assert_dp.__code__.co_varnames
    with pytest.raises(AssertionError, match="VIOLATED"):
        assert_dp(noisy, [0.0], [9.0], epsilon=1.0, samples=500)


def test_each_cell_of_a_grid_keeps_its_work_in_a_folder_of_its_own(tmp_path: Any) -> None:
    def run(resume: bool) -> Any:
        where = Execution(out=tmp_path, resume=resume)
        budget = Budget(samples=200)
        return audit_grid(_with_scale, {"b": [1.0, 2.0]}, [([0.0], [1.0])], epsilon=1.0, budget=budget, execution=where)

    first = run(False)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cell-0", "cell-1"]
    assert [c.result.p_value for c in run(True).cells] == [c.result.p_value for c in first.cells]


def _with_scale(b: float) -> Any:
    return lambda dataset, size, rng: dataset[0] + rng.laplace(scale=b, size=size)


def test_a_limit_of_time_allows_ten_times_the_draws_unless_they_are_given() -> None:
    assert (Budget().draws, Budget(seconds=5).draws) == (200_000, 2_000_000)
    assert (Budget(samples=70).draws, Budget(samples=70, seconds=5).draws) == (140, 140)
