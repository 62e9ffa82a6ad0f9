"""`dpso calibrate`: what it prints, what it refuses, and that its numbers are the library's."""

import json
import math
from dataclasses import replace

import pytest

from audit.accounting import account as accounts
from audit.accounting.accountants import EXACT, account
from audit.accounting.profiles import PrivacyProfile, gaussian_rule
from audit.checks.results import read_record
from audit.cli import calibrate
from audit.cli.main import main
from reference.paper import inventory
from reference.paper.algorithms import EDITIONS
from reference.paper.inventory import FALSE, load

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
    for text in ("private", "sigma_hat", "noise / tightest", "printed (normal)", "fixed by index", "= 1.95442e-2"):
        assert text in out
    found = as_json(capsys, "alg:nSFW", "--epsilon", "2", "--delta", "1e-6")["variants"][0]
    assert (found["variant"], found["verdict"], found["exact"]) == ("printed", "private", False)
    (reading,) = found["readings"]
    assert (reading["verdict"], reading["exact"]) == ("fails so read", True)
    assert "fixed by index" in reading["name"]
    code, out, _ = run(capsys, "oracle", "--epsilon", "1", "--delta", "1e-6")
    assert code == 0
    assert "draws no noise" in out


def test_it_says_what_it_assumed_and_what_was_given(capsys):
    code, out, _ = run(capsys, "PGPSMD", "--epsilon", "1", "--delta", "1e-6", "--R", "4", "--L0", "2")
    assert code == 0
    assert "for R = 4, L0 = 2\n" in out
    assert "assumed: n = 65536, T = 100, d = 10, p = 2, numbers = float64; give yours" in " ".join(out.split())
    assert "3 calls on ⌊n/(R−1)⌋ = 21845 records each" in out
    found = as_json(capsys, "phased-sgd", "--epsilon", "1", "--delta", "1e-6", "--n", "64", "--d", "3", "--D", "2")
    assert found["assumed"] == ["L0", "R", "rank", "beta", "alpha", "oracle", "step", "reach", "numbers"]
    assert found["parameters"]["numbers"] == "float64"
    _, out, _ = run(capsys, "phased-sgd", "--epsilon", "1", "--delta", "1e-6", "--n", "64", "--d", "3", "--D", "2")
    assert "not given, the text's own choice: rank, beta, alpha\n" in out
    assert "numbers = float64; W holds the origin; give yours" in " ".join(out.split())


def test_the_step_that_the_tight_noise_prefers(capsys):
    plain, tuned = (
        as_json(capsys, "phased-sgd", "--epsilon", "1", "--delta", "1e-6", "--step", step, "--numbers", "exact")
        for step in ("theorem", "tuned")
    )
    one, other = plain["variants"][-1], tuned["variants"][-1]
    assert other["verdict"] == "private"
    assert other["scales"][0]["value"] > 5 * one["scales"][0]["value"]
    assert "tuned to the tight noise" in other["notes"][0]
    assert plain["variants"][1]["scales"] == tuned["variants"][1]["scales"]
    assert tuned["variants"][1]["noise_over_tightest"] == pytest.approx(plain["variants"][1]["noise_over_tightest"])
    code, _, err = run(capsys, "phased-sgd", "--epsilon", "1", "--delta", "1e-6", "--step", "tuned", "--D", "0")
    assert code == 2
    assert "D = None must be given for a tuned step" in err


