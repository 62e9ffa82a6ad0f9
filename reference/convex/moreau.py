"""Moreau envelopes of convex losses on the line, and of generalised linear losses through them (Lemmas 3 and 4).

| paper | here |
|---|---|
| M, a closed interval | `Interval`, `REAL_LINE` |
| ℓ^{(y)} | `loss: ScalarLoss` |
| β | `beta` |
| prox_ℓ^β(m) = argmin_{u ∈ M} ℓ(u) + (β/2)(u − m)² | `prox` |
| ℓ_β(m), the minimum | `envelope` |
| ℓ_β'(m) = β(m − prox(m)) | `envelope_derivative` |
| f_β(w, (x, y)) = ℓ_β(⟨w, x⟩) | `smoothed_value`, `smoothed_gradient` |

Four facts, each shorter than what the paper uses, each attained. ℓ is convex and L0-Lipschitz on M, and m ∈ M.

1. |m − prox(m)| ≤ L0/β. With h(u) = ℓ(u) + (β/2)(u − m)², which is β-strongly convex, and u* its minimiser over M:
   h(m) ≥ h(u*) + (β/2)(m − u*)², that is ℓ(m) − ℓ(u*) ≥ β(m − u*)². The left side is at most L0|m − u*|. ∎
2. ℓ_β is L0-Lipschitz on M: its derivative is β(m − prox(m)), by 1 at most L0 in modulus.
3. 0 ≤ ℓ(m) − ℓ_β(m) ≤ L0²/(2β). The left inequality: u = m is a candidate. The right one:
   ℓ(m) − ℓ(u*) − (β/2)(m − u*)² ≤ L0 t − βt²/2 with t = |m − u*|, and that is at most L0²/(2β). ∎
4. max over u ∈ M, |u − m| ≤ r, of h(u) − h(u*) is at most L0 r + βr²/2 + L0²/(2β): write c = |u* − m| ≤ L0/β;
   ℓ(u) − ℓ(u*) ≤ L0(r + c), and L0 c − βc²/2 ≤ L0²/(2β). For r = 2L0/β it is 9L0²/(2β), for r = L0/β 2L0²/β. ∎

ℓ(u) = L0·u on ℝ attains all four. Outside M none survives but smoothness: there ℓ_β'(m) = β(m − prox(m)) grows
without bound, and ℓ_β(m) may exceed ℓ(m). On the line a constraint only clips: prox over M is the point of M
nearest to prox over ℝ (a convex function on an interval that misses its minimiser is least at the end next to it).

The derivative is exact (Lemma 3b): ℓ_β is the infimum over u of functions that are jointly convex in (u, m), so
convex; at the unique minimiser u* the function (β/2)(u* − m)² + ℓ(u*) of m touches ℓ_β from above, so ℓ_β is
differentiable with its slope β(m − u*). And prox is monotone and 1-Lipschitz: adding the optimality inequalities of
u, u' (for m, m') β(u − u')² ≤ β(u − u')(m − m'). So ℓ_β' = β(m − prox) is monotone and β-Lipschitz, everywhere on
ℝ. ∎
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from reference.numerics.numbers import INF, Exact, Numbers, Real, Vector
from reference.numerics.preconditions import exact, require
from reference.paper.registry import claims, implements
from reference.setting.data import Example
from reference.setting.losses import GLL, ScalarLoss


@dataclass(frozen=True)
class Interval:
    """A closed interval [lower, upper] of the line; ±`INF` for an open end."""

    lower: Any = -INF
    upper: Any = INF

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            value = getattr(self, name)
            if not (isinstance(value, float) and value in (-INF, INF)):
                object.__setattr__(self, name, exact(name, value))
        require(
            self.lower <= self.upper and self.lower < INF and self.upper > -INF,
            "M",
            (self.lower, self.upper),
            "be a non-empty interval",
        )

    def clip(self, K: Numbers, u: Real) -> Real:
        """The point of M nearest to u."""
        if self.lower > -INF:
            u = K.max(u, K(self.lower))
        return K.min(u, K(self.upper)) if self.upper < INF else u

    def meet(self, K: Numbers, low: Real, high: Real) -> tuple[Real, Real]:
        """M ∩ [low, high]; refuses an empty one."""
        a = K.max(low, K(self.lower)) if self.lower > -INF else low
        b = K.min(high, K(self.upper)) if self.upper < INF else high
        if self != REAL_LINE and K.lt(b, a):
            remedy = f"M = [{self.lower}, {self.upper}] does not meet it: keep m in M, or take M = ℝ"
            require(False, "[m - r, m + r]", (K.to_float(low), K.to_float(high)), "meet M", remedy)
        return a, b


REAL_LINE = Interval()
"""M = ℝ: what every algorithm here uses unless told otherwise (a noisy iterate leaves W, and ⟨w, x⟩ any bounded M)."""


# ------------------------------------------------------------------------------------------ on the line


@implements("lem:moreau")
def prox(K: Numbers, loss: ScalarLoss, beta: Exact | Real, m: Real, M: Interval = REAL_LINE) -> Real:
    """argmin over u ∈ M of ℓ(u) + (β/2)(u − m)²: the closed form over ℝ (or `NoClosedForm`), clipped to M."""
    return M.clip(K, loss.prox(K, beta, m))


@implements("lem:moreau")
def envelope(K: Numbers, loss: ScalarLoss, beta: Exact | Real, m: Real, M: Interval = REAL_LINE) -> Real:
    """ℓ_β(m), the least value of ℓ(u) + (β/2)(u − m)² over u ∈ M."""
    u = prox(K, loss, beta, m, M)
    return loss.value(K, u) + K(beta) / 2 * (u - m) * (u - m)


@implements("lem:moreau")
def envelope_derivative(K: Numbers, loss: ScalarLoss, beta: Exact | Real, m: Real, M: Interval = REAL_LINE) -> Real:
    """ℓ_β'(m) = β(m − prox(m))."""
    return K(beta) * (m - prox(K, loss, beta, m, M))


