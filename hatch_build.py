"""What a wheel says of where the project lives, which is known only where it is published: a hook of hatchling.

`DPSO_URL=… make dist` (the release workflow sets it) gives the package its addresses and makes the links of its
description absolute. Without it there are none, and relative links, which would be dead on an index, become words.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^):\s]+)\)")


def absolute(text: str, url: str) -> str:
    """A README with its relative links led to the project's address, or without them where there is none."""

    def link(match: re.Match[str]) -> str:
        image, words, target = match.groups()
        if not url:
            return f"*{words}*" if image else words
        return f"{image}[{words}]({url}/{'raw' if image else 'blob'}/main/{target})"

    return _LINK.sub(link, text)


def addresses(url: str) -> dict[str, str]:
    """The project's links, as an index shows them."""
    places = {"Source": "", "Issues": "/issues", "Changelog": "/blob/main/CHANGELOG.md"}
    return {name: url + place for name, place in places.items()} if url else {}


class PublishedMetadata(MetadataHookInterface):
    """What hatchling calls when it makes the metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in description and addresses."""
        url = os.environ.get("DPSO_URL", "").rstrip("/")
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, url)}
        metadata["urls"] = addresses(url)