def test_printed_conditions_that_fail_are_refused(capsys):
    for args, reason in (
        (("phased-sgd", "--n", "4096", "--d", "2", "--D", "48"), "η₁βR² ≤ 2 (here 4)"),
        (("phased-sgd", "--n", "4096", "--d", "2", "--D", "25"), "η₁βR² ≤ 2 (here 2.083)"),
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


def test_the_numbers_of_the_run(capsys):
    """A scale of the text that a run in binary64 refuses is refused, in the run's words; more digits mend it."""
    target = ("phased-sgd", "--epsilon", "1", "--delta", "1e-6", "--n", "4194304")
    code, out, err = run(capsys, *target)
    assert (code, out) == (2, "")
    assert "a run in float64 accepts σ_k as printed (it says: sigma_14 = " in err
    assert "take K = MP(20)" in err
    assert "--variant tight calibrates" in err
    finer = as_json(capsys, *target, "--numbers", "mp20")
    assert finer["parameters"]["numbers"] == "mp20"
    assert "numbers" not in finer["assumed"]
    assert [v["verdict"] for v in finer["variants"]] == ["private"] * 3
    last = [
        as_json(capsys, *target, "--variant", "tight", "--numbers", numbers)["variants"][0]["scales"][-1]["value"]
        for numbers in ("float64", "mp30", "exact")
    ]
    assert last[0] > 2 * last[1]
    assert last[1] >= last[2]
    for wrong in ("mp2", "mp", "double", "mp-3"):
        code, out, err = run(capsys, *target, f"--numbers={wrong}")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert f"numbers = {wrong} must be float64, exact, or mp15" in err
    tiny = as_json(capsys, "Alg:phased", "--epsilon", "1", "--delta", "1e-400", "--n", "256")
    assert tiny["parameters"]["numbers"] == "mp30"  # binary64 cannot hold this δ
    far = run(capsys, "poly-sfw", "--epsilon", "1", "--delta", "1e-6", "--reach", "1e15")
    assert far[0] == 2
    assert "a run in float64 accepts s_" in far[2]


def test_more_privacy_is_more_noise(capsys):
    values = []
    for epsilon in ("2", "1", "0.5"):
        found = as_json(capsys, "poly-sfw", "--epsilon", epsilon, "--delta", "1e-6", "--variant", "tight", "--R", "3")
        values.append([s["value"] for s in found["variants"][0]["scales"]])
    assert all(a < b < c for a, b, c in zip(*values, strict=True))


# ------------------------------------------------------------------------------ its words and the one record


@pytest.mark.parametrize("label", LABELS)
def test_its_words_are_those_of_the_record(capsys, label):
    """What is false of an algorithm as printed calibrate says, in the kinds that the recorded verdict has."""
    printed, *others = as_json(capsys, label, "--epsilon", "1", "--delta", "1e-6")["variants"]
    assert all("record" not in one for one in others)
    record, words = read_record(), [one["word"] for one in printed["record"]]
    kinds = {word.removeprefix("false: ") for word in words if word.startswith("false: ")}
    assert kinds == set(record["kinds"].get(label, []))
    assert (record["grades"][label] == "false") is bool(kinds)
    assert (record["grades"][label] in ("edge", "false")) is any(word.startswith("false") for word in words)
    assert {one["erratum"] for one in printed["record"]} <= set(record["errata"][label])
    assert accounts.refuted(label) is ("privacy" in kinds)
    _, out, _ = run(capsys, label, "--epsilon", "1", "--delta", "1e-6")
    flat = " ".join(out.split())
    assert all(f"by the record, {one['word']} ({one['erratum']}): {one['regime']}" in flat for one in printed["record"])


def beyond(label, variant):
    """An account whose profile is exact and above its target."""
    found = account(label, variant, 1, "1e-6", numbers=EXACT)
    return replace(found, profile=PrivacyProfile(gaussian_rule(lambda K: K(1))), conditions=())


@pytest.mark.parametrize("label", LABELS)
def test_violated_is_said_only_where_the_record_refutes_the_printed_algorithm(label):
    words = {variant: beyond(label, variant).verdict for variant in EDITIONS}
    known = "violated" if "privacy" in read_record()["kinds"].get(label, []) else "not certified"
    assert words == {"printed": known, "corrected": "not certified", "tight": "not certified"}


@pytest.mark.parametrize("label", ["Alg:nfw", "alg:nSFW"])
def test_a_change_of_the_record_changes_the_words(label, monkeypatch, capsys):
    """The errata are the only source: one that is regraded, or one more, and calibrate says so."""
    known = load()
    mended = [replace(e, severity="misprint", falsifies=()) if label in e.falsifies else e for e in known.errata]
    one = replace(known.errata[0], id="E9.9", severity="privacy", where=(label,), falsifies=(label,), regime="always")
    for errata, word in ((mended, "not certified"), ([*mended, one], "violated")):
        changed = replace(known, errata=tuple(errata))
        for module in (accounts, inventory):
            monkeypatch.setattr(module, "load", lambda changed=changed: changed)
        assert beyond(label, "printed").verdict == word
        said = [entry["word"] for entry in calibrate.recorded(label)]
        assert ("false: privacy" in said) is (word == "violated")
        assert not any(f"false: {kind}" in said for kind in FALSE[1:])
        capsys.readouterr()


def test_no_reading_of_the_text_is_called_violated(capsys):
    """Batches fixed by index are not the printed mechanism, however exact their profile."""
    for epsilon in ("0.5", "1.25", "2", "3"):
        found = as_json(capsys, "alg:nSFW", "--epsilon", epsilon, "--delta", "1e-6")["variants"]
        readings = [reading["verdict"] for one in found for reading in one["readings"]]
        assert readings == ["private" if epsilon == "0.5" else "fails so read"]
        assert "violated" not in {one["verdict"] for one in found}