def search_prox(
    K: Numbers, loss: ScalarLoss, beta: Real, m: Real, steps: int, M: Interval = REAL_LINE
) -> tuple[Real, Real]:
    """An interval around prox(m), halved `steps` times from M ∩ [m − L0/β, m + L0/β] by the sign of h'.

    For losses without a closed form. Its length is at most (2L0/β)·2^{−steps}.
    """
    reach = K(loss.lipschitz) / K(beta)
    a, b = M.meet(K, m - reach, m + reach)
    for _ in range(steps):
        u = (a + b) / 2
        if K.ge(loss.subgradient(K, u) + K(beta) * (u - m), K(0)):
            b = u
        else:
            a = u
    return a, b


def require_convex(K: Numbers, loss: ScalarLoss, low: Real, high: Real) -> None:
    """Refuse a loss that is not convex: by its own word, or because its middle lies above the chord of three points."""
    remedy = "Section 3 needs convex losses; for weakly convex ones see Section 5"
    require(loss.is_convex, "loss", loss, "be convex", remedy)
    middle = (low + high) / 2
    above = loss.value(K, middle) - (loss.value(K, low) + loss.value(K, high)) / 2
    room = (K.abs(loss.value(K, low)) + K.abs(loss.value(K, high)) + 1) * K(Fraction(1, 2**40))
    require(
        not _certainly_greater(K, above, room),
        "loss",
        loss,
        "be convex",
        f"at {K.to_float(middle):.6g} it lies {K.to_float(above):.3g} above the chord of its neighbours; {remedy}",
    )


def _certainly_greater(K: Numbers, x: Real, y: Real) -> bool:
    from reference.numerics.numbers import Undecided

    try:
        return K.lt(y, x)
    except Undecided:
        return False


# --------------------------------------------------------------------------- generalised linear losses


@implements("lem:f_smoothness")
def smoothed_value(K: Numbers, gll: GLL, beta: Exact | Real, w: Vector, z: Example, M: Interval = REAL_LINE) -> Real:
    """f_β(w, z) = ℓ_β(⟨w, x⟩)."""
    return envelope(K, gll.scalar(z), beta, gll.predictor(K, w, z), M)


