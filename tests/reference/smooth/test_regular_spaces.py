"""Equations (3) and (4): what is provable holds, what is printed fails where the erratum says."""

from fractions import Fraction
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.numerics.numbers import INF, MP, Ball, Float64
from reference.smooth import regular_spaces as rs
from reference.smooth.regular_spaces import confluent, exponential_share, refuted_dimensions

K = Float64()
entries = st.integers(-8, 8).map(lambda i: Fraction(i, 4))


@pytest.mark.statement("eqn:k_smooth", kind="searched")
@given(
    st.sampled_from([Fraction(2), Fraction(5, 2), Fraction(4), Fraction(201, 64)]),
    st.lists(st.tuples(entries, entries), min_size=1, max_size=6),
)
def test_power_norms_are_smooth(rho, pairs):
    """(3) with κ_+ = ρ−1."""
    x, y = K.vector([a for a, _ in pairs]), K.vector([b for _, b in pairs])
    left = rs.norm(K, x + y, rho) ** 2
    assert left <= rs.smoothness_bound(K, x, y, rho, rho - 1) + 1e-9


@pytest.mark.parametrize("rho", [Fraction(5, 2), Fraction(4)])
def test_smoothness_constant_cannot_be_smaller(rho):
    """At x = (1, 1), y = h(1, −1) the ratio tends to ρ−1: 0.99(ρ−1) is a mutant that fails."""
    x, y = K.vector([1, 1]), K.vector([Fraction(1, 64), Fraction(-1, 64)])
    left = rs.norm(K, x + y, rho) ** 2
    assert left > rs.smoothness_bound(K, x, y, rho, (rho - 1) * Fraction(99, 100))


@pytest.mark.statement("eqn:k_equiv_norm", kind="searched")
@pytest.mark.parametrize(
    ("d", "q"), [(2, INF), (10, INF), (100, INF), (10, 20), (3, 3), (1, INF), (50, Fraction(5, 2))]
)
def test_equivalence_and_its_extremes(d, q):
    """(4) at e_1 (left equality) and at (1, …, 1) (right equality), and between."""
    space = rs.kappa_provable(K, d, q)
    own, plus, top = rs.equivalence_bounds(K, K.unit(d, 0), q, space)
    assert own == pytest.approx(plus)
    own, plus, top = rs.equivalence_bounds(K, K.vector([1] * d), q, space)
    assert plus == pytest.approx(top)
    own, plus, top = rs.equivalence_bounds(K, K.vector(range(1, d + 1)), q, space)
    assert own * (1 - 1e-12) <= plus <= top * (1 + 1e-12)
    assert space.kappa_plus >= 1
    assert space.kappa >= space.kappa_plus


@pytest.mark.statement("eqn:k_smooth", kind="searched")
def test_the_chosen_exponent_is_the_best():
    for d in (2, 3, 5, 7, 8, 10, 30, 100, 1000, 10**6):
        best = rs.kappa_provable(K, d, INF).kappa
        others = [(rho - 1) * d ** (2 / rho) for rho in (2 + i / 50 for i in range(3000))]
        assert best <= min(others) * (1 + 1e-3)
        assert best >= min(others) * (1 - 1e-3)


def test_quoted_values():
    assert round(rs.kappa_provable(K, 1000, INF).kappa, 1) == 34.7
    assert round(rs.kappa_printed(K, 1000, INF), 1) == 13.8
    assert [
        rs.polyhedral_kappa_provable(K, J).kappa <= rs.polyhedral_kappa_printed(K, J) for J in (2, 4, 6, 8, 10)
    ] == [True, True, True, True, False]
    assert rs.kappa_printed(K, 1, 2) == 0
    assert rs.kappa_provable(K, 1, 2).kappa == 1
    crossing = 2 / (1 - K.log(2 * K.log(K(2))) / K.log(K(2)))
    assert round(crossing, 2) == 3.78
    assert rs.sign_lower_bound_lq(K, Fraction(379, 100)) > rs.kappa_printed(K, 2, Fraction(379, 100))


@pytest.mark.statement("eqn:k_smooth", kind="counterexample")
def test_sign_sums_refute_the_printed_value():
    B = Ball(96)
    for d, columns, needed in ((2, 2, Fraction(2)), (3, 3, Fraction(7, 3)), (4, 3, Fraction(3))):
        assert rs.sign_lower_bound(d, columns) == needed
        assert B.lt(rs.kappa_printed(B, d, INF), B(needed))
        assert B.le(B(needed), rs.kappa_provable(B, d, INF).kappa)
    for d, columns in ((5, 4), (8, 4), (16, 5)):  # nothing is refuted there
        assert B.lt(B(rs.sign_lower_bound(d, columns)), rs.kappa_printed(B, d, INF))


