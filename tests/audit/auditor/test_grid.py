"""Estimators, neighbours, grids, budgets and the keywords for foreign code."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from clock import stopped

import audit
from audit import audit_grid, estimator
from audit.auditor.search.pairs import KINDS, NamedPair, neighbour_pairs
from audit.auditor.targets.estimator import published
from audit.auditor.targets.prepare import prepare, with_fresh_seeds, with_setup
from audit.auditor.terms.claim import GDP, RDP
from audit.auditor.terms.options import Code
from audit.auditor.terms.relation import describe


class Mean:
    """A private mean; `wrong` calibrates for one record too many."""

    def __init__(self, epsilon: float = 1.0, factor: float = 1.0, seed: int = 0):
        self.epsilon, self.factor, self.seed = epsilon, factor, seed

    def fit(self, X: Any, y: Any) -> Mean:
        self.coef_ = (X * y[:, None]).mean(axis=0) + np.random.laplace(
            0, self.factor * 2 / (len(X) * self.epsilon), X.shape[1]
        )
        return self


class Seeded(Mean):
    def fit(self, X: Any, y: Any) -> Seeded:
        self.coef_ = (X * y[:, None]).mean(axis=0) + np.random.RandomState(self.seed).laplace(
            0, 2 / (len(X) * self.epsilon), X.shape[1]
        )
        return self


PAIR = (np.ones((4, 1)), np.ones(4)), (np.ones((4, 1)), np.array([-1.0, 1, 1, 1]))


# ------------------------------------------------------------------------------------------------- estimators


def test_an_estimator_publishes_what_ends_in_an_underscore() -> None:
    rng = np.random.default_rng(0)
    out = estimator(Mean, epsilon=2.0)(PAIR[0], rng)
    assert list(out) == ["coef_"]
    assert estimator(Mean, release="coef_")(PAIR[0], rng).shape == (1,)
    assert estimator(Mean, release=lambda m: m.epsilon, epsilon=3.0)(PAIR[0], rng) == 3.0
    assert list(estimator(Mean)({"X": PAIR[0][0], "y": PAIR[0][1]}, rng)) == ["coef_"]
    assert estimator(Mean).__name__ == "Mean"


def test_an_estimator_can_be_audited() -> None:
    good = audit.audit_dp(estimator(Mean), *PAIR, epsilon=1.0, samples=300)
    bad = audit.audit_dp(estimator(Mean, factor=0.2), *PAIR, epsilon=1.0, samples=300)
    assert (good.verdict, bad.verdict) == ("consistent", "violated")


def test_fresh_seeds_reach_the_constructor() -> None:
    rng = np.random.default_rng(0)
    fixed, fresh = estimator(Seeded), estimator(Seeded, seed_arg="seed")
    assert fixed(PAIR[0], rng)["coef_"] == fixed(PAIR[0], rng)["coef_"]
    assert fresh(PAIR[0], rng)["coef_"] != fresh(PAIR[0], rng)["coef_"]


def test_what_cannot_be_fitted_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="fit="):
        estimator(dict)
    with pytest.raises(ValueError, match="seed_arg"):
        estimator(Mean, seed_arg="state")
    with pytest.raises(ValueError, match="release="):
        published(type("Empty", (), {})())


@dataclass
class Fitted:
    weights: Any
    note: str | None


OUTPUTS: dict[str, Any] = {
    "dataclass": lambda v: Fitted(np.array([v, 2.0]), None),
    "nested": lambda v: {"a": [v, (1, None)], "b": {"c": float("nan")}},
    "ragged": lambda v: [[v], [1.0, 2.0, 3.0]],
    "frame": lambda v: type("Frame", (), {"to_numpy": lambda self: np.array([[v, 1.0]])})(),
    "sometimes None": lambda v: None if v > 3 else v,
    "object array": lambda v: np.array([v, None, "x"], dtype=object),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_every_kind_of_output_can_be_audited(name: str) -> None:
    def mechanism(data: Any, rng: np.random.Generator) -> Any:
        return OUTPUTS[name](float(data[0] + rng.laplace(0, 0.2)))

    assert audit.audit_dp(mechanism, [0.0], [1.0], epsilon=1.0, samples=150).verdict == "violated"


# ------------------------------------------------------------------------------------------------- neighbours


def test_every_generated_pair_is_a_pair_of_neighbours_of_its_relation() -> None:
    made = neighbour_pairs(list(KINDS), (1, 2, 4, 20), dim=3)
    assert {p.name.split(",")[0] for p in made} == set(KINDS)
    for pair in made:
        assert describe(pair.dataset, pair.neighbour)[0] == pair.relation, pair.name
        rows = [np.linalg.norm(side[0], axis=1) for side in (pair.dataset, pair.neighbour)]
        assert rows[0].max() <= 1 + 1e-12
        assert (rows[1].max() > 1 + 1e-12) == pair.name.startswith("extreme")


def test_pairs_without_labels_and_bad_kinds() -> None:
    made = neighbour_pairs(None, (2,), labels=False)
    assert {p.name.split(",")[0] for p in made} == {"sign-flip", "zero", "extreme", "odd-one-out", "tie"}
    assert all(isinstance(p.dataset, np.ndarray) for p in made)
    with pytest.raises(ValueError, match="unknown"):
        neighbour_pairs(["flip"])
    with pytest.raises(ValueError, match="at least 1"):
        neighbour_pairs(sizes=(0,))


# ------------------------------------------------------------------------------------------------------- grids


def grid(**options: Any) -> Any:
    return audit_grid(
        lambda **p: estimator(Mean, **p),
        {"epsilon": [0.5, 1.0], "factor": [1.0, 0.1]},
        neighbour_pairs(["label-flip"], (1, 4), dim=1),
        samples=120,
        **options,
    )


def test_a_grid_finds_the_broken_column_and_only_that() -> None:
    result = grid()
    assert result.verdict == "violated"
    assert {(c.parameters["factor"], c.result.violated) for c in result.cells} == {(1.0, False), (0.1, True)}
    assert all(c.result.claimed_epsilon == c.parameters["epsilon"] for c in result.cells)
    text = str(result)
    assert text.startswith("VIOLATED: 4 of 8 cells")
    assert text.count("✗") == 4 + 1
    assert "epsilon=0.5, factor=0.1" in text


def test_one_error_level_over_all_cells() -> None:
    """Eight cells at 95 % together: each is tested at 1 − 0.05/8."""
    assert {round(1 - c.result.confidence, 12) for c in grid().cells} == {0.001 / 8}


class Cells(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.cells: list[dict[str, str | None]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "td":
            self.cells.append(dict(attrs))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_heat_map_is_well_formed_and_escapes_names(tmp_path: Any) -> None:
    pairs = [NamedPair("<b>&", *PAIR)]
    result = audit_grid(lambda **p: estimator(Mean, **p), {"factor": [1.0, 0.1]}, pairs, epsilon=1.0, samples=120)
    result.write_html(tmp_path / "grid.html")
    page = (tmp_path / "grid.html").read_text(encoding="utf-8")
    parser = Cells()
    parser.feed(page.removeprefix("<!doctype html>"))
    assert parser.open == []
    assert [c["class"] for c in parser.cells] == ["inconclusive", "violated"]
    assert "<b>" not in page
    shades = [int(str(c["style"]).split("(")[1].split(",")[1]) for c in parser.cells]
    assert shades[1] < shades[0], "the worse cell is redder"
    assert result.to_dict()["cells"][1]["result"]["verdict"] == "violated"


def test_a_grid_of_failures_is_an_error() -> None:
    def make(**_: Any) -> Any:
        return lambda data, rng: 1 / 0

    result = audit_grid(make, {"a": [1]}, {"only": ([0.0], [1.0])}, epsilon=1.0, samples=50)
    assert result.verdict == "error"
    assert "! error" in str(result)


def gaussian(factor: float, mu: float = 1.0) -> Any:
    return lambda data, size, rng: np.round((data[0] + factor / mu * rng.normal(size=size)) * 2**20) / 2**20


@pytest.mark.parametrize(
    "claim",
    [{"mu": 1.0}, {"rho": 0.5}, {"claim": RDP(4, 2.0)}, {"claim": lambda factor: GDP(1.0)}, {}],
    ids=["mu", "rho", "rdp", "of-the-cell", "from-the-grid"],
)
def test_a_grid_takes_every_claim(claim: Any) -> None:
    """Said for all cells, made of the parameters of each, or one of these parameters. Half of the noise is found."""
    factors: dict[str, Any] = {"factor": [0.5, 1.0]} | ({} if claim else {"mu": [1.0]})
    pairs = [([0.0], [1.0])]
    result = audit_grid(gaussian, factors, pairs, **claim, samples=2000, confidence=1 - 1e-6, lints=False)
    assert [cell.result.violated for cell in result.cells] == [True, False]
    assert "violated" in result._repr_html_()


def test_a_grid_with_two_claims_is_refused() -> None:
    with pytest.raises(ValueError, match="rho and mu are claimed"):
        audit_grid(gaussian, {"factor": [1.0]}, [([0.0], [1.0])], rho=1.0, mu=1.0)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (({"a": []}, [([0], [1])]), "grid"),
        (({"a": [1]}, []), "pairs"),
        (({"a": [1]}, [NamedPair("x", [0], [1]), NamedPair("x", [0], [2])]), "different names"),
        (({"a": [1]}, [([0], [1])]), "epsilon"),
    ],
)
def test_bad_grids_are_refused(arguments: Any, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        audit_grid(lambda **_: lambda d, rng: 0.0, *arguments)


# -------------------------------------------------------------------------------------------- seeds and set-up


def shipped(data: Any, seed: int = 0) -> float:
    return float(data[0] + np.random.default_rng(seed).laplace())


def test_a_fresh_seed_in_every_call() -> None:
    rng = np.random.default_rng(0)
    assert shipped([0.0]) == shipped([0.0])
    assert len({with_fresh_seeds(shipped, "seed")([0.0], rng) for _ in range(20)}) == 20
    with pytest.raises(ValueError, match="seed_arg"):
        with_fresh_seeds(shipped, "state")


def test_set_up_runs_once_and_sees_no_data() -> None:
    calls = []

    def calibrate() -> float:
        calls.append(1)
        return 2.0

    mechanism = with_setup(lambda data, rng, scale: data[0] + scale * rng.laplace(), calibrate)
    target = prepare(mechanism, Code())
    result = audit.audit_dp(target, [0.0], [1.0], epsilon=0.5, samples=100)
    assert result.verdict == "inconclusive"
    assert len(calls) == 1
    with pytest.raises(ValueError, match="third argument"):
        with_setup(lambda data, rng: 0.0, calibrate)
    with pytest.raises(ValueError, match="no arguments"):
        with_setup(lambda data, rng, scale: 0.0, 3)  # type: ignore[arg-type]


def test_optional_parameters_keep_their_defaults() -> None:
    """A second parameter with a default (a seed, an ε) is not the place for a generator, unless it is called one."""

    def private(data: Any, epsilon: float = 0.5) -> float:
        assert epsilon == 0.5
        return float(data[0] + np.random.laplace(0, 1 / epsilon))

    def given(data: Any, epsilon: float = 0.5, rng: Any = None) -> float:
        assert isinstance(rng, np.random.Generator)
        return float(data[0] + rng.laplace(0, 1 / epsilon))

    for mechanism in (private, given):
        result = audit.audit_dp(mechanism, [0.0], [1.0], epsilon=0.5, samples=100, lints=False)
        assert "raises" not in {f.kind for f in result.findings}


def test_as_shipped_and_with_fresh_seeds_are_reported_apart() -> None:
    result = audit.audit_dp(shipped, [0.0], [1.0], epsilon=1.0, samples=200, seed_arg="seed")
    assert result.violated
    assert {"deterministic", "reseeded"} <= {f.kind for f in result.findings}
    fresh = result.with_fresh_seeds
    assert fresh is not None
    assert fresh.verdict == "consistent"
    assert "reseeded" not in {f.kind for f in fresh.findings}
    text = str(result)
    assert text.startswith("As shipped:\nVIOLATED")
    assert "With a fresh seed in every call:\nCONSISTENT" in text
    assert result.to_dict()["with_fresh_seeds"]["verdict"] == "consistent"


def test_an_estimator_with_a_fixed_seed() -> None:
    result = audit.audit_dp(estimator(Seeded), *PAIR, epsilon=1.0, samples=200, seed_arg="seed")
    assert result.violated
    assert result.with_fresh_seeds is not None
    assert result.with_fresh_seeds.verdict in ("consistent", "inconclusive")


def test_all_keywords_work_together(tmp_path: Any) -> None:
    said: list[str] = []
    result = audit.audit_dp(
        lambda data, rng, scale: data[0] + rng.laplace(0, scale),
        [0.0],
        [1.0],
        epsilon=1.0,
        samples=100,
        setup=lambda: 0.2,
        isolate=True,
        store=tmp_path / "draws",
        progress=said.append,
    )
    assert result.violated
    assert "sensitivity" in {f.kind for f in result.findings}
    assert (tmp_path / "draws").exists()
    assert re.match(
        r"[\d.e-]+ ms a call: 200 draws in all; no audit with 200 draws .* more than ε = \d\.\d\d$", said[0]
    )


def test_failing_alike_is_an_error_with_its_traceback_and_failing_unlike_is_a_leak() -> None:
    def alike(data: Any, rng: Any) -> float:
        raise KeyError("everywhere")

    def unlike(data: Any, rng: Any) -> float:
        raise KeyError if data[0] else ValueError

    result = audit.audit_dp(alike, [0.0], [1.0], epsilon=1.0, samples=50)
    assert result.verdict == "error"
    assert "in alike" in str(result)
    assert "KeyError: 'everywhere'" in str(result)
    assert audit.audit_dp(unlike, [0.0], [1.0], epsilon=1.0, samples=50).violated


def test_a_response_to_epsilon_is_part_of_an_audit() -> None:
    make = lambda epsilon: lambda data, rng: data[0] + rng.normal(0, 3.0 * epsilon)  # noqa: E731
    result = audit.audit_dp(make(1.0), [0.0], [1.0], epsilon=1.0, delta=1e-5, samples=300, make=make)
    assert "noise-grows-with-epsilon" in {f.kind for f in result.findings}


def test_a_budget_in_seconds_is_shared_with_the_lints(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped(monkeypatch)
    calls = []

    def slow(data: Any, rng: np.random.Generator) -> float:
        calls.append(1)
        time.sleep(0.01)
        return float(data[0] + rng.laplace())

    result = audit.audit_dp(slow, [0.0], [1.0], epsilon=1.0, seconds=1.0)
    assert result.verdict == "inconclusive"
    assert 10 <= result.samples <= 50
    assert len(calls) <= 120  # a second of a hundredth each, and a fifth more


def test_gross_bugs_need_few_draws() -> None:
    """True ε = 4 against a claim of 1: 100 draws a side suffice, and the anytime mode stops before half of them."""

    def gross(data: Any, rng: np.random.Generator) -> float:
        return float(data[0] + rng.laplace(0, 0.25))

    used = []
    for seed in range(7):
        assert audit.audit_dp(gross, [0.0], [1.0], epsilon=1.0, samples=100, seed=seed, lints=False).violated
        early = audit.audit_dp(gross, [0.0], [1.0], epsilon=1.0, samples=100, seed=seed, lints=False, anytime=True)
        assert early.violated
        used.append(2 * early.samples)
    assert sorted(used)[3] < 100
