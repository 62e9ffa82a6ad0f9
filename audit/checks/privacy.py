"""Privacy of the six algorithms, from both sides: measured from below, certified from above, and the claim.

For each algorithm and variant a pair of neighbouring datasets is built that moves its output as far as we know how, the
fast engine is audited on it as a black box, and the accountant gives the certified upper bound. What must hold is

    measured lower bound  ≤  certified upper bound  ≤  claim,

and where the printed text is not private the measured bound must exceed the claim. The false-alarm level of each audit
is `LEVEL`; the seed is that of the check.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from audit import engine as fast
from audit.accounting.accountants import PrivacyProfile, account
from audit.auditor.api import audit_dp
from audit.auditor.terms.result import AuditResult
from audit.checks.evidence import Measured
from audit.checks.framework import Figure, Outcome, Role, check
from audit.checks.mutants import Mutant, Mutants, beside, edited, scaled, unguarded
from audit.engine.arrays import Array
from audit.engine.convex import ORACLE_ERRATA
from reference.convex import noisy_frank_wolfe as nfw
from reference.convex.oracle import closed_form_oracle
from reference.convex.phased_noise import tight_sigma
from reference.convex.phased_sgd import PhasedParameters, phased_parameters, step_size, theorem_beta_printed
from reference.convex.sensitivity import padded, widest_pair
from reference.numerics.numbers import Float64, Numbers, Real
from reference.numerics.tape import ZeroTape
from reference.paper.algorithms import EDITIONS, Edition
from reference.paper.events import Trace
from reference.privacy import gaussian_mu_safe
from reference.setting.data import Example
from reference.setting.losses import GLL, Absolute
from reference.setting.losses_smooth import SignedQuadratic, SmoothPredictorLoss
from reference.setting.losses_weak import TanhRegression
from reference.setting.sets import Box, L2Ball, l1_ball
from reference.smooth.noisy_sfw import noisy_sfw, noisy_sfw_printed
from reference.weakly_convex.strongly_convex import Phase

K = Float64()
LEVEL = 1e-6
"""The false-alarm level of each statistical test, which is the project's."""
TEST = Measured(f"{LEVEL:g}", "the smallest ε that it would report with probability 0.95 is in the result")
EPSILON, DELTA = Fraction(1), Fraction(1, 100)
"""The target of every case: a δ of a hundredth is large enough for a test to see it spent."""
FAR = 8
"""A label beyond every prediction: the loss is then linear, with slope ∓1."""

Dataset = tuple[Example, ...]

PHASED_ADMITS = unguarded("reference.convex.phased_noise.require_proof")
WOLFE_ADMITS = unguarded("reference.convex.noisy_frank_wolfe.require_proof")
ROUNDS_ADMIT = unguarded("reference.smooth.poly_sfw.require_round_proofs")
"""So that too little noise is run, and not refused."""


def too_little(scale: str, *others: Mutant) -> Mutant:
    """A tenth of the noise."""
    return beside(scaled(scale, "1/10"), *others)


QUIETER = 20


def with_less_noise(honest: Callable[..., Array]) -> Callable[..., Array]:
    """Draws of which the noise is `QUIETER` times smaller; indices and permutations are as they were."""

    def less(generator: np.random.Generator, kind: str, count: int) -> Array:
        return honest(generator, kind, count) / (QUIETER if kind in ("normal", "laplace", "gumbel") else 1)

    return less


QUIET = Mutant("audit.engine.tapes._unit", "a twentieth of all noise", with_less_noise)
"""The runs alone have too little noise, and no accountant knows: what is measured must show it."""


# -------------------------------------------------------------------------------------- measured, certified, claimed