@implements("lem:f_smoothness")
def smoothed_gradient(
    K: Numbers, gll: GLL, beta: Exact | Real, w: Vector, z: Example, M: Interval = REAL_LINE
) -> Vector:
    """∇f_β(w, z) = ℓ_β'(⟨w, x⟩)·x."""
    x = gll.features(K, z)
    gradient: Vector = x * envelope_derivative(K, gll.scalar(z), beta, w @ x, M)
    return gradient


# ------------------------------------------------------------------------------------------------ claims


@claims("lem:moreau", "printed")
def envelope_lipschitz_printed(K: Numbers, L0: Exact | Real) -> Real:
    """2L0: twice what is true."""
    return 2 * K(L0)


@claims("lem:moreau")
def envelope_lipschitz(K: Numbers, L0: Exact | Real) -> Real:
    """L0 (fact 2), attained by ℓ(u) = L0·u. On M only: outside, the derivative is not bounded."""
    return K(L0)


@claims("lem:moreau")
def envelope_gap(K: Numbers, L0: Exact | Real, beta: Exact | Real) -> Real:
    """L0²/(2β) ≥ ℓ(m) − ℓ_β(m) ≥ 0 for m ∈ M (fact 3); attained by ℓ(u) = L0·u."""
    return K(L0) * K(L0) / (2 * K(beta))


@claims("lem:oracle", "printed")
def prox_radius_printed(K: Numbers, L0: Exact | Real, beta: Exact | Real) -> Real:
    """2L0/β ≥ |m − prox(m)|: twice what is true."""
    return 2 * K(L0) / K(beta)


@claims("lem:oracle")
def prox_radius(K: Numbers, L0: Exact | Real, beta: Exact | Real) -> Real:
    """L0/β ≥ |m − prox(m)| (fact 1); attained."""
    return K(L0) / K(beta)


@claims("lem:oracle", "printed")
def search_height_printed(K: Numbers, L0: Exact | Real, beta: Exact | Real) -> Real:
    """8L0²/β ≥ τ, the rise of h over [m ± 2L0/β]."""
    return 8 * K(L0) * K(L0) / K(beta)


@claims("lem:oracle")
def search_height(K: Numbers, L0: Exact | Real, beta: Exact | Real) -> Real:
    """9L0²/(2β) ≥ τ on [m ± 2L0/β] (fact 4); attained."""
    return 9 * K(L0) * K(L0) / (2 * K(beta))


@claims("lem:f_smoothness", "printed")
def smoothing_error_printed(K: Numbers, L0: Exact | Real, beta: Exact | Real) -> Real:
    """2L0²/β ≥ |f − f_β|: four times what is true (the appendix and Lemma 3 have the right L0²/(2β))."""
    return 2 * K(L0) * K(L0) / K(beta)


@claims("lem:f_smoothness")
def smoothing_error(K: Numbers, L0: Exact | Real, beta: Exact | Real) -> Real:
    """L0²/(2β) ≥ f − f_β ≥ 0 (fact 3)."""
    return envelope_gap(K, L0, beta)


@claims("lem:f_smoothness", "printed")
def smoothed_lipschitz_printed(K: Numbers, L0: Exact | Real, R: Exact | Real) -> Real:
    """2L0R: twice what is true."""
    return 2 * K(L0) * K(R)


@claims("lem:f_smoothness")
def smoothed_lipschitz(K: Numbers, L0: Exact | Real, R: Exact | Real) -> Real:
    """L0R: ‖∇f_β‖_* = |ℓ_β'|·‖x‖_* (fact 2)."""
    return K(L0) * K(R)


@claims("lem:f_smoothness")
def smoothed_smoothness(K: Numbers, beta: Exact | Real, dual_norm_of_x: Exact | Real) -> Real:
    """β‖x‖_*²: as printed, and attained by w − w' along the vector where the dual norm is reached."""
    return K(beta) * K(dual_norm_of_x) * K(dual_norm_of_x)
