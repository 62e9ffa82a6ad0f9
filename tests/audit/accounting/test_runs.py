"""What `account` prints, a run accepts: every algorithm and variant, over a random family of parameters, in binary64.

And where the proof is tight a run refuses, or would not take, a tenth of a per mille less; where the text's own scale
has room, the account says so, since its certified δ is below the target.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from audit.accounting.accountants import Account, account
from reference.convex import noisy_frank_wolfe as nfw
from reference.convex.oracle import closed_form_oracle
from reference.convex.phased_noise import tight_sigma
from reference.convex.phased_sgd import phased_parameters, theorem_beta_printed
from reference.convex.sensitivity import tuned_parameters
from reference.numerics.enclosures import float_above
from reference.numerics.numbers import MP, Ball, Float64
from reference.numerics.tape import SeededTape
from reference.paper.events import Trace
from reference.privacy import gaussian_mu_safe
from reference.setting import GLL, Absolute, Box, Example, L2Ball, Polytope, Simplex, SquaredTanh, l1_ball
from reference.setting.sets import box_polytope
from reference.smooth.calibration import tight_scale
from reference.smooth.noisy_sfw import noisy_sfw, noisy_sfw_printed, noisy_sfw_tight
from reference.smooth.poly_sfw import poly_sfw_tight
from reference.smooth.rounding import require_scale
from reference.weakly_convex.strongly_convex import noise_scale

F, K, B = Fraction, Float64(), Ball(96)
LESS = F(9999, 10000)
"""A tenth of a per mille less."""
CLOSE = 1e-13
"""What evaluating one formula in binary64 and on balls may differ by."""
VARIANTS = ("printed", "corrected", "tight")


def target(rng: Random) -> tuple[Fraction, Fraction]:
    """ε and δ with ε ≤ √ln(1/δ) and δ ≤ 1/e."""
    delta = F(1, 10 ** rng.choice((1, 2, 5, 6, 9)))
    return F(rng.randrange(1, 150), 100), delta


def size(W: Any, p: Any) -> dict[str, Fraction]:
    """D and the reach of a set."""
    return {"D": F(float_above(W.diameter(B, p))), "reach": F(float_above(W.norm_bound(B, p)))}


def small(found: Account) -> bool:
    """Whether the account says that its noise has room."""
    assert found.profile is not None
    return found.profile.certified.upper(found.target.epsilon) < found.target.delta


# ------------------------------------------------------------------------------------------ Algorithm 2


def flat_set(rng: Random, d: int) -> Any:
    """A set in ℝ^d, some of them far away; onto a segment projections err most."""
    far = rng.choice((0, 0, F(1, 3), 100, 2**16))
    kind = rng.choice(("segment", "segment", "ball", "box"))
    if kind == "segment":
        return Polytope([[far] * d, [far + rng.randrange(1, 4)] + [far] * (d - 1)])
    return L2Ball([far] * d, rng.randrange(1, 3)) if kind == "ball" else Box([far] * d, [far + 1] * d)


def phased_run(found: Account, W: Any, given: dict[str, Any], share: Any = 1, only: int | None = None) -> Any:
    """Algorithm 2 with the scales of an account, those of one phase or of all times `share`."""
    sigmas = [scale.value * float(share if only in (None, k) else 1) for k, scale in enumerate(found.scales)]
    gll = GLL(Absolute, given["L0"], given["R"])
    beta = theorem_beta_printed(K, given["n"], given["L0"], given["R"]) if found.target.printed else None
    asked: dict[str, Any] = {
        "epsilon": found.target.epsilon,
        "delta": found.target.delta,
        "D": given["D"],
        "beta": beta,
    }
    asked |= {
        "beta": beta,
        "oracle": closed_form_oracle,
        "sigma": lambda K, rho, eta, T, p: sigmas[(p.n // T).bit_length() - 2],
    }
    return phased_parameters(K, given["n"], gll, W, **asked)


@pytest.mark.parametrize("seed", range(40))
def test_phased_sgd_accepts_its_scales_and_no_less(seed: int) -> None:
    rng = Random(f"phased{seed}")
    n, d = 2 ** rng.randrange(1, 12), rng.randrange(2, 5)
    W, (epsilon, delta) = flat_set(rng, d), target(rng)
    given: dict[str, Any] = {"n": n, "L0": F(rng.randrange(7, 40), 7), "R": F(rng.randrange(1, 40), 9), **size(W, 2)}
    for variant in VARIANTS:
        found = account("Alg:phased", variant, epsilon, delta, d=d, **given)
        if found.failed:  # the set is too far away for the noise of the text, or steps expand
            assert variant != "tight"
            continue
        assert phased_run(found, W, given).n == n
        k = rng.randrange(len(found.scales))
        if variant != "tight":
            assert small(found)
        elif isinstance(W, Polytope):
            with pytest.raises(ValueError, match=rf"sigma_{k + 1} = "):
                phased_run(found, W, given, LESS, k)


def test_the_tuned_step_and_the_fitting_rule_agree() -> None:
    W = Polytope([[0, 0], [1, 0]])
    plain = phased_parameters(K, 512, GLL(Absolute, 1, 1), W, epsilon=1, delta="1e-6", sigma=tight_sigma)
    for step, run in (("theorem", plain), ("tuned", tuned_parameters(K, plain))):
        found = account("Alg:phased", "tight", 1, "1e-6", n=512, d=2, step=step, reach=1)
        eta, rho = (run.D / 3 * min(1 / (2 * 13.815510557964274**0.5) / 2**0.5, 1 / 512**0.5) * run.stretch), 0
        for k, scale in enumerate(found.scales, 1):
            assert scale.value == pytest.approx(tight_sigma(K, rho, eta / 4**k, 512 >> k, run), rel=1e-9)


def test_a_refused_scale_is_refused_by_the_run_and_the_digits_it_names_do() -> None:
    W = Polytope([[2**21, 0], [2**21 + 1, 0]])
    given: dict[str, Any] = {"n": 4096, "L0": 1, "R": 1, "D": 1, "reach": 2**21}
    found = account("Alg:phased", "corrected", 1, "1e-6", d=2, **given)
    assert found.verdict == "no guarantee"
    assert found.profile is None
    with pytest.raises(ValueError, match="rounding in float64 is") as refused:
        phased_run(found, W, given)
    assert found.failed[0].remedy == f"it says: {refused.value}"
    digits = int(str(refused.value).split("MP(")[1].split(")")[0])
    assert account("Alg:phased", "corrected", 1, "1e-6", d=2, numbers=MP(digits), **given).verdict == "private"


# ------------------------------------------------------------------------------------------ Algorithm 3


def polytope(rng: Random) -> Any:
    far, d = rng.choice((0, 0, F(1, 3), 2**20)), rng.randrange(1, 4)
    return rng.choice((l1_ball(d + 1, rng.randrange(1, 4)), Simplex(d + 1), box_polytope([far] * d, [far + 1] * d)))


@pytest.mark.parametrize("seed", range(40))
def test_frank_wolfe_accepts_its_scale_and_no_less(seed: int) -> None:
    rng = Random(f"wolfe{seed}")
    W, (epsilon, delta), T = polytope(rng), target(rng), rng.randrange(1, 30)
    L0, R, n = F(rng.randrange(7, 40), 7), F(rng.randrange(1, 40), 9), rng.randrange(2, 3000)
    given: dict[str, Any] = {"n": n, "T": T, "L0": L0, "R": R, "J": W.J, "d": W.dim, **size(W, 1)}
    gll = GLL(Absolute, L0, R, 1)

    def run(found: Account, share: Any = 1) -> Any:
        scale = found.scales[0]
        asked: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "T": T, "noise": scale.noise}
        asked |= {"oracle": closed_form_oracle, "scale": lambda p, K: scale.value * float(share)}
        return nfw.frank_wolfe_parameters(K, n, gll, W, **asked)

    for variant in VARIANTS:
        found = account("Alg:nfw", variant, epsilon, delta, noise=rng.choice(("best", "laplace", "gumbel")), **given)
        if found.failed:
            assert variant != "tight"
            continue
        assert run(found).T == T
        if variant == "tight":
            with pytest.raises(ValueError, match=r"make the run \(epsilon, delta\)-DP"):
                run(found, LESS)
        else:
            assert small(found)


# ------------------------------------------------------------------------------------------ Algorithm 4


@pytest.mark.parametrize("seed", range(25))
def test_poly_sfw_accepts_its_scales_and_no_less(seed: int) -> None:
    rng = Random(f"poly{seed}")
    W, (epsilon, delta), R = polytope(rng), target(rng), rng.randrange(1, 6)
    b, loss = 2**R * rng.randrange(1, 50), SimpleNamespace(L0=F(rng.randrange(1, 9), 3), L1=F(rng.randrange(9), 5), p=1)
    given: dict[str, Any] = {"R": R, "b": b, "L0": loss.L0, "L1": loss.L1, "d": W.dim, **size(W, 1)}

    def run(s: float, r: int) -> None:
        require_scale(K, loss, W, K(given["D"]), s, r, b, epsilon, delta)

    for variant in VARIANTS:
        found = account("alg:polySFW", variant, epsilon, delta, noise="laplace", **given)
        if found.failed:
            assert variant != "tight"
            continue
        for r, scale in enumerate(found.scales):
            run(scale.value, r)
            if variant == "tight" and delta < F(1, 10**4):  # else (ε + η)-DP with a small η is (ε,δ)-DP too
                with pytest.raises(ValueError, match=rf"make round {r} \(epsilon, delta\)-DP"):
                    run(scale.value * float(LESS), r)
        if variant != "tight":
            assert small(found)


def test_the_gumbel_scale_is_the_run_s() -> None:
    W, data, trace = l1_ball(2), [Example((0.25, 0.5), 1)] * 40, Trace()
    loss = SquaredTanh(1, 1)
    poly_sfw_tight(K, loss, W, data, 5, 8, 1, "1e-6", SeededTape(0), trace=trace)
    (own,) = (e.value for e in trace if e.name == "s")
    given: dict[str, Any] = {"L0": loss.L0, "L1": loss.L1, "D": 2, "d": 2, "b": 8, "R": 3, "reach": 1}
    assert account("alg:polySFW", "tight", 1, "1e-6", **given).scales[-1].value == own
    assert own > tight_scale(K, 4, 8, loss.L0, loss.L1, 2, 1, "1e-6", "gumbel")


# ------------------------------------------------------------------------------------------ Algorithm 5


@pytest.mark.parametrize("seed", range(15))
def test_noisy_sfw_takes_no_more_than_its_scales_and_no_less(seed: int) -> None:
    """The run computes its noise: an account's is at least that, and a tenth of a per mille less is not."""
    rng = Random(f"noisy{seed}")
    (epsilon, delta), far = target(rng), rng.choice((0, F(1, 3), 2**12))
    R, b, d, p = rng.randrange(1, 4), rng.randrange(4, 20), rng.randrange(1, 4), rng.choice((F(3, 2), 2))
    W, loss = Box([far] * d, [far + 1] * d), SquaredTanh(F(rng.randrange(1, 9), 4), p)
    data = [Example([float(loss.R) / (2 * d)] * d, 1)] * (b * R * R)
    given: dict[str, Any] = {"R": R, "b": b, "d": d, "p": p, "L0": loss.L0, "L1": loss.L1, **size(W, p)}
    for variant, body in zip(VARIANTS, (noisy_sfw_printed, noisy_sfw, noisy_sfw_tight), strict=True):
        trace, more = Trace(), {"adaptive": False} if variant == "tight" else {}
        rounds = 2 ** (R - 1) + 1 if variant == "tight" else R
        body(K, loss, W, data, rounds, b, epsilon, delta, SeededTape(seed), trace=trace, D=given["D"], **more)
        own = {(e.name, e.indices): e.value for e in trace if e.name in ("sigma", "sigma_hat")}
        found = account("alg:nSFW", variant, epsilon, delta, **given)
        for scale in found.scales:
            used = own[scale.symbol, (0 if variant == "tight" else R - 1, int(scale.where.removeprefix("t=")))]
            assert scale.value >= used * (1 - CLOSE)
            assert scale.value * float(LESS) < used


