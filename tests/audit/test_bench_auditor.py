"""The benchmark runs on every kind of output and its tables say what was measured."""

from __future__ import annotations

from audit.bench import auditor


def test_a_small_run_renders():
    names = ["laplace", "scale-inverted", "svt-3"]
    result = auditor.run(lambda _: None, samples=(1000,), seeds=2, alarms=4, alarm_samples=200, names=names)
    rows = {row["name"]: row for row in result["rows"]}
    assert list(rows) == names
    assert rows["laplace"]["alarms"]["runs"] == 4
    assert rows["scale-inverted"]["until_rejection"] is not None
    assert rows["laplace"]["until_rejection"] is None
    text = auditor.render(result)
    assert text.count("| laplace |") == 2
    assert f"{rows['laplace']['at']['1000']['ideal']:.2f}" in text


def test_excess_of_false_alarms_is_judged_at_one_in_a_thousand():
    assert not auditor.excess(73, 1000)
    assert auditor.excess(74, 1000)
    assert not auditor.excess(0, 1000)
