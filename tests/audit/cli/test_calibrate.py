"""`dpso calibrate`: what it prints, what it refuses, and that its numbers are the library's."""

import json
import math

import pytest

from audit.accounting.accountants import account
from audit.cli.main import main

LABELS = ("Alg:gll_oracle", "Alg:phased", "Alg:nfw", "alg:polySFW", "alg:nSFW", "Alg:PGPSMD")


def run(capsys, *args):
    code = main(["calibrate", *args])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def as_json(capsys, *args):
    code, out, err = run(capsys, *args, "--json")
    assert code == 0, err
    return json.loads(out)


@pytest.mark.parametrize("label", LABELS)
def test_every_algorithm_answers_with_defaults(capsys, label):
    found = as_json(capsys, label, "--epsilon", "1", "--delta", "1e-6")
    assert found["algorithm"] == label
    assert found["neighbours"] == "replace-one"
    assert [v["variant"] for v in found["variants"]] == ["printed", "corrected", "tight"]
    if label == "Alg:gll_oracle":
        assert all(v["verdict"] == "no noise" and not v["scales"] for v in found["variants"])
        return
    tight = found["variants"][-1]
    assert tight["verdict"] == "private"
    assert tight["noise_over_tightest"] == 1
    assert tight["epsilon_certified"] <= 1
    assert float(tight["delta_certified"]) <= 1e-6
    assert "ball arithmetic" in tight["certificate"]
    assert found["variants"][1]["noise_over_tightest"] >= 1
    library = account(label, "tight", "1", "1e-6")
    assert [s["value"] for s in tight["scales"]] == [s.value for s in library.scales]


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("phased-sgd", "Alg:phased"),
        ("noisy-frank-wolfe", "Alg:nfw"),
        ("poly-sfw", "alg:polySFW"),
        ("noisy_sfw", "alg:nSFW"),
        ("proximal", "Alg:PGPSMD"),
        ("ALG:NFW", "Alg:nfw"),
        ("algorithm-5", "alg:nSFW"),
        ("oracle", "Alg:gll_oracle"),
    ],
)
def test_names_and_labels(capsys, name, label):
    assert as_json(capsys, name, "--epsilon", "1", "--delta", "1e-6", "--variant", "tight")["algorithm"] == label


def test_the_table_for_people(capsys):
    code, out, _ = run(capsys, "alg:nSFW", "--epsilon", "4", "--delta", "0.01", "--R", "2")
    assert code == 0
    for text in ("violated", "private", "sigma_hat", "noise / tightest", "printed (normal)", "= 1.95442e-2"):
        assert text in out
    code, out, _ = run(capsys, "oracle", "--epsilon", "1", "--delta", "1e-6")
    assert code == 0
    assert "draws no noise" in out


def test_printed_conditions_that_fail_are_refused(capsys):
    for args, reason in (
        (("phased-sgd", "--n", "4096", "--d", "2", "--D", "48"), "η₁βR² ≤ 2 (here 4)"),
        (("phased-sgd", "--n", "1000"), "power of two"),
        (("noisy-frank-wolfe", "--J", "1"), "J ≥ 2"),
        (("noisy-frank-wolfe", "--n", "20"), "≥ 1 (here"),
        (("poly-sfw", "--R", "8", "--b", "16"), "every batch has a record"),
        (("noisy-sfw", "--R", "4", "--b", "4096", "--n", "1000"), "batches are disjoint"),
    ):
        code, out, err = run(capsys, *args, "--epsilon", "1", "--delta", "1e-6")
        assert code == 2, args
        assert out == ""
        assert err.count("\n") == 1
        assert "no guarantee, because this condition fails" in err
        assert reason in err
        if "here 4)" in reason:
            assert "--variant corrected calibrates" in err
            assert "δ(1) ≥ 0.2767" in err
    code, _, err = run(capsys, "poly-sfw", "--epsilon", "10", "--delta", "0.9")
    assert code == 2
    assert "1/e" in err


def test_one_variant_is_enough_where_the_printed_one_is_refused(capsys):
    found = as_json(capsys, "phased-sgd", "--n", "1000", "--epsilon", "1", "--delta", "1e-6", "--variant", "tight")
    assert [v["variant"] for v in found["variants"]] == ["tight"]
    assert len(found["variants"][0]["scales"]) == 9
    free = as_json(capsys, "phased-sgd", "--D", "0", "--rank", "4", "--epsilon", "1", "--delta", "1e-6")
    assert free["parameters"]["D"] is None


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (("--epsilon", "0", "--delta", "1e-6"), "epsilon = '0' must be positive"),
        (("--epsilon", "-1", "--delta", "1e-6"), "epsilon = '-1' must be positive"),
        (("--epsilon", "nan", "--delta", "1e-6"), "epsilon = 'nan' must be an exact finite number"),
        (("--epsilon", "1", "--delta", "0"), "delta = '0' must lie strictly between 0 and 1"),
        (("--epsilon", "1", "--delta", "1"), "delta = '1' must lie strictly between 0 and 1"),
        (("--epsilon", "1", "--delta", "x"), "delta = 'x' must be an exact finite number"),
        (("--epsilon", "1"), "--delta"),
        (("--epsilon", "1", "--delta", "1e-6", "--n", "many"), "n = many must be a whole number"),
        (("--epsilon", "1", "--delta", "1e-6", "--J", "5"), "--J does not apply to Alg:phased"),
        (("--epsilon", "1", "--delta", "1e-6", "--L0", "-2"), "L0 = '-2' must be positive"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(capsys, args, reason):
    code, out, err = run(capsys, "Alg:phased", *args)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert reason in err


def test_unknown_algorithms_are_named(capsys):
    code, _, err = run(capsys, "sgd", "--epsilon", "1", "--delta", "1e-6")
    assert code == 2
    assert "algorithm = 'sgd' is unknown" in err


def test_a_delta_that_binary64_cannot_hold(capsys):
    found = as_json(capsys, "Alg:phased", "--epsilon", "1", "--delta", "1e-400", "--n", "256")
    tight = found["variants"][-1]
    assert tight["verdict"] == "private"
    assert tight["delta_certified"] == "1.00000e-400"
    assert math.isfinite(tight["epsilon_certified"])


def test_more_privacy_is_more_noise(capsys):
    values = []
    for epsilon in ("2", "1", "0.5"):
        found = as_json(capsys, "poly-sfw", "--epsilon", epsilon, "--delta", "1e-6", "--variant", "tight", "--R", "3")
        values.append([s["value"] for s in found["variants"][0]["scales"]])
    assert all(a < b < c for a, b, c in zip(*values, strict=True))
