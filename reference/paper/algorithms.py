"""The one table of the paper's six algorithms, and the one list of the editions of its text.

Other rooms attach what they do for an algorithm to its label (`PerAlgorithm`) and keep no list of their own.

>>> named("Algorithm 2").label, named("phased-sgd").number, named("Alg:phased").module
('Alg:phased', 2, 'reference.convex.phased_sgd')
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar, get_args

Edition: TypeAlias = Literal["printed", "corrected", "tight"]
"""The text as it stands; with its errata corrected; with the least noise that is proven. (`--variant` of the commands,
"variant" in the vector files.)"""
EDITIONS: tuple[Edition, ...] = get_args(Edition)
PAPER: tuple[Edition, ...] = EDITIONS[:2]
"""The editions of an algorithm whose noise is nobody's but its solver's: nothing to tighten."""


@dataclass(frozen=True)
class Algorithm:
    """One algorithm of the paper."""

    number: int
    label: str
    """Its TeX label."""
    name: str
    """What the command line and the vector files call it."""
    aliases: tuple[str, ...]
    """What people also call it."""
    module: str
    function: str
    """The corrected algorithm in the module; the printed one has the same name and `_printed`."""
    editions: tuple[Edition, ...]
    output: str
    """What it returns, in the vector files."""
    statements: tuple[str, ...]
    """The theorems (Algorithm 1: the lemma) that say what it achieves."""

    def body(self, edition: str) -> str:
        """The name of the function that has the text of an edition."""
        return self.function if edition == EDITIONS[1] else f"{self.function}_{edition}"

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that is understood, in lower case and with hyphens."""
        numbered = (f"algorithm-{self.number}", f"alg-{self.number}", str(self.number))
        return (self.label.lower().replace("_", "-"), self.name, *self.aliases, *numbered)


ALGORITHMS: tuple[Algorithm, ...] = (
    Algorithm(
        number=1,
        label="Alg:gll_oracle",
        name="gll-oracle",
        aliases=("oracle",),
        module="reference.convex.oracle",
        function="oracle",
        editions=PAPER,
        output="gradient",
        statements=("lem:oracle",),
    ),
    Algorithm(
        number=2,
        label="Alg:phased",
        name="phased-sgd",
        aliases=("phased",),
        module="reference.convex.phased_sgd",
        function="phased_sgd",
        editions=EDITIONS,
        output="w",
        statements=("thm:l2_glm", "thm:l2_glm_unconstrained"),
    ),
    Algorithm(
        number=3,
        label="Alg:nfw",
        name="noisy-frank-wolfe",
        aliases=("frank-wolfe", "nfw"),
        module="reference.convex.noisy_frank_wolfe",
        function="noisy_frank_wolfe",
        editions=EDITIONS,
        output="w",
        statements=("thm:l1_glm",),
    ),
    Algorithm(
        number=4,
        label="alg:polySFW",
        name="poly-sfw",
        aliases=("polysfw",),
        module="reference.smooth.poly_sfw",
        function="poly_sfw",
        editions=EDITIONS,
        output="w",
        statements=("thm:privacy-polySFW", "thm:convergence-polySFW"),
    ),
    Algorithm(
        number=5,
        label="alg:nSFW",
        name="noisy-sfw",
        aliases=("nsfw",),
        module="reference.smooth.noisy_sfw",
        function="noisy_sfw",
        editions=EDITIONS,
        output="w",
        statements=("thm:privacy-noisySFW", "thm:convergence-noisySFW"),
    ),
    Algorithm(
        number=6,
        label="Alg:PGPSMD",
        name="proximally-guided",
        aliases=("proximal", "pgpsmd"),
        module="reference.weakly_convex.proximal_guided",
        function="proximally_guided",
        editions=PAPER,
        output="w",
        statements=("thm:nsmth_ncnvx",),
    ),
)
BY_LABEL: Mapping[str, Algorithm] = {a.label: a for a in ALGORITHMS}
BY_NAME: Mapping[str, Algorithm] = {name: a for a in ALGORITHMS for name in a.names}
"""By everything that is understood, in lower case and with hyphens."""
NAMES: tuple[str, ...] = tuple(a.name for a in ALGORITHMS)
"""One name for each algorithm, in the paper's order."""


def named(text: str) -> Algorithm:
    """The algorithm that a label, a name or a number means: `Alg:nfw`, `noisy-frank-wolfe`, `Algorithm 3`, `alg 3`.

    Raises ValueError for anything else.
    """
    key = "-".join(text.lower().replace("_", " ").replace("-", " ").split())
    if key not in BY_NAME:
        raise ValueError(f"algorithm = {text!r} is unknown: give one of {', '.join((*BY_LABEL, *NAMES))}")
    return BY_NAME[key]


_F = TypeVar("_F", bound=Callable[..., Any])


class PerAlgorithm(Mapping[str, _F], Generic[_F]):
    """What a room does for each algorithm: one function a label, attached where the function is written.

    >>> describe: PerAlgorithm[Callable[[], str]] = PerAlgorithm()
    >>> @describe.of("Alg:nfw")
    ... def noisy_frank_wolfe() -> str:
    ...     return "report noisy min over the vertices"
    >>> describe["Alg:nfw"]()
    'report noisy min over the vertices'
    """

    def __init__(self) -> None:
        self._functions: dict[str, _F] = {}

    def of(self, label: str) -> Callable[[_F], _F]:
        """Attach the decorated function to the algorithm of this label."""
        if label not in BY_LABEL or label in self._functions:
            raise ValueError(f"label = {label!r} must be that of an algorithm without a function here")

        def attach(function: _F) -> _F:
            self._functions[label] = function
            return function

        return attach

    def __getitem__(self, label: str) -> _F:
        return self._functions[label]

    def __iter__(self) -> Iterator[str]:
        return (label for label in BY_LABEL if label in self._functions)

    def __len__(self) -> int:
        return len(self._functions)