@pytest.mark.statement("lem:grad-error-polySFW", kind="searched")
@pytest.mark.parametrize("rho", [Fraction(2), Fraction(5, 2), Fraction(4)])
def test_adding_centred_vectors_one_at_a_time(rho):
    """E‖Σε_ix_i‖_ρ² ≤ (ρ−1)Σ‖x_i‖_ρ² over all signs: what the lemmas use of (3). At ρ = 2 with equality."""
    vectors = [K.vector(v) for v in ([1, 2, -1], [0, 1, 1], [3, -1, 2], [1, 1, 1], [Fraction(1, 2), 0, -2])]
    total = 0
    for signs in product((1, -1), repeat=5):
        summed = vectors[0] * 0
        for e, x in zip(signs, vectors, strict=True):
            summed = summed + x * e
        total += rs.norm(K, summed, rho) ** 2 / 32
    right = sum(rs.norm(K, x, rho) ** 2 for x in vectors)
    assert total <= (rho - 1) * right * (1 + 1e-12)
    assert rho != 2 or total == pytest.approx(right)


@pytest.mark.parametrize(
    "call",
    [
        lambda: rs.kappa_printed(K, 3, 1),
        lambda: rs.kappa_provable(K, 0, 2),
        lambda: rs.polyhedral_kappa_printed(K, 1),
        lambda: rs.polyhedral_kappa_provable(K, 0),
        lambda: rs.sign_lower_bound(5, 2),
    ],
)
def test_bad_input(call):
    with pytest.raises(ValueError, match="must"):
        call()


# ----------------------------------------------------------- 2 ln d and 2 ln|V| fail for large d and |V|


def test_where_the_logarithm_is_refuted():
    """d = 2, 3, 4 and every d ≥ 44; |V| ≥ 10^6. Below 44 and below 8·10^5 vertices the test says nothing."""
    assert refuted_dimensions() == ((2, 3, 4), 44, 10**6)
    B = Ball(256)
    for d, positive in ((43, False), (44, True), (60, True), (1000, True), (10**9, True)):
        assert B.lt(B(0), confluent(B, d, B.log(B(d)))) == positive
    for vertices, positive in ((8 * 10**5, False), (10**6, True), (10**12, True)):
        assert B.lt(B(0), confluent(B, vertices // 2, B.log(B(vertices)))) == positive


def test_the_series_bounds_the_confluent_function():
    """M(−1/d, ½, y) ≥ 1 − g(y)/d, so a share below 1 at y = ln d decides; and the share falls from y = π on."""
    B = Ball(256)
    shares = [exponential_share(B, B.log(B(d))) for d in (60, 100, 1000, 10**6, 10**12)]
    assert all(B.lt(b, a) for a, b in pairwise(shares))
    for d, share in zip((60, 100, 1000), shares, strict=False):
        assert B.le(1 - share, confluent(B, d, B.log(B(d))))
    assert float(shares[0].mid) == pytest.approx(0.99339, abs=1e-5)


def test_the_derivative_of_the_series():
    """g' = √(π/y)·e^y·erf√y, which the step from one d to all larger ones rests on: against a difference quotient."""
    M = MP(40)
    for y in (1, 3, 10):
        low, high = (M.exp(M(x)) * exponential_share(M, M(x)) for x in (Fraction(y) - Fraction(1, 10**6), y))
        slope = (high - low) * 10**6
        exact = M.sqrt(M.pi / y) * M.exp(M(y)) * (1 - M.erfc(M.sqrt(M(y))))
        assert abs(slope - exact) < exact * Fraction(1, 10**5)


@pytest.mark.parametrize(("d", "x"), [(2, "0.7"), (44, "2.5"), (1000, "3.6")])
def test_the_eigenfunction_of_the_lemma(d, x):
    """f(x) = M(−1/d, ½, x²/2) solves ½f'' − (x/2)f' = −f/d: the Ornstein–Uhlenbeck process decays like e^{−u/d}."""
    B, at, h = Ball(512), Fraction(x), Fraction(1, 10**30)

    def f(y):
        return confluent(B, d, B(y * y / 2))

    low, middle, high = f(at - h), f(at), f(at + h)
    second, first = (high - 2 * middle + low) / h**2, (high - low) / (2 * h)
    assert abs(B.to_float(second / 2 - at * first / 2 + middle / d)) < 1e-25
