"""A step of a proof: its sentence, its method, its mutant, and what replaying it gives.

| method | what is proved, for all parameters of the stated domain |
|---|---|
| `Smt` | given hypotheses imply the claim: a solver refutes hypotheses and negated claim |
| `Identity` | two rational functions are the same: both sides expanded, every coefficient compared |
| `Induction` | base and step, each by one of the methods here |
| `Cover` | lhs < rhs on a bounded box, by balls that cover it; a tail is a part of its own (`Parts`) |
| `Exponents` | two products of powers are the same: exact exponents |
| `OnPaper` | not by machine: where the proof is written |

Every proof by machine has a *mutant*: the claim sharpened by a stated factor. It must be refuted by a point at which
the hypotheses hold, evaluated in rationals (or in balls); so the claim has less room than that factor, the hypotheses
do not contradict each other, and the step can fail.
"""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import FunctionType
from typing import Any, Literal, Protocol, TypeAlias

from audit.checks.evidence import Method
from audit.checks.proofs import solvers
from audit.checks.proofs.cover import Ranges, Sides, cover, refuted_at
from audit.checks.proofs.terms import (
    Assignment,
    Formula,
    Term,
    denominators,
    evaluate,
    holds,
    identical,
    negation,
    script,
    term,
    variables,
)
from reference.paper.algorithms import Edition

StepStatus: TypeAlias = Literal["proved", "refuted", "unknown", "missing", "vacuous", "dull", "paper", "cited"]
"""What replaying a step gives: "refuted": the negation has a model; "unknown": the solver or the cover gave up;
"missing": no solver; "vacuous": the hypotheses contradict each other; "dull": nothing refutes the mutant; "paper" and
"cited": not by machine.
"""

MEANINGS: dict[StepStatus, str] = {
    "proved": "for all parameters, by machine",
    "refuted": "false: the negation has a model",
    "unknown": "not decided: the solver or the cover gave up",
    "missing": "not replayed: no solver is installed",
    "vacuous": "the hypotheses contradict each other: nothing is proved",
    "dull": "nothing refutes the sharpened claim: the step may not be able to fail",
    "paper": "proved on paper",
    "cited": "taken from elsewhere",
}


@dataclass(frozen=True)
class StepReplay:
    """What replaying a proof gave."""

    status: StepStatus
    detail: str = ""
    mutant: str = ""
    opinions: tuple[str, ...] = ()
    """What other solvers said."""


class Proof(Protocol):
    """What every method has."""

    @property
    def method(self) -> Method | Literal["paper", "cited"]:
        """Which method it is."""
        ...

    @property
    def domain(self) -> str:
        """The parameters that it is proved for."""
        ...

    def replay(self) -> StepReplay:
        """Do it again."""
        ...

    def scripts(self) -> Iterator[tuple[str, str]]:
        """(suffix, SMT-LIB text) for other people's solvers; nothing where a solver does not apply."""
        ...

    def content(self) -> str:
        """What it says, as text: if this changes, the record is stale."""
        ...


def _shown(point: Mapping[str, Fraction]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in point.items())


# ------------------------------------------------------------------------------------------------ by a solver


