"""What the site shows beside docs/: the repository's own pages, whose links lead to the site's."""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
# Where the site has them. A file system may take SECURITY.md for docs/security.md.
BESIDE = {name: name for name in ("CONTRIBUTING.md", "CHANGELOG.md", "LICENSE")} | {"SECURITY.md": "report-a-hole.md"}
LINK = re.compile(rf"\]\((?:\.\./)?({'|'.join(map(re.escape, BESIDE))})")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that lie in the repository's root."""
    for name, page in BESIDE.items():
        files.append(File.generated(config, page, content=_of_the_root((ROOT / name).read_text(encoding="utf-8"))))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links to the root's pages lead to their place in the site."""
    return LINK.sub(lambda link: f"]({BESIDE[link[1]]}", markdown) if page.url.count("/") <= 1 else markdown


def _of_the_root(text: str) -> str:
    return text.replace("](docs/", "](")
