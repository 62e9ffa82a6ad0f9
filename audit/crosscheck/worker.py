"""A Python client in a process of its own: whatever it does to its process, the cross-check goes on.

`python -m audit.crosscheck.worker MODULE:CALLABLE PATH` reads one request a line and writes one reply a line. What the
client prints goes to stderr.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from audit.crosscheck.replies import ClientError, plain, shortened
from audit.runtime.errors import InputError
from audit.runtime.loading import load_callable


def answered(target: Callable[[Any], Any], case: Any) -> dict[str, Any]:
    """The reply to a case. ValueError is a refusal, NotImplementedError "not supported", all else a fault."""
    try:
        reply = target(case)
    except ValueError as error:
        return {"reject": str(error)}
    except NotImplementedError as error:
        return {"unsupported": str(error)}
    except SystemExit as error:
        return {"fault": f"called sys.exit({error.code!r})"}
    except Exception as error:  # noqa: BLE001 - whatever foreign code raises is reported, case by case
        return {"fault": f"raised {type(error).__name__}: {shortened(str(error))}"}
    if not isinstance(reply, Mapping):
        return {"fault": f"returned {type(reply).__name__}, not a dict with output or reject"}
    try:
        return dict(plain(reply))
    except ClientError as error:
        return {"fault": str(error)}


def main(place: str, path: str) -> None:
    """Load the client, then answer until stdin ends."""
    with os.fdopen(os.dup(0), encoding="utf-8") as requests, os.fdopen(os.dup(1), "w", encoding="utf-8") as replies:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        sys.path[:] = json.loads(path)
        try:
            target: Any = load_callable(place, "--python ")
        except InputError as error:
            target = str(error)
        for line in requests:
            request = json.loads(line)
            if request["op"] == "hello":
                reply: dict[str, Any] = {"problem": target} if isinstance(target, str) else {"ready": True}
            else:
                reply = answered(target, request["case"])
            print(_line(reply), file=replies, flush=True)


def _line(reply: dict[str, Any]) -> str:
    try:
        return json.dumps(reply)
    except (ValueError, RecursionError) as error:
        return json.dumps({"fault": f"returned a reply that is no JSON: {shortened(error)}"})


if __name__ == "__main__":
    main(*sys.argv[1:3])