@dataclass(frozen=True)
class Smt:
    """`given` imply `claim`, a relation lhs ≤ rhs, lhs < rhs or lhs = rhs; the mutant has `sharpen`·rhs.

    `mutant` replaces that claim where a factor does not sharpen it, `at` is a point that refutes it where the solver's
    model is irrational.
    """

    domain: str
    given: tuple[Formula, ...]
    claim: Formula
    sharpen: Fraction = Fraction(9, 10)
    mutant: Formula | None = None
    at: Assignment | None = None
    method: Method = field(default="smt", init=False)

    @property
    def sharpened(self) -> Formula:
        """The claim that must be false."""
        if self.mutant is not None:
            return self.mutant
        left, right = self.claim.args
        return Formula(self.claim.op, (left, term(self.sharpen) * right))

    def question(self) -> str:
        """Unsatisfiable iff the claim follows."""
        return script([*self.given, negation(self.claim)], "expected: unsat (the claim follows from the hypotheses)")

    def mutant_question(self) -> str:
        """Satisfiable iff the sharpened claim does not follow."""
        return script([*self.given, negation(self.sharpened)], "expected: sat (the sharpened claim does not follow)")

    def scripts(self) -> Iterator[tuple[str, str]]:
        yield "", self.question()
        yield ".mutant", self.mutant_question()

    def content(self) -> str:
        return self.question() + self.mutant_question()

    def replay(self) -> StepReplay:
        answer = solvers.ask(self.question())
        if answer.verdict != "unsat":
            status: StepStatus = {"sat": "refuted", "missing": "missing"}.get(answer.verdict, "unknown")  # type: ignore[assignment]
            return StepReplay(status, answer.reason or _shown(answer.model))
        second = solvers.second_opinion(self.question())
        opinions = () if second.verdict == "missing" else (f"{second.solver}: {second.verdict}",)
        if second.verdict == "sat":
            return StepReplay("unknown", f"{answer.solver} and {second.solver} disagree", opinions=opinions)
        found = self._refuting()
        if isinstance(found, StepReplay):
            return found
        return StepReplay("proved", answer.solver, found, opinions)

    def _refuting(self) -> str | StepReplay:
        """A point at which the hypotheses hold and the sharpened claim does not, in words; or why there is none."""
        if self.at is not None:
            if all(holds(x, self.at) for x in self.given) and not holds(self.sharpened, self.at):
                return f"{self._how()}: false at {_shown(self.at)}"
            return StepReplay("dull", f"the given point {_shown(self.at)} does not refute the mutant")
        answer = solvers.ask(self.mutant_question())
        if answer.verdict == "unsat":
            alone = solvers.ask(script(self.given))
            return StepReplay("vacuous" if alone.verdict == "unsat" else "dull", f"{self._how()}: not refuted")
        if answer.verdict != "sat":
            return StepReplay("unknown", f"mutant: {answer.reason}")
        if not answer.model:
            found = f"{self._how()}: false at an algebraic point, by {answer.solver}'s exact arithmetic"
            return found if answer.holds else StepReplay("unknown", "mutant: the solver's model is not confirmed")
        model = {name: Fraction(0) for name in variables([*self.given, self.sharpened])} | answer.model
        if all(holds(x, model) for x in self.given) and not holds(self.sharpened, model):
            return f"{self._how()}: false at {_shown(model)}"
        return StepReplay("dull", f"the solver's model {_shown(model)} does not refute the mutant")

    def _how(self) -> str:
        return "the mutant" if self.mutant is not None else f"with {self.sharpen} of the bound"


@dataclass(frozen=True)
class Identity:
    """Two rational functions are the same wherever both are defined."""

    domain: str
    left: Term
    right: Term
    sharpen: Fraction = Fraction(9, 10)
    method: Method = field(default="identity", init=False)

    def scripts(self) -> Iterator[tuple[str, str]]:
        defined = [negation(x.equals(0)) for x in denominators([self.left, self.right])]
        yield "", script([*defined, negation(self.left.equals(self.right))], "expected: unsat (no denominator is 0)")

    def content(self) -> str:
        return f"{self.left} = {self.right}"

    def replay(self) -> StepReplay:
        if not identical(self.left, self.right):
            return StepReplay("refuted", "the two sides differ as rational functions")
        if identical(self.left, term(self.sharpen) * self.right):
            return StepReplay("vacuous", "both sides are 0")
        names = variables([self.left, self.right])
        for shift in range(2, 12):
            point = {name: Fraction(shift + 2 * i, 7 + i) for i, name in enumerate(names)}
            try:
                left, right = evaluate(self.left, point), evaluate(self.right, point)
            except ZeroDivisionError:
                continue
            if left != self.sharpen * right:
                return StepReplay("proved", "expanded", f"with {self.sharpen} of one side: false at {_shown(point)}")
        return StepReplay("dull", "no point tells the mutant from the identity")


