"""Every erratum of Section 4 is shown by its function, and every number that the errata quote is what the code
computes.
"""

import re
from fractions import Fraction

import reference.smooth.counterexamples as module
from reference.numerics.numbers import Ball, Float64
from reference.paper.inventory import load
from reference.paper.registry import LINKS, at_least
from reference.smooth.counterexamples import floor_bias, random_batch_delta
from reference.smooth.leaks import private_up_to
from reference.smooth.noisy_sfw import failure_threshold
from reference.smooth.parameters import poly_parameters
from reference.smooth.regular_spaces import confluent

FOUND = {
    link.id: value
    for value in vars(module).values()
    for link in getattr(value, LINKS, ())
    if link.kind == "counterexample"
}
OURS = [e for e in load().errata if e.id.startswith("E4.") or (e.id.startswith("E1.") and int(e.id[3:]) >= 10)]


def test_every_erratum_has_a_counterexample_and_the_other_way_round():
    own = {e.id for e in OURS if e.id in FOUND or e.id.startswith("E4.")}
    assert own == set(FOUND)
    assert len({e.title for e in OURS}) == len(OURS)


def _text(id):
    (entry,) = [e for e in OURS if e.id == id]
    return f"{entry.title} {entry.printed} {entry.corrected} {entry.cost} {entry.affects}"


def test_quoted_numbers():
    thresholds = [float(failure_threshold(d)[1]) for d in ("1e-2", "1e-4", "1e-6", "1e-8")]
    assert "3.00, 2.16, 1.24, 0.556" in _text("E4.1")
    assert [f"{x:.3g}" for x in thresholds] == ["3", "2.16", "1.24", "0.556"]
    assert re.search(r"6\.24 \(δ = 1e-2\) or 8\.33", _text("E4.2"))
    assert [int(float(failure_threshold(d, corrected=True)[0]) * 100) for d in ("1e-2", "1e-6")] == [624, 833]
    ids = ("E4.2", "E4.3", "E4.4", "E4.5", "E4.6", "E4.7", "E4.9", "E4.11", "E4.19", "E4.21", "E4.22", "E4.30", "E1.12")
    numbers = {id: FOUND[id]().numbers for id in ids}
    assert f"{numbers['E4.4']['delta_with_8_uses']:.0e}" == "8e-04"
    assert f"{numbers['E4.6']['advanced_composition']:.3f}ε" in _text("E4.6")
    assert f"{numbers['E4.6']['optimal_composition']:.3f}ε" in _text("E4.6")
    assert f"{numbers['E4.7']['vertex']:.2f}" in _text("E4.7")
    assert f"{numbers['E4.9']['sensitivity']:.0f}" in _text("E4.9")
    assert (
        f"{numbers['E4.11']['provable_1000']:.1f} at d = 1000, printed {numbers['E4.11']['printed_1000']:.1f}"
        in _text("E4.11")
    )
    assert f"{numbers['E4.19']['at_R_1']:.2f}" in _text("E4.19")
    private = [float(private_up_to("1e-6", R, 4096)) for R in (2, 3, 4)]
    assert "{:.2f} (R = 2), {:.2f} (R = 3), {:.2f} (R = 4)".format(*private) in _text("E4.1")
    assert f"δ(1) ≥ {at_least(numbers['E4.3']['output_delta_at_1_1e-6'], 2)}" in _text("E4.3")
    shares = [numbers["E4.2"][f"share_at_root_log_{d}"] for d in ("1e-6", "1e-95", "1e-100")]
    assert "{:.3f} of δ at δ = 1e-6 and {:.2f} at δ = 1e-95, but {:.2f} times".format(*shares) in _text("E4.2")
    assert f"{numbers['E4.5']['weight_over_noise']:.2f} times at b = 63" in _text("E4.5")
    assert f"{numbers['E4.21']['gap_over_rate_with_natural_logarithms_1e30']:.0f} times the rate" in _text("E4.21")
    for id, digits in (("E4.22", 3), ("E1.12", 2)):  # lower bounds, rounded down
        assert all(f"{at_least(numbers[id][f'floor_over_rate_1e{k}'], digits)} times" in _text(id) for k in (60, 80))
    found = [at_least(numbers["E4.30"][f"n_1e{k}"]) for k in (200, 400, 1000)]
    assert f"{', '.join(found)} times" in _text("E4.30")
    assert "7.5689 at d = 44 (printed 7.5684), 9.40 at d = 100 (9.21), 29.09 at d = 10^6 (27.63)" in _text("E4.11")
    B = Ball(256)
    for d, low, high in ((44, "7.56885", "7.56895"), (100, "9.395", "9.405"), (10**6, "29.085", "29.095")):
        assert B.lt(B(0), confluent(B, d, B(Fraction(low) / 2)))
        assert B.lt(confluent(B, d, B(Fraction(high) / 2)), B(0))
    _, error, bound = floor_bias(4096, 10240)
    assert f"{error / bound:.2f} times" in _text("E4.5")
    assert "n < 31701" in _text("E4.21")
    assert poly_parameters(31701, 200, 1, "1e-6").R == 1
    assert round(Float64().log(Float64()(2)) / 3, 3) == 0.231


def test_positive_controls():
    """What is repaired does not trip: whole batches have no bias; a small ε survives random batches."""
    assert all(error == 0 for error in (floor_bias(8, 840)[1],))
    B = Ball(512)
    for threshold in range(1, 12):
        assert B.lt(random_batch_delta(B, 4, "0.01", threshold), B(Fraction(1, 100)))
