"""Each method proves what is true, and says what is false, vacuous, dull, undecided or not replayed, never "proved"."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from audit.checks.proofs import solvers
from audit.checks.proofs.cover import cover, interval, refuted_at
from audit.checks.proofs.steps import (
    Cover,
    Exponents,
    Identity,
    Induction,
    OnPaper,
    Parts,
    Powers,
    Quoted,
    Smt,
    step,
)
from audit.checks.proofs.terms import reals, script
from reference.numerics.numbers import Ball

F = Fraction
x, y, n = reals("x y n")
SQUARE = Smt("all x", (), 2 * x * y <= x * x + y * y, F(99, 100))


def test_what_follows_is_proved_and_its_mutant_refuted_at_an_exact_point() -> None:
    found = SQUARE.replay()
    assert found.status == "proved"
    assert found.mutant.startswith("with 99/100 of the bound: false at x = ")


@pytest.mark.parametrize(
    ("proof", "status"),
    [
        (Smt("", (x > 0,), x * x <= x), "refuted"),
        (Smt("", (x > 0, x < 0), x <= 1), "vacuous"),
        (Smt("", (x >= 0, x <= 1), x <= 100, F(1, 2)), "dull"),
        (Smt("", (x >= 0, x <= 1), x <= 1, F(1, 2), at={"x": F(1, 4)}), "dull"),
        (Smt("", (x >= 0, x <= 1), x <= 1, F(1, 2), at={"x": F(3)}), "dull"),
        (Smt("", (x >= 0, x <= 1), x <= 1, F(1, 2), at={"x": F(1)}), "proved"),
        (Smt("", (x >= 0, x <= 1), x <= 1, mutant=x < 1), "proved"),
        (Smt("", (x >= 0, x <= 1), x <= 1, mutant=x <= 2), "dull"),
        (Identity("", (x + 1) ** 2, x * x + 2 * x + 1), "proved"),
        (Identity("", (x + 1) ** 2, x * x + 1), "refuted"),
        (Identity("", x - x, y - y), "vacuous"),
        (Identity("", x, x, F(1)), "vacuous"),
        (Exponents("", ((Powers.of(n=F(1, 2)) ** 2, Powers.of(n=1)),)), "proved"),
        (Exponents("", ((Powers.of(n=F(1, 2)), Powers.of(n=1)),)), "refuted"),
        (OnPaper("a book"), "paper"),
        (Quoted("a book"), "cited"),
        (Parts("", {"a": SQUARE, "b": Smt("", (x > 0,), x * x <= x)}), "refuted"),
        (Parts("", {"a": SQUARE, "b": SQUARE}), "proved"),
        (Induction("n", Smt("", (n.equals(0),), n <= n * n + 1, F(1, 2), mutant=n <= n - 1), SQUARE), "proved"),
    ],
)
def test_every_other_answer_is_said(proof: Any, status: str) -> None:
    assert proof.replay().status == status


def test_an_undecided_question_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solvers, "ask", lambda script: solvers.Answer("unknown", "z3", "timeout"))
    found = SQUARE.replay()
    assert (found.status, found.detail) == ("unknown", "timeout")


def hard() -> str:
    a, b, c, d = reals("a b c d")
    claim = (a**7 + b**5 * c**3 + d**9).equals(a * b * c * d + 3)
    return script([claim, a * b * c * d > 17, a + b < c * d * d])


def test_a_question_that_is_too_hard_is_unknown_at_once() -> None:
    assert solvers.ask(hard(), patience=0.001).verdict in ("unknown", "sat")


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_a_solver_that_ignores_its_limit_is_ended_and_the_next_question_answered(
    solver: solvers.Solver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deaf = tmp_path / "deaf.py"
    deaf.write_text("import time\ntime.sleep(60)\n")
    solvers.stop()
    with monkeypatch.context() as patched:
        patched.setattr(solvers, "PROCESS", deaf)
        patched.setattr(solvers, "GRACE", 0.2)
        found = solvers.ask("(check-sat)", solver, patience=0.1)
    assert (found.verdict, found.reason) == ("unknown", "no answer in 0.3 s")
    assert solvers.ask(SQUARE.question(), solver).verdict == "unsat"


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_what_a_solver_cannot_read_is_unknown_with_its_reason(solver: solvers.Solver) -> None:
    found = solvers.ask("(set-logic QF_NRA)(assert (< x 1.0))(check-sat)", solver)
    assert found.verdict == "unknown"
    assert found.reason
    assert solvers.ask(SQUARE.question(), solver).verdict == "unsat"
    assert solvers.ask(SQUARE.mutant_question(), solver).verdict == "sat"


def absent(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """As if these were not installed."""
    there = solvers.installed
    monkeypatch.setattr(solvers, "installed", lambda solver: solver not in names and there(solver))


def test_without_a_solver_nothing_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    absent(monkeypatch, "z3")
    found = SQUARE.replay()
    assert (found.status, found.detail) == ("missing", "needs z3-solver: pip install 'dpso[paper]'")
    assert solvers.version() == ""
    assert Identity("", x, x).replay().status == "proved", "what needs no solver is replayed"


@pytest.mark.parametrize(
    ("says", "status", "opinion"),
    [("unsat", "proved", "cvc5: unsat"), ("unknown", "proved", "cvc5: unknown"), ("sat", "unknown", "cvc5: sat")],
)
def test_a_second_solver_is_heard(
    says: solvers.Reply, status: str, opinion: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solvers, "second_opinion", lambda script: solvers.Answer(says, "cvc5"))
    found = SQUARE.replay()
    assert (found.status, found.opinions) == (status, (opinion,))


def test_no_second_solver_is_no_opinion(monkeypatch: pytest.MonkeyPatch) -> None:
    absent(monkeypatch, "cvc5")
    assert SQUARE.replay().opinions == ()
    assert solvers.missing("cvc5") == "needs cvc5: pip install 'dpso[paper]'"


def test_a_mutant_refuted_at_an_irrational_point_is_evaluated_by_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    root = Smt("", (x > 0, (x * x).equals(2)), x <= F(3, 2), F(9, 10))
    assert "algebraic point" in root.replay().mutant
    told = solvers.ask(root.mutant_question())
    assert (told.verdict, told.model, told.holds) == ("sat", {}, True)
    monkeypatch.setattr(
        solvers, "ask", lambda script, *_: solvers.Answer("sat" if "sharpened" in script else "unsat", "z3")
    )
    assert root.replay().status == "unknown", "a model that nothing confirms refutes nothing"


# --------------------------------------------------------------------------------------------------- by balls


def exponential(K: Any, x: Any) -> tuple[Any, Any]:
    return 1 + x, K.exp(x)


def test_a_cover_decides_every_point_of_a_box() -> None:
    proof = Cover("1/8 ≤ x ≤ 1", {"x": (F(1, 8), F(1))}, exponential, F(99, 100))
    found = proof.replay()
    assert found.status == "proved"
    assert found.detail.endswith("boxes")
    assert "on balls" in found.mutant


def test_a_cover_that_does_not_decide_says_where_it_is_open() -> None:
    touching = cover({"x": (F(0), F(1))}, exponential, limit=2000)
    assert not touching.done
    assert touching.open_box.startswith("x in [")
    wrong = cover({"x": (F(1), F(2))}, lambda K, x: (K.exp(x), 1 + x))
    assert not wrong.done
    assert wrong.boxes < 4
    assert Cover("", {"x": (F(-1), F(1))}, lambda K, x: (x, x), bits=16).replay().status == "unknown"
    assert Cover("", {"x": (F(1), F(2))}, lambda K, x: (x, 100 + x), F(99, 100)).replay().status == "dull"
    assert not cover({"x": (F(-1), F(1))}, lambda K, x: (1 / x, K(10**9)), limit=50).done


def test_a_box_is_enclosed() -> None:
    K = Ball(64)
    one = interval(K, F(1, 3), F(2, 3))
    assert all(one.contains(v) for v in (F(1, 3), F(1, 2), F(2, 3)))
    assert refuted_at({"x": (F(0), F(1))}, lambda K, x: (x, K(F(9, 10)))) == {"x": F(1)}
    assert refuted_at({"x": (F(0), F(1))}, lambda K, x: (x, K(2))) is None


def test_a_step_changes_its_fingerprint_with_what_it_says() -> None:
    one = step("a.b", "lem:moreau", "says", SQUARE)
    other = step("a.b", "lem:moreau", "says", Smt("all x", (), 2 * x * y <= x * x + y * y, F(98, 100)))
    assert one.fingerprint() != other.fingerprint()
    assert one.fingerprint() == step("a.b", ("lem:moreau",), "in other words", SQUARE).fingerprint()
    files = dict(one.files())
    assert set(files) == {"a.b.smt2", "a.b.mutant.smt2"}
    assert all(solvers.ask(text).verdict == ("sat" if "mutant" in name else "unsat") for name, text in files.items())


def test_powers_multiply() -> None:
    n, d = Powers.of(n=1), Powers.of(d=F(1, 2))
    assert n * d / n == d
    assert (n * d) ** F(2) == Powers.of(n=2, d=1)
    assert str(d) == "d^{1/2}"
    assert str(d / d) == "1"


ROOM = F(2)


def _above(K: Any, t: Any) -> Any:
    return t * t + K(ROOM)


def _through_a_helper(K: Any, t: Any) -> tuple[Any, Any]:
    return t, _above(K, t)


def test_a_cover_changes_its_fingerprint_with_what_its_sides_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound that a helper or a constant of the module gives is part of what is proved."""
    one = step("a.b", "lem:moreau", "t < t² + 2", Cover("", {"t": (F(0), F(1))}, _through_a_helper, F(1, 2)))
    before = one.fingerprint()
    assert one.fingerprint() == before
    assert "def _above" in one.proof.content()
    monkeypatch.setitem(_through_a_helper.__globals__, "ROOM", F(3))
    assert one.fingerprint() != before
