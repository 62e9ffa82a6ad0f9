"""Editions: alignment on untagged lines, every subset, refusals, and functions that inspect like any other."""

from __future__ import annotations

import inspect
import sys
import textwrap
import types
import typing

import pytest

from reference.paper.editions import (
    AlignedBlock,
    EditionError,
    blocks,
    body_lines,
    edition,
    errata_of,
    line_marks,
    marks_in,
    numbered_body,
    subsets,
    tags,
)

OFFSET = 100


def helper(x: int) -> int:
    return x + OFFSET


def three_printed(x: int, *, step: int = 1) -> list[int]:
    """As printed."""
    out = []  # L1
    for i in range(3):  # L2
        out.append(i)  # L3 [E9.1]
        x = x + step  # L4
    out.append(x)  # L5 [E9.2]
    return out  # L6


def three_corrected(x: int, *, step: int = 1) -> list[int]:
    """As corrected."""
    out = []  # L1
    for i in range(3):  # L2
        out.append(10 * i)  # L3 [E9.1]
        out.append(10 * i + 1)  # [E9.1]
        x = x + step  # L4
    out.append(helper(x))  # L5 [E9.2]
    return out  # L6


@pytest.mark.parametrize(
    ("errata", "expected"),
    [
        (set(), [0, 1, 2, 8]),
        ({"E9.1"}, [0, 1, 10, 11, 20, 21, 8]),
        ({"E9.2"}, [0, 1, 2, 108]),
        ({"E9.1", "E9.2"}, [0, 1, 10, 11, 20, 21, 108]),
    ],
)
def test_every_subset_of_two_errata_runs_as_written(errata: set[str], expected: list[int]) -> None:
    assert edition(three_printed, three_corrected, errata)(5) == expected


def test_the_extreme_editions_are_the_two_bodies() -> None:
    everything = errata_of(three_printed, three_corrected)
    assert everything == {"E9.1", "E9.2"}
    assert edition(three_printed, three_corrected, ())(5) == three_printed(5)
    assert edition(three_printed, three_corrected, everything)(5) == three_corrected(5)
    assert list(subsets(three_printed, three_corrected)) == [
        frozenset(),
        frozenset({"E9.1"}),
        frozenset({"E9.2"}),
        everything,
    ]


def test_an_edition_is_inspectable_and_lives_in_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    made = edition(three_printed, three_corrected, {"E9.2"})
    assert made.__name__ == "three_corrected_with_E9.2"
    assert made.__module__ == __name__
    assert made.__doc__ == "As corrected."
    assert made.__globals__ is three_corrected.__globals__
    assert inspect.signature(made) == inspect.signature(three_corrected)
    assert typing.get_type_hints(made) == {"x": int, "step": int, "return": list[int]}
    assert "out.append(helper(x))  # L5 [E9.2]" in inspect.getsource(made)
    assert line_marks(made) == [1, 2, 3, 4, 5, 6]
    assert made(5, step=2) == [0, 1, 2, 111]
    monkeypatch.setattr(sys.modules[__name__], "OFFSET", 1000)
    assert made(5) == [0, 1, 2, 1008], "globals are looked up when it runs, not copied when it is made"


def test_an_edition_is_made_once() -> None:
    assert edition(three_printed, three_corrected, ["E9.1"]) is edition(three_printed, three_corrected, {"E9.1"})


def test_unknown_errata_are_refused_by_name() -> None:
    with pytest.raises(EditionError, match=r"\['E9.3'\] do not belong to three_printed: it has \['E9.1', 'E9.2'\]"):
        edition(three_printed, three_corrected, {"E9.3"})


# ------------------------------------------------------------------------ insertions, deletions, anchors


def make(name: str, body: str, module: str = "editions_under_test") -> typing.Callable[..., typing.Any]:
    """A function with this body, in a module of its own, with its source on record."""
    import linecache

    source = f"def {name}(x):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"
    filename = f"<{module}.{name} {hash(source)}>"
    home = sys.modules.setdefault(module, types.ModuleType(module))
    exec(compile(source, filename, "exec"), vars(home))
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    function: typing.Callable[..., typing.Any] = vars(home)[name]
    return function


def pair(printed: str, corrected: str) -> tuple[typing.Callable[..., typing.Any], typing.Callable[..., typing.Any]]:
    return make("f_printed", printed), make("f", corrected)


def results(printed: str, corrected: str, x: int = 0) -> dict[frozenset[str], object]:
    old, new = pair(printed, corrected)
    return {chosen: edition(old, new, chosen)(x) for chosen in subsets(old, new)}


def test_insertion_only() -> None:
    got = results("y = [x]\nreturn y", "y = [x]\ny.append(1)  # [E9.1]\nreturn y")
    assert got == {frozenset(): [0], frozenset({"E9.1"}): [0, 1]}


def test_deletion_only() -> None:
    got = results("y = [x]\ny.append(1)  # [E9.1]\nreturn y", "y = [x]\nreturn y")
    assert got == {frozenset(): [0, 1], frozenset({"E9.1"}): [0]}