def measure(
    run: Callable[[Dataset, fast.BatchTape], Array],
    pair: Sequence[Dataset],
    epsilon: Any,
    delta: Any,
    samples: int,
    seed: int,
    lints: bool = True,
) -> AuditResult:
    """The black-box auditor on the outputs of the fast engine."""

    def mechanism(dataset: Dataset, size: int, rng: np.random.Generator) -> Array:
        return run(dataset, fast.LiveBatch(int(rng.integers(2**62)), size))

    return audit_dp(
        mechanism,
        pair[0],
        pair[1],
        epsilon=float(epsilon),
        delta=float(delta),
        samples=samples,
        confidence=1 - LEVEL,
        seed=seed,
        lints=lints,
    )


@dataclass(frozen=True)
class LossBounds:
    """Bounds on the privacy loss ε at one δ: measured from below, certified from above, and claimed."""

    title: str
    measured: AuditResult
    certified: float | None
    claim: float
    profiles: Mapping[Edition, PrivacyProfile] = field(default_factory=dict)
    """What the accountant certifies of each edition that has a profile, for the picture."""

    def outcome(self) -> Outcome:
        """Private: measured ≤ certified ≤ claim, and no violation found.

        A run that was refused has measured nothing: that is an error, and says nothing about the claim.
        """
        if self.measured.verdict == "error":
            raise RuntimeError(f"{self.title}: nothing was measured: {self.measured.reason}")
        certified = self.claim if self.certified is None else self.certified
        holds = (
            self.measured.verdict == "consistent"
            and self.measured.epsilon_lower <= certified
            and certified <= self.claim * (1 + 1e-9)
        )
        return Outcome(
            holds,
            ratio=self.measured.epsilon_lower / self.claim,
            witness=self.measured.event,
            numbers=self.numbers(),
            would_detect=self.measured.would_detect,
            figures=(self.figure(),),
        )

    def numbers(self) -> dict[str, float | int | str]:
        """What the report prints."""
        shown: dict[str, float | int | str] = {
            "measured ε": self.measured.epsilon_lower,
            "claimed ε": self.claim,
            "δ": self.measured.delta,
            "draws a side": self.measured.samples,
        }
        return shown if self.certified is None else shown | {"certified ε": self.certified}

    def figure(self) -> Figure:
        """δ(ε): what is certified of each edition from above, what was measured from below, what is claimed."""
        delta = self.measured.delta
        points: dict[str, tuple[list[tuple[float, float]], list[Role]]] = {
            "claim": ([(self.claim, delta)], ["claimed"]),
            "measured (at least)": ([(self.measured.epsilon_lower, delta)], ["measured"]),
        }
        grid = [Fraction(self.claim) * i / 20 for i in range(31)]
        for edition, profile in self.profiles.items():
            curve = [(float(e), d) for e in grid if (d := profile.certified_delta(e)) > SMALLEST]
            if curve:
                points[f"{edition}, certified (at most)"] = (curve, [edition, "certified"])
        return Figure(
            title=self.title,
            x_label="ε",
            y_label="δ(ε)",
            series={name: series for name, (series, _) in points.items()},
            y_log=True,
            topic="privacy",
            roles={name: roles for name, (_, roles) in points.items()},
            note=""
            if self.certified is None
            else f"At δ = {delta:g}: measured ε ≥ {self.measured.epsilon_lower:.3g},"
            f" certified ε ≤ {self.certified:.3g}, claimed {self.claim:g}.",
        )


SMALLEST = 1e-16
"""The least δ that is drawn."""


PAIR_OF_ONE: dict[str, Any] = {"R": 2, "b": 2, "L0": 1, "L1": 2, "D": 1, "d": 1, "p": 2}
"""Algorithm 5 where its printed noise fails at the pair of step (1, 1)."""


def profiles_of(algorithm: str, epsilon: Fraction, **parameters: Any) -> dict[Edition, PrivacyProfile]:
    """What the accountant certifies of each edition of an algorithm at the target; nothing of one without a profile."""
    found = {edition: account(algorithm, edition, epsilon, DELTA, **parameters).profile for edition in EDITIONS}
    return {edition: profile for edition, profile in found.items() if profile is not None}


