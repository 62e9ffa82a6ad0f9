"""Noise scales: exact laws of transcripts, the ratios that the prose quotes, the Gaussians of Algorithm 5."""

from fractions import Fraction
from itertools import product

import pytest
from composition import pure_composition_delta

from reference.numerics.numbers import Ball, Float64
from reference.privacy import SELECTION_NOISES, dp_delta, dp_epsilon, gaussian_delta, gaussian_mu
from reference.setting import Example, Polytope, SquaredTanh, l1_ball
from reference.smooth import calibration as c
from reference.smooth import sensitivity as s
from reference.smooth.counterexamples import Field
from reference.smooth.transcripts import slices, transcript_law

K = Float64()
LINEAR = Field(L1=Fraction(0), p=1)
FAR = Polytope([[100], [101], [Fraction(201, 2)]])  # three vertices, 0 far outside


def _laws(loss, W, sizes, scale, noise, data, other, start=None):
    return [transcript_law(K, loss, W, slices(d, [sizes]), [scale], noise, start) for d in (data, other)]


def _losses(law, neighbour):
    keys = sorted(law)
    return [law[k] for k in keys], [neighbour[k] for k in keys]


CASES = [(noise, epsilon, position) for noise, epsilon, position in product(("laplace", "gumbel"), (1, 3), range(3))]


@pytest.mark.statement("thm:privacy-polySFW", kind="searched")
@pytest.mark.parametrize(("noise", "epsilon", "position"), CASES)
def test_pure_scale_bounds_every_transcript(noise, epsilon, position):
    """All 27 transcripts of 3 steps with 3 vertices, exactly; the set is far from 0 and the loss is not convex."""
    sizes = s.batch_sizes(2, 3)
    loss = SquaredTanh(R=1, p=1)
    W = Polytope([[2], [3], [Fraction(9, 4)]])
    data = (Example((1,), 1), Example((1,), -1), Example((-1,), 1), Example((1,), 0))
    for z in (Example((1,), -1), Example((1,), 1)):
        other = (*data[:position], z, *data[position + 1 :])
        bounds = [s.record_bound(K, k, loss.L0, loss.L1, 1) for k in range(3)]
        scale = c.pure_scale(K, sizes, bounds, 1, epsilon)
        p, q = _losses(*_laws(loss, W, sizes, scale, noise, data, other))
        assert dp_epsilon(K, p, q) <= epsilon


@pytest.mark.statement("thm:privacy-polySFW", kind="searched")
@pytest.mark.parametrize("noise", ["laplace", "gumbel"])
def test_pure_scale_is_nearly_attained_and_half_of_it_fails(noise):
    """A linear loss, the record in batch 0, a clear winner: the loss tends to ε. Halving the scale is the mutant."""
    sizes, W = s.batch_sizes(40, 3), Polytope([[0], [1]])
    data = (Example((1,)),) * sum(sizes)
    other = (Example((-1,)), *data[1:])
    bounds = [s.record_bound(K, k, 1, 0, 1) for k in range(3)]
    scale = c.pure_scale(K, sizes, bounds, 1, 2)
    worst = [dp_epsilon(K, *_losses(*_laws(LINEAR, W, sizes, scale / f, noise, data, other))) for f in (1, 2)]
    assert worst[0] <= 2 < worst[1]
    assert worst[0] > (1 if noise == "laplace" else 1.3)


@pytest.mark.statement("thm:privacy-polySFW", kind="searched")
@pytest.mark.parametrize("position", range(4))
def test_approximate_scale(position):
    """ε = 1, δ = 0.05 by zCDP, Gumbel noise: exact δ(1) of the transcripts. A 32nd of the scale is the mutant."""
    sizes, loss = s.batch_sizes(2, 4), SquaredTanh(R=1, p=1)
    W = l1_ball(1, Fraction(1, 2))
    data = (Example((1,), 1), Example((1,), -1), Example((-1,), 1), Example((1,), 1), Example((1,), 0))
    other = (*data[:position], Example((1,), 1 if position == 1 else -1), *data[position + 1 :])
    scale = c.tight_scale(K, 4, 2, loss.L0, loss.L1, 1, 1, Fraction(1, 20), "gumbel")
    laws = [_losses(*_laws(loss, W, sizes, scale / f, "gumbel", data, other)) for f in (1, 32)]
    assert dp_delta(K, *laws[0], 1) <= 0.05
    assert position == 2 or dp_delta(K, *laws[1], 1) > 0.05  # record 2 is (−1, 1), the same loss as (1, −1)


