"""Claims of every kind: the bound against the best that the known law allows, and claims off by a factor of two.

- `power`: for each currency and each mechanism with a known law, the median lower bound at 10⁵ draws a side beside
  *ideal*: two Clopper–Pearson intervals (half of the level each) on the best event of the law, at expected counts, read
  in the same currency;
- `rejection`: ten steps of DP-SGD with half the noise that μ = 1 needs: runs, of both sides together, until the anytime
  mode refutes 1-GDP, and how often a fixed budget does;
- `alarms`: how often a claim is refuted that is true and used up. For each kind of claim the mechanism tosses the coin
  whose two laws are the outermost pair that the claim allows: no mechanism for which the claim is true comes nearer to
  refuting it on an event of that mass. Fixed, anytime, and from outputs made elsewhere; for one run, m answers of
  randomised response (with leaks, where δ > 0) or Gaussian scores;
- `one_run`: the bound from a single run against the number m of canaries;
- `published`: bounds from one run against figures that were published elsewhere for both formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import special, stats

from audit.auditor.api import audit_dp
from audit.auditor.given import audit_outputs
from audit.auditor.one_run import audit_one_run, one_run_lower_bound, refuted
from audit.auditor.terms.claim import GDP, RDP, ZCDP, Claim, Epsilon, Profile, TradeOff
from audit.auditor.test.exact import allowed_rate

HELP = "claims of every kind: bound / ideal, a DP-SGD with half its noise, false alarms, one training run"

Array = np.ndarray
Sampler = Callable[[Any, int, np.random.Generator], Array]

SAMPLES, CONFIDENCE, FIRST_SEED = 100_000, 0.999, 8_100_000
STEPS = 10
GRID = np.linspace(-9.0, 11.0, 5001)
CLAIMS: tuple[Claim, ...] = (GDP(0.01), ZCDP(0.001), RDP(8, 0.01), Epsilon(0.01, 1e-5))
"""Claims far below every mechanism here: the bound is what is measured."""
DISCRETE = 8
"""σ of the discrete Gaussian; the sums differ by as much."""


def _on_grid(x: Array) -> Array:
    return np.asarray(np.round(x * 2**20) / 2**20)


def gaussian(dataset: Any, size: int, rng: np.random.Generator) -> Array:
    """N(0, 1) against N(1, 1)."""
    return _on_grid(dataset[0] + rng.normal(size=size))


def laplace(dataset: Any, size: int, rng: np.random.Generator) -> Array:
    """Laplace noise of scale 1 on a sum that moves by 1."""
    return _on_grid(dataset[0] + rng.laplace(size=size))


def subsampled(dataset: Any, size: int, rng: np.random.Generator) -> Array:
    """The record is in the batch with probability 0.2, and moves it by two standard deviations."""
    return _on_grid(dataset[0] * 2 * (rng.random(size) < 0.2) + rng.normal(size=size))


def response(dataset: Any, size: int, rng: np.random.Generator) -> Array:
    """Randomised response at ε = 1."""
    return np.asarray((rng.random(size) < special.expit(1.0)) == (dataset[0] == 1)).astype(int)


def discrete(dataset: Any, size: int, rng: np.random.Generator) -> Array:
    """Discrete Gaussian noise (by inversion on a table) on a sum that moves by one σ."""
    values, mass = _discrete()
    return np.asarray(DISCRETE * dataset[0] + rng.choice(values, size, p=mass))


def _discrete() -> tuple[Array, Array]:
    values = np.arange(-12 * DISCRETE, 12 * DISCRETE + 1)
    mass = np.exp(-(values**2) / (2 * DISCRETE**2))
    return values, mass / mass.sum()


def dp_sgd(noise: float) -> Sampler:
    """Ten steps whose clipped gradients move by 1 in the first of five coordinates, with μ = 1/noise in all."""

    def run(dataset: Any, size: int, rng: np.random.Generator) -> Array:
        w = np.zeros((size, 5))
        for _ in range(STEPS):
            w[:, 0] += dataset[0]
            w += rng.normal(scale=noise * math.sqrt(STEPS), size=(size, 5))
        return _on_grid(w)

    return run


MECHANISMS: dict[str, Sampler] = {
    "Gaussian": gaussian,
    "subsampled Gaussian": subsampled,
    "Laplace": laplace,
    "discrete Gaussian": discrete,
    "randomised response": response,
    "DP-SGD, 10 steps": dp_sgd(1.0),
}


def tails(name: str) -> tuple[Array, Array]:
    """P(S) and Q(S) of the events {output ≥ t}, which are the best for each of these laws."""
    if name == "subsampled Gaussian":
        return 0.2 * stats.norm.sf(GRID - 2) + 0.8 * stats.norm.sf(GRID), stats.norm.sf(GRID)
    if name == "Laplace":
        return stats.laplace.sf(GRID - 1), stats.laplace.sf(GRID)
    if name == "randomised response":
        return np.array([special.expit(1.0)]), np.array([special.expit(-1.0)])
    if name == "discrete Gaussian":
        _, mass = _discrete()
        above = np.cumsum(mass[::-1])[::-1]
        return above[:-DISCRETE], above[DISCRETE:]
    return stats.norm.sf(GRID - 1), stats.norm.sf(GRID)


def ideal(claim: Claim, name: str, samples: int = SAMPLES, confidence: float = CONFIDENCE) -> float:
    """The bound on the best event of the known law."""
    part, best = (1 - confidence) / 2, 0.0
    above = tails(name)
    for p, q in (above, (1 - above[1], 1 - above[0])):
        low = special.betaincinv(np.maximum(p * samples, 1e-9), samples - p * samples + 1, part)
        high = special.betaincinv(q * samples + 1, np.maximum(samples - q * samples, 1e-9), 1 - part)
        usable = low > high
        if usable.any():
            best = max(best, float(np.max(claim.value(low[usable], high[usable]))))
    return best


def run(progress: Callable[[str], None], parts: Sequence[str] = (), **options: Any) -> dict[str, Any]:
    """Measure. Options: seeds, samples."""
    return {part: PARTS[part](progress, options) for part in parts or PARTS}


def _power(progress: Callable[[str], None], options: dict[str, Any]) -> list[dict[str, Any]]:
    seeds, samples = options.get("seeds", 15), options.get("samples", SAMPLES)
    rows = []
    for name, sampler in MECHANISMS.items():
        for claim in CLAIMS:
            bounds = [
                audit_dp(sampler, [0], [1], claim=claim, samples=samples, seed=FIRST_SEED + s, lints=False).lower
                for s in range(seeds)
            ]
            best, median = ideal(claim, name, samples), float(np.median(bounds))
            rows.append({"mechanism": name, "currency": claim.symbol, "ideal": best, "median": median})
            progress(f"{name}, {claim.symbol}: {median:.4g} of {best:.4g}")
    return rows


def _rejection(progress: Callable[[str], None], options: dict[str, Any]) -> dict[str, Any]:
    seeds, used, fixed = options.get("seeds", 15), [], 0
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        asked: dict[str, Any] = {"mu": 1.0, "seed": seed, "lints": False}
        bet = audit_dp(dp_sgd(0.5), [0.0], [1.0], samples=5000, anytime=True, **asked)
        used.append(bet.draws["test"] if bet.violated else math.inf)
        fixed += audit_dp(dp_sgd(0.5), [0.0], [1.0], samples=1000, **asked).violated
    progress(f"anytime {np.median(used):g} runs, 2000 runs refute in {fixed} of {seeds}")
    return {"anytime": float(np.median(used)), "fixed": fixed, "of": seeds, "runs": 2000}


# ------------------------------------------------------------------------------------------------ false alarms


def _gaussian_errors(a: Array) -> Array:
    """The trade-off function of N(0, 1) and N(1, 1)."""
    return np.asarray(special.ndtr(-special.ndtri(a) - 1))


USED_UP: tuple[Claim, ...] = (
    Epsilon(1.0),
    Epsilon(1.0, 0.02),
    GDP(1.0),
    ZCDP(0.5),
    RDP(8, 4.0),
    RDP({2: 1.0, 8: 4.0}),
    Profile({1e-3: 3.2, 1e-2: 2.4, 0.1: 1.2}),
    TradeOff(_gaussian_errors, name="G(1)"),
)
"""One claim of each kind."""
MASS = 0.4
"""P(1) + Q(1) of the coin that uses a claim up."""
LEVEL, LEAK = 0.2, 1e-3
"""The level of the audits that are counted: large, so that few audits show a level that is not kept. And the δ that
randomised response leaks with, at a smaller one, so that some audits of one run meet a leak."""


def coin(claim: Claim) -> Sampler:
    """A mechanism that publishes 1 with the outermost pair of probabilities that the claim allows."""
    rate = float(allowed_rate(claim, np.array(MASS))) - 1e-9
    chances = MASS * (1 - rate), MASS * rate

    def toss(dataset: Any, size: int, rng: np.random.Generator) -> Array:
        return (rng.random(size) < chances[dataset[0]]).astype(int)

    return toss


def _alarms(progress: Callable[[str], None], options: dict[str, Any]) -> list[dict[str, Any]]:
    runs = options.get("alarms", 40)
    rows = []
    for claim in USED_UP:
        wrong = {mode: sum(audit(claim, FIRST_SEED + s) for s in range(runs)) for mode, audit in MODES.items()}
        rows.append({"claim": str(claim), **wrong, "of": runs})
        progress(f"{claim}: {wrong} of {runs}")
    for claim, sampler in ONE_RUN.items():
        alarms = sum(_one_run(claim, sampler, 200, s, 1 - LEVEL).violated for s in range(runs))
        rows.append({"claim": str(claim), "one run": alarms, "of": runs})
        progress(f"{claim}, one run: {alarms} of {runs}")
    return rows


def _fixed(claim: Claim, seed: int, anytime: bool = False) -> bool:
    asked: dict[str, Any] = {"claim": claim, "samples": 1000, "confidence": 1 - LEVEL, "lints": False}
    return audit_dp(coin(claim), [0], [1], seed=seed, anytime=anytime, **asked).violated


def _anytime(claim: Claim, seed: int) -> bool:
    return _fixed(claim, seed, anytime=True)


def _given(claim: Claim, seed: int) -> bool:
    rng = np.random.default_rng([seed, 5])
    sides = [coin(claim)([side], 1000, rng) for side in (0, 1)]
    return audit_outputs(*sides, claim=claim, confidence=1 - LEVEL, seed=seed).violated


MODES: dict[str, Callable[[Claim, int], bool]] = {"fixed": _fixed, "anytime": _anytime, "outputs": _given}


# ------------------------------------------------------------------------------------------------ one training run

Canaries = Callable[[Array, np.random.Generator], Array]


def _answers(leaks: float) -> Canaries:
    """Randomised response at ε = 1, one answer a canary; a share `leaks` of them tells the truth, and that it does."""

    def score(included: Array, rng: np.random.Generator) -> Array:
        kept = rng.random(len(included)) < special.expit(1.0)
        size = np.where(rng.random(len(included)) < leaks, 2.0, np.where(kept, 1.0, -1.0))
        return np.asarray(np.where(included, size, -size))

    return score


def _added(included: Array, rng: np.random.Generator) -> Array:
    """Each canary moves a sum of its own by one standard deviation: μ = 1."""
    return np.asarray(included + rng.normal(size=len(included)))


ONE_RUN: dict[Claim, Canaries] = {Epsilon(1.0): _answers(0.0), Epsilon(1.0, LEAK): _answers(LEAK), GDP(1.0): _added}
"""What is claimed and true, used up by each canary."""
MORE_CANARIES: dict[Claim, Canaries] = {Epsilon(1.0, d): _answers(d) for d in (0.0, 1e-5)} | {GDP(1.0): _added}
CANARIES = (100, 1000, 10_000, 100_000)


def _one_run(claim: Claim, sampler: Canaries, canaries: int, seed: int, confidence: float) -> Any:
    rng = np.random.default_rng([FIRST_SEED, canaries, seed])
    included = rng.integers(0, 2, canaries) == 1
    return audit_one_run(sampler(included, rng), included, claim=claim, confidence=confidence, seed=seed)


def _against_m(progress: Callable[[str], None], options: dict[str, Any]) -> list[dict[str, Any]]:
    """The median bound, at 95 % as the papers have it; what is true is 1 in each row."""
    rows = []
    for claim, sampler in MORE_CANARIES.items():
        found = {}
        for canaries in options.get("canaries", CANARIES):
            seeds = range(options.get("seeds", 5))
            bounds = [_one_run(claim.at(0.01), sampler, canaries, s, 0.95).lower for s in seeds]
            found[str(canaries)] = float(np.median(bounds))
            progress(f"{claim}, {canaries} canaries: {found[str(canaries)]:.4g}")
        rows.append({"claim": str(claim), "bounds": found})
    return rows


PUBLISHED = ((1.0, 1.13346, 2.164749), (2.0, 2.311945, 4.7218075), (4.0, 4.395568, 9.133752))
"""What the tests of JAX-Privacy (`CanaryScoreAuditor`) say ε is at least, at δ = 1e-6 and 95 %: by the formula of
Steinke, Nasr and Jagielski, and by that of Mahloujifar, Melis and Chaudhuri. Of 20 000 canaries half are included; the
scores of each half are the quantiles of a normal law, those of the included moved by the first number."""
EACH, PUBLISHED_DELTA, PUBLISHED_LEVEL = 10_000, 1e-6, 0.05


def guesses(shift: float) -> list[tuple[int, int]]:
    """(guesses, right ones) for the thresholds that JAX-Privacy tries: the corners of the convex hull of the counts."""
    scores = stats.norm.ppf((np.arange(EACH) + 0.5) / EACH)
    cuts = np.append(np.union1d(scores, scores + shift), math.inf)
    kept: list[tuple[int, int]] = []
    for missed, spared in zip(np.searchsorted(scores + shift, cuts), np.searchsorted(scores, cuts), strict=True):
        point = int(missed), int(spared)
        while len(kept) > 1 and _turns_down(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return [(2 * EACH - missed - spared, EACH - missed) for missed, spared in kept]


def _turns_down(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> bool:
    """Whether b lies on or below the line from a to c."""
    return (b[1] - a[1]) * (c[0] - b[0]) <= (c[1] - b[1]) * (b[0] - a[0])


def best_of(claim: Claim, tried: Sequence[tuple[int, int]]) -> float:
    """The largest bound over the thresholds, at the level shared evenly among them; likely ones first."""
    level, best = PUBLISHED_LEVEL / len(tried), 0.0
    order = sorted((t for t in tried if t[1]), key=lambda t: -special.betaincinv(t[1], t[0] - t[1] + 1, level))
    for n, k in order:
        if refuted(claim.at(best), 2 * EACH, n, k, level):
            best = max(best, one_run_lower_bound(claim, 2 * EACH, n, k, level))
    return best


def _published(progress: Callable[[str], None], options: dict[str, Any]) -> list[dict[str, Any]]:
    rows, epsilons = [], np.arange(0.0, 12.0, 1e-4)
    for shift, theirs, sharper in PUBLISHED:
        tried = guesses(shift)
        mu = best_of(GDP(0.0), tried)
        ours = best_of(Epsilon(0.0, PUBLISHED_DELTA), tried)
        delta = special.ndtr(mu / 2 - epsilons / mu) - np.exp(epsilons) * special.ndtr(-mu / 2 - epsilons / mu)
        as_epsilon = float(epsilons[np.argmax(delta <= PUBLISHED_DELTA)])
        rows.append({"shift": shift, "bounds": [[theirs, sharper], [ours, as_epsilon]]})
        progress(f"shift {shift:g}: {ours:.5f} ({theirs}), {as_epsilon:.5f} ({sharper})")
    return rows


PARTS: dict[str, Callable[[Callable[[str], None], dict[str, Any]], Any]] = {
    "power": _power,
    "rejection": _rejection,
    "alarms": _alarms,
    "one_run": _against_m,
    "published": _published,
}


def render(result: dict[str, Any]) -> str:
    """The tables."""
    lines: list[str] = []
    if "power" in result:
        lines += ["| mechanism | currency | ideal | median bound | share |", "|---|---|---|---|---|"]
        lines += [
            f"| {r['mechanism']} | {r['currency']} | {r['ideal']:.4g} | {r['median']:.4g} |"
            f" {r['median'] / r['ideal']:.3f} |"
            for r in result["power"]
        ]
    if "rejection" in result:
        r = result["rejection"]
        lines += [
            "",
            f"DP-SGD with half its noise, claimed 1-GDP: refuted after {r['anytime']:g} runs (median, anytime);",
        ]
        lines += [f"a fixed budget of {r['runs']} runs refutes it in {r['fixed']} of {r['of']}."]
    if "alarms" in result:
        lines += ["", f"| true claim, used up, at {1 - LEVEL:.0%} | fixed | anytime | outputs | one run | of |"]
        lines += ["|---|---|---|---|---|---|"]
        kinds = (*MODES, "one run")
        lines += [
            f"| {r['claim']} | {' | '.join(str(r.get(kind, '–')) for kind in kinds)} | {r['of']} |"
            for r in result["alarms"]
        ]
    if "one_run" in result:
        numbers = list(result["one_run"][0]["bounds"])
        lines += ["", f"| one run, true: 1; canaries | {' | '.join(numbers)} |", "|---|" + "---|" * len(numbers)]
        lines += [
            f"| {r['claim']} | {' | '.join(f'{bound:.3f}' for bound in r['bounds'].values())} |"
            for r in result["one_run"]
        ]
    if "published" in result:
        lines += ["", "| one run, published: shift | (ε, δ): published | here | μ: published | here |"]
        lines += ["|---|---|---|---|---|"]
        lines += [
            f"| {r['shift']:g} | "
            + " | ".join(f"{x:.4f}" for pair in zip(*r["bounds"], strict=True) for x in pair)
            + " |"
            for r in result["published"]
        ]
    return "\n".join(lines) + "\n"