def test_adjacent_insertions_keep_the_order_of_the_corrected_body() -> None:
    got = results("y = [x]\nreturn y", "y = [x]\ny.append(1)  # [E9.2]\ny.append(2)  # [E9.1]\nreturn y")
    assert got[frozenset({"E9.1", "E9.2"})] == [0, 1, 2]
    assert got[frozenset({"E9.1"})] == [0, 2]
    assert got[frozenset({"E9.2"})] == [0, 1]


def test_adjacent_deletions_keep_the_order_of_the_printed_body() -> None:
    got = results("y = [x]\ny.append(1)  # [E9.2]\ny.append(2)  # [E9.1]\nreturn y", "y = [x]\nreturn y")
    assert got[frozenset()] == [0, 1, 2]
    assert got[frozenset({"E9.1"})] == [0, 1]


def test_a_deletion_next_to_an_insertion_comes_first() -> None:
    got = results("y = [x]\ny.append(1)  # [E9.1]\nreturn y", "y = [x]\ny.append(2)  # [E9.2]\nreturn y")
    assert got == {
        frozenset(): [0, 1],
        frozenset({"E9.1"}): [0],
        frozenset({"E9.2"}): [0, 1, 2],
        frozenset({"E9.1", "E9.2"}): [0, 2],
    }


def test_a_shared_erratum_anchors_what_stands_on_one_side() -> None:
    """Deletion before the anchor, insertion after it: no position by index could tell."""
    printed = "y = [x]\ny.append('del')  # [E9.3]\ny.append('old')  # [E9.1]\nreturn y"
    corrected = "y = [x]\ny.append('new')  # [E9.1]\ny.append('ins')  # [E9.2]\nreturn y"
    got = results(printed, corrected)
    assert got[frozenset({"E9.2"})] == [0, "del", "old", "ins"]
    assert got[frozenset({"E9.1", "E9.2"})] == [0, "del", "new", "ins"]
    assert got[frozenset({"E9.1", "E9.2", "E9.3"})] == [0, "new", "ins"]


def test_a_deletion_next_to_an_insertion_comes_first_before_an_anchor_too() -> None:
    printed = "y = [x]\ny.append('del')  # [E9.3]\ny.append('old')  # [E9.1]\nreturn y"
    corrected = "y = [x]\ny.append('ins')  # [E9.2]\ny.append('new')  # [E9.1]\nreturn y"
    got = results(printed, corrected)
    assert got[frozenset({"E9.2"})] == [0, "del", "ins", "old"]
    assert got[frozenset({"E9.1", "E9.2", "E9.3"})] == [0, "ins", "new"]


def test_an_insertion_before_the_anchor_stays_before_it() -> None:
    """The printed side has nothing there; sorting by index on either side would put it after."""
    printed = "y = [x]\ny.append('a')  # [E9.1]\ny.append('b')  # [E9.2]\nreturn y"
    corrected = "y = [x]\ny.append('ins')  # [E9.3]\ny.append('A')  # [E9.1]\ny.append('B')  # [E9.2]\nreturn y"
    got = results(printed, corrected)
    assert got[frozenset({"E9.3"})] == [0, "ins", "a", "b"]
    assert got[frozenset({"E9.2", "E9.3"})] == [0, "ins", "a", "B"]
    assert len(got) == 8


def test_one_erratum_in_several_places_is_one_switch() -> None:
    printed = "y = [1]  # [E9.1]\ny.append(x)\ny.append(2)  # [E9.1]\nreturn y"
    corrected = "y = [3]  # [E9.1]\ny.append(x)\ny.append(4)  # [E9.1]\nreturn y"
    assert results(printed, corrected) == {frozenset(): [1, 0, 2], frozenset({"E9.1"}): [3, 0, 4]}


def test_two_runs_of_one_erratum_around_another() -> None:
    printed = "y = [1]  # [E9.1]\ny.append(2)  # [E9.2]\ny.append(3)  # [E9.1]\nreturn y"
    corrected = "y = [4]  # [E9.1]\ny.append(5)  # [E9.2]\ny.append(6)  # [E9.1]\nreturn y"
    got = results(printed, corrected)
    assert got[frozenset({"E9.1"})] == [4, 2, 6]
    assert got[frozenset({"E9.2"})] == [1, 5, 3]


def test_loops_and_nested_indentation() -> None:
    printed = """
    out = []
    for i in range(2):  # [E9.1]
        if i % 2 == x:
            out.append(i)  # [E9.2]
        else:
            for j in range(2):
                out.append((i, j))
    return out
    """
    corrected = """
    out = []
    for i in range(3):  # [E9.1]
        if i % 2 == x:
            if i:  # [E9.2]
                out.append(-i)  # [E9.2]
        else:
            for j in range(2):
                out.append((i, j))
    return out
    """
    got = results(printed, corrected)
    assert got[frozenset()] == [0, (1, 0), (1, 1)]
    assert got[frozenset({"E9.1"})] == [0, (1, 0), (1, 1), 2]
    assert got[frozenset({"E9.2"})] == [(1, 0), (1, 1)]
    assert got[frozenset({"E9.1", "E9.2"})] == [(1, 0), (1, 1), -2]