def measured_and_certified(
    title: str,
    algorithm: str,
    variant: Any,
    run: Callable[[Dataset, fast.BatchTape], Array],
    pair: Sequence[Dataset],
    samples: int,
    seed: int,
    **parameters: Any,
) -> Outcome:
    """Measure, account, compare."""
    found = measure(run, pair, EPSILON, DELTA, samples, seed)
    profile = account(algorithm, variant, EPSILON, DELTA, **parameters).profile
    certified = None if profile is None else profile.certified_epsilon(DELTA)
    profiles = profiles_of(algorithm, EPSILON, **parameters)
    return LossBounds(title, found, certified, float(EPSILON), profiles).outcome()


SAMPLES = {"quick": 5_000, "standard": 100_000}
"""Draws a side, by level: a fraction of a second, and about one."""


def both_levels(statement: str, edition: Any, make: Callable[[int, int], Outcome], name: str, mutants: Mutants) -> None:
    """Register a check at the quick level and, with more draws, at the standard level."""
    for level, samples in SAMPLES.items():

        def run(seed: int, samples: int = samples) -> Outcome:
            return make(samples, seed)

        run.__name__ = run.__qualname__ = f"{name}_{level}"
        run.__doc__ = make.__doc__
        noticed = (QUIET, *mutants) if level == "quick" else mutants
        globals()[run.__name__] = check(statement, kind=TEST, edition=edition, level=level, mutants=noticed)(run)  # type: ignore[arg-type]


# ----------------------------------------------------------------------------------------- Algorithm 2


def phased_pair(n: int) -> tuple[Dataset, Dataset]:
    """The first record pushes all iterates of phase 1 by ±η; the others do nothing: the bound on Δ_1 is attained."""
    silent = (Example((0,), 0),) * (n - 1)
    return (Example((1,), FAR), *silent), (Example((1,), -FAR), *silent)


def phased_case(variant: str, samples: int, seed: int) -> Outcome:
    """Algorithm 2 on the line, n = 16: the released average moves by 2η_1·L0·R."""
    rule = {"sigma": tight_sigma} if variant == "tight" else {}
    W = L2Ball((0,), Fraction(1, 2))
    p = phased_parameters(K, 16, GLL(Absolute, 1, 1), W, epsilon=EPSILON, delta=DELTA, **rule)  # type: ignore[arg-type]
    return measured_and_certified(
        f"Algorithm 2, {variant}",
        "Alg:phased",
        variant,
        lambda data, tape: fast.phased_sgd(data, p, tape),
        phased_pair(16),
        samples,
        seed,
        n=16,
        d=1,
        L0=1,
        R=1,
        D=1,
    )


both_levels(
    "thm:l2_glm",
    "corrected",
    partial(phased_case, "corrected"),
    "phased_sgd_corrected_is_private",
    (too_little("reference.convex.phased_sgd.sigma_printed", PHASED_ADMITS),),
)
both_levels(
    "thm:l2_glm",
    "tight",
    partial(phased_case, "tight"),
    "phased_sgd_tight_is_private",
    (too_little("reference.convex.phased_noise.tight_sigma", PHASED_ADMITS),),
)


SMALL_DELTA = Fraction(1, 10**6)
"""The target of the printed Theorem 6's case, as in its counterexample (E3.10)."""


@check(
    "thm:l2_glm",
    kind=TEST,
    edition="printed",
    level="standard",
    erratum="E3.10",
    mutants=(scaled("reference.convex.phased_sgd.theorem_beta_printed", "1/48"),),
)
def beta_without_the_diameter_measured(seed: int) -> Outcome:
    """n = 4096, D = 48, β of Theorem 6's statement: steps expand, and the output betrays the first record."""
    n, D = 4096, 48
    W, beta = L2Ball([0, 0], Fraction(D, 2)), theorem_beta_printed(K, n, 1, 1)
    p = phased_parameters(K, n, GLL(Absolute, 1, 1), W, epsilon=1, delta=SMALL_DELTA, beta=beta, unproven=True)
    return measured_violation(p, closed_form_oracle, 2 / beta, ORACLE_ERRATA, 1000, seed)


