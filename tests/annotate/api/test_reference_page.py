"""The page that describes the REST API: complete, safe, and readable without scripts."""

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from urllib.parse import urljoin

import pytest
from sqlalchemy import Engine

from allpairs.annotate.api.openapi import description
from allpairs.annotate.api.operations import OPERATIONS
from allpairs.annotate.api.reference_page import reference_page
from allpairs.annotate.frame.web.base_path import DESCRIPTION, REFERENCE
from tests.helpers.web import browser, site


class Read(HTMLParser):
    """The page's elements, ids and links; every element that is opened must be closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        if tag != "meta":
            self.open.append(tag)
        self.ids += [str(found["id"])] if "id" in found else []
        self.links += [str(found["href"])] if "href" in found else []

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_has_every_address_and_body_and_is_open_to_all(engine: Engine) -> None:
    asking = browser(site())
    found = asking.get(f"http://localhost{REFERENCE}")
    assert found.status_code == 200 and found.headers["content-type"] == "text/html; charset=utf-8"
    policy = found.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src" not in policy
    page = Read(found.text)
    assert not page.open and len(set(page.ids)) == len(page.ids)
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    document = asking.get(f"http://localhost{DESCRIPTION}").json()
    bodies = {f"body-{name}" for name in document["components"]["schemas"]}
    assert {one.name for one in OPERATIONS} | bodies <= set(page.ids)
    outside = [link for link in page.links if not link.startswith("#")]
    assert [urljoin(REFERENCE, link) for link in outside] == [DESCRIPTION]
    assert not {"script", "link", "img", "iframe"} & {tag for tag, _ in page.tags}
    for one in OPERATIONS:
        assert f"<code>{one.method} {one.path}</code>" in found.text


def test_the_page_is_made_for_everybody_to_read() -> None:
    page = Read(reference_page(json.loads(description(OPERATIONS))))
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and all(later <= level + 1 for level, later in pairwise(levels))
    assert ("html", {"lang": "en"}) in page.tags
    assert {found.get("scope") for tag, found in page.tags if tag == "th"} == {"row", "col"}


def test_texts_of_the_document_are_text() -> None:
    document = json.loads(description(OPERATIONS).replace("Show one project", "<script>alert(`1`)</script>"))
    assert "&lt;script&gt;alert(<code>1</code>)" in reference_page(document)


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/v1", "/api/v1/nothing"])
def test_other_addresses_name_the_page(engine: Engine, path: str) -> None:
    found = browser(site(forced=False)).get(f"http://localhost{path}")
    assert found.status_code == 404 and found.headers["content-type"] == "application/problem+json"
    assert REFERENCE in found.json()["detail"]
    assert browser(site()).get(f"http://localhost{path}").status_code == 401
