"""What the site shows beside docs/: the repository's own pages, whose links lead to the site's."""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
BESIDE = ("CONTRIBUTING.md", "CHANGELOG.md", "LICENSE")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that lie in the repository's root."""
    for name in BESIDE:
        files.append(File.generated(config, name, content=_of_the_root((ROOT / name).read_text(encoding="utf-8"))))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links to the root's pages lead to their place in the site."""
    return re.sub(rf"\]\(\.\./({'|'.join(BESIDE)})", r"](\1", markdown) if page.url.count("/") <= 1 else markdown


def _of_the_root(text: str) -> str:
    return text.replace("](docs/", "](")