@pytest.mark.statement("thm:privacy-polySFW", kind="searched")
def test_printed_scale_is_pure_dp_in_all_rounds():
    """R = 2: three steps in two rounds, scales s_0, s_1 as printed: every transcript within ε/√L, for each position."""
    loss, W, b, epsilon, delta = SquaredTanh(R=1, p=1), FAR, 2, 1, Fraction(1, 100)
    scales = [c.laplace_scale_printed(K, r, b, loss.L0, loss.L1, 1, epsilon, delta) for r in range(2)]
    rounds = [s.batch_sizes(b, 1), s.batch_sizes(b, 2)]
    data = (Example((1,), 1), Example((1,), -1), Example((-1,), 1), Example((1,), 0), Example((1,), 1))
    limit = epsilon / K.sqrt(c.log_inverse(K, delta))
    for position in range(5):
        other = (*data[:position], Example((1,), 1 if position in (1, 2) else -1), *data[position + 1 :])
        p, q = _losses(*(transcript_law(K, loss, W, slices(d, rounds), scales) for d in (data, other)))
        assert dp_epsilon(K, p, q) <= limit


def gaussian_deviations(K, t, b, d, p, constants, epsilon, delta, corrected):
    """(σ_{r,t}, σ̂_{r,t}) of Algorithm 5 for η_t = 1/√(t+1), as corrected or as printed; σ̂ is 0 at t = 0.

    `constants` is (L0, L1, D).
    """
    L0, L1, D = (K(x) for x in constants)
    unit = 4 * c.dimension_factor(K, d, p) * K.sqrt(c.log_inverse(K, delta)) * (t + 1) / (b * K(epsilon))
    if corrected:
        unit = unit * c.gaussian_stretch(K, epsilon, delta, 2 if t else 1)
    move = K(0) if t == 0 else s.step_size(K, t - 1 if corrected else t)
    return unit * L0, unit * L1 * D * move


@pytest.mark.parametrize("corrected", [False, True])
def test_deviations_are_those_of_the_algorithm(corrected):
    from reference.numerics.tape import SeededTape
    from reference.paper.events import Trace
    from reference.setting import L2Ball
    from reference.smooth.noisy_sfw import noisy_sfw, noisy_sfw_printed

    trace, loss = Trace(), SquaredTanh(R=1, p=2)
    data = tuple(Example((Fraction(i, 40), 0), 1) for i in range(40))
    algorithm = noisy_sfw if corrected else noisy_sfw_printed
    algorithm(K, loss, L2Ball([0, 0], 1), data, 3, 4, 30, "0.01", SeededTape(0), trace=trace)
    for name, place in (("sigma", 0), ("sigma_hat", 1)):
        for event in trace:
            if event.name == name:
                t = event.indices[1]
                expected = gaussian_deviations(K, t, 4, 2, 2, (loss.L0, loss.L1, 2), 30, "0.01", corrected)
                assert event.value == pytest.approx(expected[place])


@pytest.mark.statement("thm:privacy-polySFW", kind="searched")
@pytest.mark.parametrize("noise", ["laplace", "gumbel"])
def test_scale_that_the_tight_algorithm_uses(noise):
    """The s in its trace makes all transcripts of its T − 1 = 3 steps ε-DP at δ = 0, and is nearly attained."""
    from reference.numerics.tape import SeededTape
    from reference.paper.events import Trace
    from reference.smooth.poly_sfw import poly_sfw_tight

    sizes, W, trace = s.batch_sizes(40, 3), Polytope([[0], [1]]), Trace()
    data = (Example((1,)),) * sum(sizes)
    other = (Example((-1,)), *data[1:])
    poly_sfw_tight(K, LINEAR, W, data, 4, 40, 2, 0, SeededTape(0), noise=noise, trace=trace)
    (scale,) = trace.values("s")
    loss = dp_epsilon(K, *_losses(*_laws(LINEAR, W, sizes, scale, noise, data, other)))
    assert 1 < loss <= 2


def test_loss_of_a_step_with_the_printed_scale():
    """Range 2D(L0+L1D)2^{r/2}/b over s_r is ε·2^{−r/2}/√log(1/δ), and no record of any batch exceeds it."""
    for r in (0, 1, 3, 6):
        scale = c.laplace_scale_printed(K, r, 100, 1, 2, 3, 2, "1e-6")
        claimed = 2 * 2 ** (-r / 2) / K.sqrt(c.log_inverse(K, "1e-6"))
        assert 2 * 3 * 7 * 2 ** (r / 2) / 100 / scale == pytest.approx(claimed)
        sizes = s.batch_sizes(100, 2**r)
        bounds = [s.record_bound(K, k, 1, 2, 3) for k in range(2**r)]
        assert all(s.step_losses(K, k, sizes, bounds, 3, scale)[0] <= claimed for k in range(2**r))


def test_gumbel_with_the_wrong_sign_is_seen_with_three_vertices():
    """argmin(q + s·G) breaks the pure bound at J = 3, and not at J = 2."""
    for vertices, broken in (([[0], [1]], False), ([[0], [1], [Fraction(1, 100)]], True)):
        W, sizes = Polytope(vertices), (40,)
        data = (Example((1,)),) * 40
        other = (Example((-1,)), *data[1:])
        scale = c.pure_scale(K, sizes, [K(1)], 1, 1)
        p, q = _losses(*_laws(LINEAR, W, sizes, scale, "added-gumbel", data, other))
        assert (dp_epsilon(K, p, q) > 1) == broken
        p, q = _losses(*_laws(LINEAR, W, sizes, scale, "gumbel", data, other))
        assert dp_epsilon(K, p, q) <= 1