# ----------------------------------------------------------------------------------------------------- by balls


@dataclass(frozen=True)
class Cover:
    """lhs < rhs at every point of a bounded box, decided by balls that cover it; the mutant has `sharpen`·rhs."""

    domain: str
    box: Ranges
    sides: Sides
    sharpen: Fraction = Fraction(9, 10)
    bits: int = 96
    parts: int = 8
    """Points a side of the grid on which the mutant is refuted."""
    method: Method = field(default="cover", init=False)

    def scripts(self) -> Iterator[tuple[str, str]]:
        yield from ()

    def content(self) -> str:
        return f"{dict(self.box)} {source(self.sides)} {self.sharpen}"

    def replay(self) -> StepReplay:
        found = cover(self.box, self.sides, self.bits)
        if not found.done:
            return StepReplay("unknown", f"open after {found.boxes} boxes: {found.open_box}")

        def sharpened(K: Any, **at: Any) -> tuple[Any, Any]:
            left, right = self.sides(K, **at)
            return left, right * self.sharpen

        point = refuted_at(self.box, sharpened, self.parts)
        if point is None:
            return StepReplay("dull", f"with {self.sharpen} of the bound: not refuted on the grid")
        where = f" at {_shown(point)}" if point else ""
        return StepReplay("proved", f"{found.boxes} boxes", f"with {self.sharpen} of the bound: false{where}, on balls")


def source(function: Callable[..., Any], seen: frozenset[str] = frozenset()) -> str:
    """The text of a function, of the functions of its module that it names, and the constants there that it names."""
    code, seen = function.__code__, seen | {function.__name__}
    parts = [inspect.getsource(function)]
    for name in code.co_names:
        value = function.__globals__.get(name)
        if isinstance(value, FunctionType) and value.__module__ == function.__module__ and name not in seen:
            parts.append(source(value, seen))
        elif isinstance(value, int | Fraction | str):
            parts.append(f"{name} = {value!r}")
    return "\n".join(parts)


# ------------------------------------------------------------------------------------------------- combinations


@dataclass(frozen=True)
class Parts:
    """Several obligations that make one step: a cover and its tail, say."""

    domain: str
    parts: Mapping[str, Proof]
    method: Method = "cover"

    def scripts(self) -> Iterator[tuple[str, str]]:
        for name, part in self.parts.items():
            yield from ((f".{name}{suffix}", text) for suffix, text in part.scripts())

    def content(self) -> str:
        return "\n".join(f"{name}: {part.content()}" for name, part in self.parts.items())

    def replay(self) -> StepReplay:
        details: list[str] = []
        mutants: list[str] = []
        opinions: list[str] = []
        for name, part in self.parts.items():
            found = part.replay()
            if found.status != "proved":
                return StepReplay(found.status, f"{name}: {found.detail}", found.mutant, found.opinions)
            details.append(f"{name}: {found.detail}")
            mutants.append(f"{name} {found.mutant}")
            opinions += found.opinions
        return StepReplay("proved", "; ".join(details), "; ".join(mutants), tuple(opinions))


def Induction(domain: str, base: Proof, step: Proof) -> Parts:
    """A statement for all whole numbers from some on: its base and its step."""
    return Parts(domain, {"base": base, "step": step}, "induction")


# --------------------------------------------------------------------------------------------------- exponents