# ------------------------------------------------------------------------------------------ Algorithm 6


@pytest.mark.parametrize("seed", range(25))
def test_the_solver_takes_no_more_than_its_scale_and_no_less(seed: int) -> None:
    rng = Random(f"solver{seed}")
    (epsilon, delta), p, L0 = target(rng), rng.choice((1, F(5, 4), 2)), F(rng.randrange(1, 40), 7)
    n, R, T, d = rng.choice((40, 10**3, 10**6)), rng.randrange(2, 5), rng.randrange(1, 200), rng.randrange(1, 30)
    used = noise_scale(K, p, d, L0, n // (R - 1), T, gaussian_mu_safe(epsilon, delta))
    for variant in ("corrected", "tight"):
        found = account("Alg:PGPSMD", variant, epsilon, delta, n=n, R=R, T=T, d=d, p=p, L0=L0)
        assert found.scales[0].value >= used * (1 - CLOSE)
        assert found.scales[0].value * float(LESS) < used
        assert found.verdict == "private"


@pytest.mark.parametrize(
    ("algorithm", "given"),
    [
        ("Alg:phased", {"D": F(2**210)}),
        ("Alg:nfw", {"D": F(1, 2**210)}),
        ("alg:polySFW", {"reach": F(2**210)}),
        ("alg:nSFW", {"L1": F(2**210)}),
        ("Alg:PGPSMD", {"L0": F(2**210)}),
    ],
)
def test_no_scale_is_quoted_for_a_run_that_is_refused(algorithm: str, given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"must lie between 2\^-200 and 2\^200: binary64 ends there"):
        account(algorithm, "tight", F(1), F(1, 10**6), **given)
    assert account(algorithm, "tight", F(1), F(1, 10**6), numbers=MP(30), **given).verdict == "private"