@pytest.mark.parametrize(("r", "closed", "exact"), [(8, (3.93, 7.86), (4.97, 9.94)), (10, (5.56, 11.1), (6.85, 13.7))])
def test_ratios_to_the_printed_scale(r, closed, exact):
    printed = c.laplace_scale_printed(K, r, 1, 1, 0, 1, 1, "1e-6")
    for i, noise in enumerate(SELECTION_NOISES):
        ours = c.closed_form_scale(K, 2**r, 1, 1, 0, 1, 1, "1e-6", noise)
        better = c.exact_constants_scale(K, 2**r, 1, 1, 0, 1, 1, "1e-6", noise)
        assert printed / ours == pytest.approx(closed[i], rel=5e-3)
        assert printed / better == pytest.approx(exact[i], rel=5e-3)


@pytest.mark.parametrize("steps", [1, 4, 37, 256])
@pytest.mark.parametrize("noise", SELECTION_NOISES)
def test_tight_is_below_exact_constants_below_closed_form_below_printed(steps, noise):
    args = (K, steps, 500, 1, Fraction(3, 2), 1, 1, "1e-6", noise)
    tight, middle, closed = c.tight_scale(*args), c.exact_constants_scale(*args), c.closed_form_scale(*args)
    assert tight <= middle * (1 + 1e-9)
    assert middle <= closed * (1 + 1e-9)
    r = (steps - 1).bit_length()
    assert closed <= c.laplace_scale(K, r, 500, 1, Fraction(3, 2), 1, 1, "1e-6") * (1 + 1e-9)
    pure = c.tight_scale(K, steps, 500, 1, Fraction(3, 2), 1, 1, 0, noise)
    assert tight <= pure


def test_zcdp_scale_against_exact_composition():
    """Laplace noise, steps of a small round as randomised responses: optimal composition confirms the zCDP scale."""
    steps, b, epsilon, delta = 8, 64, 1, Fraction(1, 1000)
    sizes = s.batch_sizes(b, steps)
    bounds = [s.record_bound(K, k, 1, 0, 1) for k in range(steps)]
    scale = c.zcdp_scale(K, sizes, bounds, 1, c.zcdp_rho(K, epsilon, delta), "laplace")
    for k in range(steps):
        losses = s.step_losses(K, k, sizes, bounds, 1, scale)
        assert pure_composition_delta(K, epsilon, losses) <= float(delta)


@pytest.mark.statement("thm:privacy-noisySFW", kind="enclosed")
@pytest.mark.parametrize(("epsilon", "delta"), [("0.1", "1e-6"), (1, "1e-6"), (6, "1e-2"), (9, "1e-6"), (30, "1e-8")])
def test_stretch_makes_the_constant_sixteen_enough(epsilon, delta):
    """Corrected releases: one at t = 0, two at t ≥ 1, with η_{t−1}. Without the stretch (9, 1e-6) and (30, 1e-8)
    fail.
    """
    B = Ball(128)
    for releases in (1, 2):
        mu = B(epsilon) * B.sqrt(B(releases)) / (2 * B.sqrt(c.log_inverse(B, delta)))
        mu = mu / c.gaussian_stretch(B, epsilon, delta, releases)
        assert B.lt(gaussian_delta(B, epsilon, mu), B(Fraction(delta)))
    unstretched = c.corrected_pair_mu(B, epsilon, delta)
    fails = B.lt(B(Fraction(delta)), gaussian_delta(B, epsilon, unstretched))
    assert fails == ((epsilon, delta) in {(9, "1e-6"), (30, "1e-8")})


@pytest.mark.statement("thm:privacy-noisySFW", kind="searched")
def test_tight_deviation_spends_exactly_mu():
    mu = gaussian_mu(K, 1, "1e-6")
    for p in (2, Fraction(3, 2)):
        sigma = c.tight_deviation(K, 7, K(3), 10, p, mu)
        sensitivity = 2 * 3 * 10 ** (1 / float(p) - 0.5) / 7
        assert sensitivity / sigma == pytest.approx(mu, rel=1e-9)
        assert sensitivity / sigma <= mu


@pytest.mark.parametrize(
    "call",
    [
        lambda: c.tight_scale(K, 0, 5, 1, 1, 1, 1, "0.01"),
        lambda: c.tight_scale(K, 4, 5, 1, 1, 1, 1, "0.01", "normal"),
        lambda: c.tight_scale(K, 4, 5, 1, 1, 1, 1, "1.5"),
        lambda: c.printed_pair_mu(K, 0, 1, "0.01"),
        lambda: transcript_law(K, LINEAR, l1_ball(5, 1), [[()] * 9], [1]),
        lambda: slices((1, 2), [(3,)]),
    ],
)
def test_bad_input(call):
    with pytest.raises(ValueError, match=r"must|at least") as error:
        call()
    assert "\n" not in str(error.value)