@dataclass(frozen=True)
class Powers:
    """A product of rational powers of named quantities, constants aside."""

    exponents: tuple[tuple[str, Fraction], ...] = ()

    @classmethod
    def of(cls, **exponents: Fraction | int) -> Powers:
        """n^{1/2}·d is Powers.of(n=Fraction(1, 2), d=1)."""
        return cls(tuple(sorted((name, Fraction(e)) for name, e in exponents.items() if e)))

    def __mul__(self, other: Powers) -> Powers:
        total = dict(self.exponents)
        for name, e in other.exponents:
            total[name] = total.get(name, Fraction(0)) + e
        return Powers.of(**total)

    def __truediv__(self, other: Powers) -> Powers:
        return self * other ** Fraction(-1)

    def __pow__(self, power: Fraction | int) -> Powers:
        return Powers.of(**{name: e * power for name, e in self.exponents})

    def __str__(self) -> str:
        return "·".join(f"{name}^{{{e}}}" for name, e in self.exponents) or "1"


@dataclass(frozen=True)
class Exponents:
    """Pairs of products of powers that are the same; the mutant has an exponent changed by 1/12."""

    domain: str
    pairs: tuple[tuple[Powers, Powers], ...]
    method: Method = field(default="exponents", init=False)

    def scripts(self) -> Iterator[tuple[str, str]]:
        yield from ()

    def content(self) -> str:
        return "; ".join(f"{a} = {b}" for a, b in self.pairs)

    def replay(self) -> StepReplay:
        for a, b in self.pairs:
            if a != b:
                return StepReplay("refuted", f"{a} is not {b}")
        changed = Powers.of(n=Fraction(1, 12))
        if any(a * changed == b for a, b in self.pairs):
            return StepReplay("dull", "a changed exponent is not noticed")
        return StepReplay("proved", f"{len(self.pairs)} products", "an exponent changed by 1/12: refused")


# --------------------------------------------------------------------------------------------- not by machine


@dataclass(frozen=True)
class OnPaper:
    """A step that is proved in words: where, and what the argument is."""

    where: str
    domain: str = ""
    method: Literal["paper", "cited"] = "paper"

    def scripts(self) -> Iterator[tuple[str, str]]:
        yield from ()

    def content(self) -> str:
        return self.where

    def replay(self) -> StepReplay:
        return StepReplay("paper" if self.method == "paper" else "cited", self.where)


def Quoted(source: str) -> OnPaper:
    """A step that is taken from elsewhere."""
    return OnPaper(source, method="cited")


# -------------------------------------------------------------------------------------------------- the step


@dataclass(frozen=True)
class ProofStep:
    """One named step of the proof of one or more statements."""

    id: str
    of: tuple[str, ...]
    says: str
    proof: Proof
    edition: Edition = "corrected"

    @property
    def by_machine(self) -> bool:
        """Whether a machine replays it."""
        return self.proof.method not in ("paper", "cited")

    def fingerprint(self) -> str:
        """A hash of what is proved, how, and of which statements: it changes when the step does."""
        text = f"{self.id}|{self.of}|{self.proof.method}|{self.proof.domain}|{self.proof.content()}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def files(self) -> Iterator[tuple[str, str]]:
        """(name, SMT-LIB text) of its export; a part is named by its number and what is ASCII of its name."""
        parts: list[str] = []
        for suffix, text in self.proof.scripts():
            part = suffix.removesuffix(".mutant")
            if part not in parts:
                parts.append(part)
            words = [str(parts.index(part) + 1), *re.findall(r"[A-Za-z0-9]+", part)] if part else []
            name = ".".join([self.id, *(["-".join(words)] if words else []), *(["mutant"] if part != suffix else [])])
            about = [
                f"{self.id}: {self.says}",
                f"domain: {self.proof.domain}",
                *([f"part: {part[1:]}"] if part else []),
            ]
            yield f"{name}.smt2", "".join(f"; {line}\n" for line in about) + text


def step(id: str, of: str | Sequence[str], says: str, proof: Proof, edition: Edition = "corrected") -> ProofStep:
    """A step; one statement may be given by its id alone."""
    return ProofStep(id, (of,) if isinstance(of, str) else tuple(of), says, proof, edition)
