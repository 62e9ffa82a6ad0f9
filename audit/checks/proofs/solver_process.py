"""The process in which a solver runs: questions in, answers out, one JSON object a line. `solvers` starts and ends it.

A solver may ignore its own limit of time, or crash; in a process of its own it can be ended. This file is run by its
path and imports nothing of the project.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def by_z3(script: str, patience: float) -> dict[str, Any]:
    """What z3 says; of "sat" a value for each variable if all are rational, and whether its model holds, exactly."""
    import z3

    context = z3.Context()
    solver = z3.SolverFor("QF_NRA", ctx=context)
    solver.set("timeout", int(patience * 1000))
    solver.add(z3.parse_smt2_string(script, ctx=context))
    found = str(solver.check())
    if found == "sat":
        model = solver.model()
        holds = all(z3.is_true(model.eval(one, model_completion=True)) for one in solver.assertions())
        return {"verdict": "sat", "model": _rational(z3, model), "holds": holds}
    reason = str(solver.reason_unknown()) if found == "unknown" else ""
    return {"verdict": "unsat" if found == "unsat" else "unknown", "reason": reason}


def _rational(z3: Any, model: Any) -> dict[str, str]:
    """The values of a model if all are rational; nothing otherwise."""
    found: dict[str, str] = {}
    for declaration in model.decls():
        value = model[declaration]
        if declaration.arity():  # the value of a division by 0, which no model of ours may use
            continue
        if not z3.is_rational_value(value):
            return {}
        found[declaration.name()] = f"{value.numerator_as_long()}/{value.denominator_as_long()}"
    return found


def by_cvc5(script: str, patience: float) -> dict[str, Any]:
    """What cvc5 says."""
    import cvc5

    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("tlimit-per", str(int(patience * 1000)))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "question")
    said = ""
    while not (command := parser.nextCommand()).isNull():
        said += str(command.invoke(solver, parser.getSymbolManager()))
    words = said.split()
    if words in (["unsat"], ["sat"]):
        return {"verdict": words[0]}
    return {"verdict": "unknown", "reason": " ".join(words)[:200]}


def main(name: str) -> None:
    """Answer until nobody asks."""
    solve = {"z3": by_z3, "cvc5": by_cvc5}[name]
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = solve(question["script"], question["patience"])
        except Exception as error:  # noqa: BLE001 - whatever a solver throws at a question is no answer
            answer = {"verdict": "unknown", "reason": (str(error).splitlines() or [type(error).__name__])[0][:200]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
