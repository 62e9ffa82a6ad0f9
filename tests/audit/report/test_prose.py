"""Formulas inside sentences: what is typeset, what stays a word, and that no text is too much."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from audit.report.common import capital
from audit.report.prose import formula
from audit.runtime.markup import Html
from reference.paper import inventory


def seen(text: str) -> str:
    """What is read: formulas between double brackets, an index after _, a power after ^, a root after √."""

    def told(element: ElementTree.Element) -> str:
        parts = [told(part) for part in element]
        if element.tag in ("msub", "msup", "msubsup"):
            marks = {"msub": "_", "msup": "^", "msubsup": "_^"}[element.tag]
            return parts[0] + "".join(f"{mark}{{{part}}}" for mark, part in zip(marks, parts[1:], strict=True))
        inside = (element.text or "") + "".join(parts)
        return f"√({inside})" if element.tag == "msqrt" else inside

    def one(found: re.Match[str]) -> str:
        return f"⟪{told(ElementTree.fromstring(found[0]))}⟫"

    return re.sub(r"<math>.*?</math>", one, formula(text).replace('<span class="tied">', "").replace("</span>", ""))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("w_r and n", "⟪w_{r}⟫ and ⟪n⟫"),
        ("if α < 4L0R (E3.5)", "if ⟪α<4L_{0}R⟫ (E3.5)"),
        ("η_{r,t−1}", "⟪η_{r,t−1}⟫"),
        ("‖x‖_p ≤ 1", "⟪‖x‖_{p}≤1⟫"),
        ("‖·‖_p̄, ‖·‖_+ and ‖∇f‖_*", "⟪‖·‖_{p̄}⟫, ⟪‖·‖_{+}⟫ and ⟪‖∇f‖_{*}⟫"),
        ("σ̂_{r,t} and ū", "⟪σ̂_{r,t}⟫ and ⟪ū⟫"),
        ("2^{3r/2}, x^2, 10⁻²⁰", "⟪2^{3r/2}⟫, ⟪x^{2}⟫, ⟪10^{−20}⟫"),
        ("w_r^t, e^ε − 1", "⟪w_r^t⟫, ⟪e^{ε}−1⟫".replace("w_r^t", "w_{r}^{t}")),
        ("2η_kL0R", "⟪2η_{k}L_{0}R⟫"),
        ("u'_T, d'^{2}, w*_β", "⟪u_{T}^{′}⟫, ⟪d^{′2}⟫, ⟪w_{β}^{*}⟫"),
        ("n^(−1/4)", "⟪n^{−1/4}⟫"),
        ("2^{−T_o}", "⟪2^{−T_{o}}⟫"),
        ("P_{k,t}² and η_k²", "⟪P_{k,t}^{2}⟫ and ⟪η_{k}^{2}⟫"),
        ("⌈log_{4/3}(L0R/α)⌉ steps", "⟪⌈log_{4/3}(L_{0}R/α)⌉⟫ steps"),
        ("T = ⌈log2(16L0²R²/α²)⌉", "⟪T⟫ ⟪=⌈log_{2}(16L_{0}^{2}R^{2}/α^{2})⌉⟫"),
        ("η = 1/√(t+1), √log(1/δ)", "⟪η=1/√(t+1)⟫, ⟪√(log(1/δ))⟫"),
        ("log^{2/3}n, 2 log d", "⟪log^{2/3}n⟫, ⟪2logd⟫"),
        ("E‖X − EX‖_*² ≤ 2c²", "⟪E‖X−EX‖_{*}^{2}⟫ ⟪≤2c^{2}⟫"),
        ("|V| = 2d ≥ 10^6, log|V|-regular", "⟪|V|=2d≥10^{6}⟫, ⟪log|V|⟫-regular"),
        ("(ε, δ)-DP with ε0", "⟪(ε,δ)⟫-DP with ⟪ε_{0}⟫"),
        ("ℓ2: E over w of f(w, ·)", "⟪ℓ_{2}⟫: E over ⟪w⟫ of ⟪f(w,·)⟫"),
        ("δ = 1e-6, 8.3e-08", "⟪δ=10^{−6}⟫, ⟪8.3·10^{−8}⟫"),
        ("≤ c, from d = 3 on", "⟪≤c⟫, from ⟪d=3⟫ on"),
    ],
)
def test_what_is_a_formula_is_typeset(text: str, read: str) -> None:
    assert seen(text) == read


@pytest.mark.parametrize(
    "text",
    [
        "names_of_code, s.check_51, alg_x, x_<b",
        "1e10000, x1e6, fadf9d4e1, E3.1 and EB.12",
        "loose (9 → 7.2426, 24 → 19), 41 % of 175 s",
        "a part (a), an I, in Appendix B, e.g. a.npy",
        "reference/convex/oracle.py:191, lem:oracle, printed/corrected",
        "the reader's, R's and x's",
        "(1, 1/100, …), [0, 1]",
    ],
)
def test_words_numbers_and_names_stay(text: str) -> None:
    assert "<math>" not in formula(text).replace("<math><mi>b</mi></math>", "b")


def test_a_word_that_hangs_on_a_formula_stays_with_it() -> None:
    assert formula("(ε, δ)-DP").startswith('<span class="tied"><math>')
    assert formula("(ε, δ)-DP").endswith("</math>-DP</span>")
    assert formula("for every n, and").endswith("</math>,</span> and"), "no line begins with a comma"


def test_code_is_code_and_markup_is_kept() -> None:
    assert formula("see `bounds` there") == "see <code>bounds</code> there"
    assert formula("`a`b` <`x`>") == "<code>a</code>b` &lt;<code>x</code>&gt;"
    assert formula(Html("<b>α</b>")) == "<b>α</b>"
    assert "<script" not in formula("x_{<script>} < w^<script>")


def test_a_long_formula_may_break_at_its_relations_and_sums() -> None:
    made = formula("F(w_1) − F(w_2) ≤ D²/(2η_1T_1) + L0²R²/(2β) + 4L0²R²η_1")
    assert made.count("<math>") >= 3
    assert all(len(re.sub("<[^>]*>", "", piece)) < 40 for piece in made.split("</math> "))


LONG = ["(" * 5000, "(" * 3000 + ")" * 3000, "|" * 4000, "√" * 2000 + "x", "x = " * 2000 + "a_name", "log " * 2000]


@pytest.mark.parametrize("text", [*LONG, "‖|(" * 800, "1 · " * 3000, "(1, " * 900, "√(" * 50 + "x" + ")" * 50])
def test_no_text_is_too_deep_or_too_long(text: str) -> None:
    """A reader that tried every way would not come back."""
    assert ElementTree.fromstring(f"<p>{formula(text)}</p>").tag == "p"


def test_every_erratum_is_well_formed_and_no_constant_is_left_in_plain_characters() -> None:
    for erratum in inventory.load().errata:
        for text in (erratum.title, erratum.printed, erratum.corrected, erratum.regime, erratum.cost, erratum.affects):
            made = formula(text)
            ElementTree.fromstring(f"<p>{made}</p>")
            left = re.sub(r"<math>.*?</math>|<code>.*?</code>", "", made)
            assert not re.search(r"(?<![A-Za-z])\d*L[01]R?(?![A-Za-z])|[α-ω]|√[a-z(]|\^\{", left), (erratum.id, left)


def test_a_title_begins_with_a_capital_unless_a_symbol_does() -> None:
    assert capital("the search keeps") == "The search keeps"
    assert capital("a display lacks 1/n") == "A display lacks 1/n"
    for symbol in ("p̄ = max{p, 1}", "nd ≥ ρD", "b = n/log²n", "log d vanishes", "u* is", "n/R is", "ℓ_q is"):
        assert capital(symbol) == symbol


TYPESET = Path(__file__).with_name("typeset.json")
"""Texts, and their markup to the last attribute: `python tests/audit/report/test_prose.py` typesets them anew."""


@pytest.mark.parametrize(("text", "markup"), json.loads(TYPESET.read_text(encoding="utf-8")).items())
def test_a_text_is_typeset_as_it_was(text: str, markup: str) -> None:
    assert formula(text) == markup


if __name__ == "__main__":
    texts = json.loads(TYPESET.read_text(encoding="utf-8"))
    made = {text: str(formula(text)) for text in texts}
    TYPESET.write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{TYPESET}\n")
