"""Every command once, from an installed wheel with the extra `paper`, in a folder of its own.

`python -I tests/helpers/wheel_journey.py` with the Python of that environment; leaves with 1 and says which command did
not end as it should.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

MODULE = """
def noisy(dataset, rng):
    return sum(dataset) + rng.laplace(0, 1)

def total(dataset):
    return float(sum(dataset))

def client(case):
    return {"unsupported": "nothing is"}
"""
PAIR = json.dumps({"dataset": [0, 1], "neighbour": [1, 1]})
PAIRS = json.dumps({"pairs": [{"dataset": [0, 1], "neighbour": [1, 1]}]})
COMMANDS: list[tuple[list[str], int, str]] = [
    (["audit", "--level", "quick", "--only", "lem:adv_comp", "--out", "out"], 0, "0 not as recorded"),
    (["test", "mine:noisy", "--epsilon", "1", "--samples", "2000", "--data", PAIR], 0, "CONSISTENT"),
    (["sensitivity", "mine:total", "--claimed", "1", "--data", PAIRS], 0, "WITHIN"),
    (["crosscheck", "gll-oracle", "--python", "mine:client"], 3, "nothing is"),
    (["trace", "lem:oracle"], 0, "Lemma 5"),
    (["errata", "E3.1", "--run"], 0, "E3.1"),
    (["prove", "lem:moreau"], 0, "proved"),
    (["calibrate", "noisy-sfw", "--epsilon", "1", "--delta", "1e-6"], 0, "tight"),
    (["vectors", "list"], 0, "gll-oracle"),
    (["bench"], 2, "checkout"),
]
"""What is typed, how it ends, and a word of what it says."""


def main() -> int:
    """Run them all."""
    program = Path(sys.executable).with_name("dpso")
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "mine.py").write_text(MODULE, encoding="utf-8")
        helped = subprocess.run([program, "--help"], cwd=folder, capture_output=True, text=True, check=True).stdout
        known = set(re.findall(r"^    (\w+)\b", helped, re.MULTILINE))
        missed = known - {words[0] for words, _, _ in COMMANDS}
        for words, code, word in COMMANDS:
            done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True)
            if done.returncode != code or word not in done.stdout + done.stderr or "Traceback" in done.stderr:
                failed.append(f"dpso {' '.join(words)}: exit {done.returncode}, {(done.stdout + done.stderr)[-400:]}")
    print(
        "\n".join(failed) or f"{len(COMMANDS)} commands end as they should", file=sys.stderr if failed else sys.stdout
    )
    if missed or not known:
        print(f"not tried: {', '.join(sorted(missed)) or 'any command'}", file=sys.stderr)
    return int(bool(failed or missed or not known))


if __name__ == "__main__":
    sys.exit(main())