def test_repeated_equal_lines_cannot_mislead_the_alignment() -> None:
    """Many identical untagged lines: a difference algorithm may pair the wrong ones, fixed points cannot."""
    printed = "y = [x]\ny.append(1)\ny.append(1)\ny.append(0)  # [E9.1]\ny.append(1)\nreturn y"
    corrected = "y = [x]\ny.append(1)\ny.append(1)\ny.append(9)  # [E9.1]\ny.append(1)\nreturn y"
    assert results(printed, corrected) == {frozenset(): [0, 1, 1, 0, 1], frozenset({"E9.1"}): [0, 1, 1, 9, 1]}


def test_blank_lines_do_not_matter_and_comments_count() -> None:
    old, new = pair("y = x\n\n# why\nreturn y", "y = x\n# why\n\nreturn y")
    assert blocks(old, new) == [AlignedBlock(None, *2 * (("    y = x", "    # why", "    return y"),))]
    assert edition(old, new, ())(3) == 3
    with pytest.raises(EditionError, match="name no erratum"):
        blocks(*pair("y = x\n# why\nreturn y", "y = x\n# why not\nreturn y"))


def test_blocks_of_equal_text_are_joined() -> None:
    aligned = blocks(three_printed, three_corrected)
    assert [b.erratum for b in aligned] == [None, "E9.1", None, "E9.2", None]
    assert len(aligned[1].printed) == 1
    assert len(aligned[1].corrected) == 2


# ---------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("printed", "corrected", "message"),
    [
        ("y = x\nreturn y", "y = x + 1\nreturn y", "name no erratum"),
        ("y = x\nreturn y", "y = x\ny += 1\nreturn y", "name no erratum"),
        ("y = x  # [E9.1] [E9.2]\nreturn y", "y = 2  # [E9.1]\nreturn y", "names two errata"),
        ("y = x  # [E9.1]\nreturn y", "y = x  # [E9.1]\nreturn y", "is the same in both bodies"),
        ("y = x  # [E9.1]\nreturn y", "y = x  # [E9.1]\ny = 2  # [E9.1]\nreturn y", "is the same in both bodies"),
        (
            "y = 1  # [E9.1]\nz = 1  # [E9.2]\nreturn x",
            "z = 2  # [E9.2]\ny = 2  # [E9.1]\nreturn x",
            "come in different orders",
        ),
    ],
)
def test_bodies_that_do_not_say_why_they_differ_are_refused(printed: str, corrected: str, message: str) -> None:
    with pytest.raises(EditionError, match=message):
        blocks(*pair(printed, corrected))


def test_errata_that_only_go_together_are_refused_apart() -> None:
    printed = "if x:  # [E9.1]\n    y = 1  # [E9.2]\nreturn x"
    corrected = "y = 2  # [E9.2]\nreturn x"
    old, new = pair(printed, corrected)
    assert edition(old, new, {"E9.1", "E9.2"})(7) == 7
    with pytest.raises(EditionError, match="these errata only go together"):
        edition(old, new, {"E9.2"})


def test_different_parameters_are_refused() -> None:
    def other(x: int, y: int) -> int:
        return x

    def one(x: int) -> int:
        return x

    with pytest.raises(EditionError, match="must take the same parameters"):
        edition(other, one, ())


def test_bodies_of_two_modules_are_refused() -> None:
    with pytest.raises(EditionError, match="must live in one module"):
        edition(make("g", "return x", "editions_a"), make("g", "return x", "editions_b"), ())


def test_closures_are_refused() -> None:
    captured = 3

    def one(x: int) -> int:
        return x + captured

    def two(x: int) -> int:
        return x + captured

    with pytest.raises(EditionError, match="closes over captured"):
        edition(one, two, ())


def test_what_is_no_plain_function_is_refused() -> None:
    with pytest.raises(EditionError, match="not a plain function"):
        body_lines(AlignedBlock)


# ------------------------------------------------------------------------------------------- line marks


def marked(
    x: int,
    y: int = 2,
) -> int:
    # L1 a comment before the first statement counts
    z = x  # L2–4
    # L0-Lipschitz and L1-smooth are constants, not marks; so is "L7" without a hash
    return z + y  # L5 [E9.9]


def test_marks_ranges_and_comments_before_the_first_statement() -> None:
    assert line_marks(marked) == [1, 2, 3, 4, 5]
    first = inspect.getsourcelines(marked)[1]
    assert [place - first for place, _ in numbered_body(marked)] == [4, 5, 6, 7]
    assert tags(body_lines(marked)[-1]) == ["E9.9"]
    assert tags("x = '[E9.9]'") == []
    assert marks_in("pass  # L12") == [12]
    assert marks_in("# L1-smooth") == []


def test_a_body_on_the_line_of_def_is_refused() -> None:
    def short(x: int) -> int: return x  # fmt: skip

    with pytest.raises(EditionError, match="on a line of its own"):
        body_lines(short)