def measured_violation(
    p: PhasedParameters, call: Any, gap: float, oracle_errata: Any, samples: int, seed: int
) -> Outcome:
    """Build the widest pair for these parameters, run the fast engine on it, and look for a violation of (1, 1e-6)."""
    first = (Example((1, 0), FAR), Example((1, 0), -FAR))
    pair = widest_pair(call, p.smoothing, p.gll, step_size(K, p) / 4, p.n // 2, gap=gap, first=first)
    found = measure(
        lambda data, tape: fast.phased_sgd(data, p, tape, oracle_errata=oracle_errata),
        (padded(pair.dataset, p.n), padded(pair.neighbour, p.n)),
        1,
        SMALL_DELTA,
        samples,
        seed,
        lints=False,  # a hundred single runs, each as long as a thousand side by side
    )
    return LossBounds(f"Algorithm 2 as printed, n = {p.n}", found, None, 1.0).outcome()


# ----------------------------------------------------------------------------------------- Algorithm 3


def frank_wolfe_case(variant: str, samples: int, seed: int) -> Outcome:
    """Algorithm 3 on [−1, 1], n = 8, T = 3: every selection sees one label turned round, the others balance."""
    n, T = 8, 3
    rule = {"scale": nfw.scale_tight} if variant == "tight" else {}
    p = nfw.frank_wolfe_parameters(
        K,
        n,
        GLL(Absolute, 1, 1, 1),
        l1_ball(1, 1),
        epsilon=EPSILON,
        delta=DELTA,
        T=T,
        **rule,  # type: ignore[arg-type]
    )
    rest = (*(Example((1,), FAR), Example((1,), -FAR)) * (n // 2 - 1), Example((0,), 0))
    pair = ((Example((1,), FAR), *rest), (Example((1,), -FAR), *rest))
    return measured_and_certified(
        f"Algorithm 3, {variant}",
        "Alg:nfw",
        variant,
        lambda data, tape: fast.noisy_frank_wolfe(data, p, tape),
        pair,
        samples,
        seed,
        n=n,
        J=2,
        L0=1,
        R=1,
        D=2,
        T=T,
        noise="laplace",
    )


both_levels(
    "thm:l1_glm",
    "corrected",
    partial(frank_wolfe_case, "corrected"),
    "frank_wolfe_corrected_is_private",
    (too_little("reference.convex.noisy_frank_wolfe.scale_printed", WOLFE_ADMITS),),
)
both_levels(
    "thm:l1_glm",
    "tight",
    partial(frank_wolfe_case, "tight"),
    "frank_wolfe_tight_is_private",
    (too_little("reference.convex.noisy_frank_wolfe.scale_tight", WOLFE_ADMITS),),
)


# ----------------------------------------------------------------------------------------- Algorithm 4


@dataclass(frozen=True)
class Linear(SmoothPredictorLoss):
    """y·⟨a, w⟩, |y| ≤ 1: L0 = R, L1 = 0. The record's influence is the largest the sensitivity bound allows."""

    R: Any = 1
    p: Any = 1

    def __post_init__(self) -> None:
        """Read R and p exactly."""
        self._check_bounds()

    @property
    def L0(self) -> Fraction:
        return Fraction(self.R)

    @property
    def L1(self) -> Fraction:
        return Fraction(0)

    def profile(self, K: Numbers, t: Real, y: Real) -> Real:
        return y * t

    def slope(self, K: Numbers, t: Real, y: Real) -> Real:
        return y + 0 * t


def signed_pair(n: int, sign: int = 1) -> tuple[Dataset, Dataset]:
    """All records pull one way; in the neighbour the first pulls the other way."""
    rest = (Example((1,), sign),) * (n - 1)
    return (Example((1,), sign), *rest), (Example((1,), -sign), *rest)


def poly_case(variant: str, samples: int, seed: int) -> Outcome:
    """Algorithm 4 on [−1, 1], linear losses: two rounds with b = 2 (printed, corrected), one round of 3 (tight)."""
    loss, W = Linear(), l1_ball(1, 1)
    if variant == "tight":
        n = 3
        run = partial(_poly_tight, loss, W)
        parameters: dict[str, Any] = {"R": 2, "b": 2, "L0": 1, "L1": 0, "D": 2, "noise": "gumbel"}
    else:
        n = 5
        run = partial(_poly, loss, W, variant)
        parameters = {"R": 2, "b": 2, "L0": 1, "L1": 0, "D": 2}
    title = f"Algorithm 4, {variant}"
    return measured_and_certified(title, "alg:polySFW", variant, run, signed_pair(n), samples, seed, **parameters)


def _poly(loss: Any, W: Any, variant: Any, data: Dataset, tape: fast.BatchTape) -> Array:
    return fast.poly_sfw(loss, W, data, 2, 2, EPSILON, DELTA, tape, edition=variant, exact_budget=True)


def _poly_tight(loss: Any, W: Any, data: Dataset, tape: fast.BatchTape) -> Array:
    return fast.poly_sfw_tight(loss, W, data, 3, 2, EPSILON, DELTA, tape, noise="gumbel")


NOISE_OF_ALGORITHM_4 = ("laplace_scale_printed", "laplace_scale", "tight_scale")
"""Of each edition, in their order."""

for _variant, _scale in zip(EDITIONS, NOISE_OF_ALGORITHM_4, strict=True):
    both_levels(
        "alg:polySFW",
        _variant,
        partial(poly_case, _variant),
        f"poly_sfw_{_variant}_is_private",
        (beside(scaled(f"reference.smooth.calibration.{_scale}", "1/20"), ROUNDS_ADMIT),),
    )


# ----------------------------------------------------------------------------------------- Algorithm 5


def pair_release(body: Callable[..., Any], last: Example) -> tuple[Array, Array]:
    """Means and standard deviations of (Δ̃_1^1, g̃_1^1), d = 1, given the noiseless past: f = ±w² on [−1/2, 1/2]."""
    loss, W = SignedQuadratic(1, Fraction(1, 2), 2, Fraction(2)), Box([Fraction(-1, 2)], [Fraction(1, 2)])
    trace = Trace()
    data = (*STEER, last)
    body(K, loss, W, data, 2, 2, FAILING, DELTA, ZeroTape(), exact_budget=True, trace=trace, start=K.vector([0.5]))
    found = {(e.name, e.indices): e.value for e in trace}
    means = [found["Delta", (1, 1)][0], found["g", (1, 1)][0]]
    return np.array(means), np.array([found["sigma_hat", (1, 1)], found["sigma", (1, 1)]])


STEER = tuple(Example((1,), y) for y in (-1, -1, 1, 1))
"""±w² that drive the noiseless run to w_1^0 = 1/2 and w_1^1 = −1/2: η_{1,0} = 1 makes the jump."""
FAILING = Fraction(4)
"""At (4, 0.01) the noise of printed Algorithm 5 fails. That is beyond ε ≤ √log(1/δ), where the paper claims anything: a
test on draws sees no δ of 1e-6. What refutes E4.1's statements is its counterexample, inside."""


def with_half_the_noise(
    K: Numbers, loss: Any, W: Any, data: Dataset, R: int, b: int, epsilon: Any, *rest: Any, **options: Any
) -> Any:
    """Corrected Algorithm 5 for twice the ε that is asked for: a mutant."""
    return noisy_sfw(K, loss, W, data, R, b, 2 * epsilon, *rest, **options)


def noisy_transcript(body: Callable[..., Any], samples: int, seed: int) -> AuditResult:
    """Audit the releases of step (1, 1) as a black box."""
    laws = [pair_release(body, Example((1,), y)) for y in (1, -1)]

    def mechanism(dataset: int, size: int, rng: np.random.Generator) -> Array:
        means, deviations = laws[dataset]
        return np.asarray(means + deviations * rng.standard_normal((size, 2)))

    return audit_dp(
        mechanism,
        0,
        1,
        epsilon=float(FAILING),
        delta=float(DELTA),
        samples=samples,
        confidence=1 - LEVEL,
        seed=seed,
        neighbours="any",
    )


@check(
    "alg:nSFW",
    kind=TEST,
    edition="printed",
    level="standard",
    erratum="E4.1",
    mutants=(edited("audit.checks.privacy.noisy_sfw_printed_measured", "noisy_sfw_printed, ", "noisy_sfw, "),),
)
def noisy_sfw_printed_measured(seed: int) -> Outcome:
    """Printed Algorithm 5 at (4, 0.01): the pair released at step (1, 1) violates the claim."""
    found = noisy_transcript(noisy_sfw_printed, 2_000_000, seed)
    profiles = profiles_of("alg:nSFW", FAILING, **PAIR_OF_ONE)
    return LossBounds("Algorithm 5, printed, step (1, 1)", found, None, float(FAILING), profiles).outcome()


@check(
    "alg:nSFW",
    kind=TEST,
    edition="corrected",
    mutants=(
        edited(
            "audit.checks.privacy.noisy_sfw_corrected_is_private", "noisy_sfw, 100_000", "with_half_the_noise, 100_000"
        ),
    ),
)
def noisy_sfw_corrected_is_private(seed: int) -> Outcome:
    """The corrected Algorithm 5 on the same pair at (4, 0.01)."""
    found = noisy_transcript(noisy_sfw, 100_000, seed)
    profiles = profiles_of("alg:nSFW", FAILING, **PAIR_OF_ONE)
    certified = profiles["corrected"].certified_epsilon(DELTA) if "corrected" in profiles else None
    return LossBounds("Algorithm 5, corrected, step (1, 1)", found, certified, float(FAILING), profiles).outcome()


def noisy_tight_case(samples: int, seed: int) -> Outcome:
    """The tight Algorithm 5 on [−1, 1], linear losses, T = 3, b = 2."""
    loss, W = Linear(p=2), Box([-1], [1])

    def run(data: Dataset, tape: fast.BatchTape) -> Array:
        return fast.noisy_sfw_tight(loss, W, data, 3, 2, EPSILON, DELTA, tape)

    parameters = {"R": 2, "b": 2, "L0": 1, "L1": Fraction(1, 10**9), "D": 2, "d": 1, "p": 2}  # L1 > 0 there
    return measured_and_certified(
        "Algorithm 5, tight", "alg:nSFW", "tight", run, signed_pair(3), samples, seed, **parameters
    )


both_levels(
    "alg:nSFW",
    "tight",
    noisy_tight_case,
    "noisy_sfw_tight_is_private",
    (too_little("reference.smooth.calibration.tight_deviation"),),
)


# ----------------------------------------------------------------------------------------- Algorithm 6


def proximal_case(samples: int, seed: int) -> Outcome:
    """Algorithm 6 on [−1, 1] with |tanh w − y|: near 0 the slope is −sgn(y), so one label moves the mean by 2/n."""
    loss, W, plan = TanhRegression(1), L2Ball((0,), 1), (Phase(8, 4),)
    mu = gaussian_mu_safe(EPSILON, DELTA)

    def run(data: Dataset, tape: fast.BatchTape) -> Array:
        return fast.proximally_guided(loss, W, data, tape, rounds=2, plan=plan, mu=mu)

    rest = tuple(Example((1,), y) for y in (1, -1, 1, -1, 1, -1, 1))
    pair = ((Example((1,), 1), *rest), (Example((1,), -1), *rest))
    parameters = {"n": 8, "R": 2, "T": 4, "d": 1, "p": 2, "L0": 1}
    return measured_and_certified(
        "Algorithm 6, corrected", "Alg:PGPSMD", "corrected", run, pair, samples, seed, **parameters
    )


both_levels(
    "Alg:PGPSMD",
    "corrected",
    proximal_case,
    "proximally_guided_is_private",
    (too_little("reference.weakly_convex.strongly_convex.noise_scale"),),
)
