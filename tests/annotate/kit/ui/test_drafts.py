"""Keep what is typed into a page while other pages are open."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.helpers.machine import ROOT

FIELDS = ("text_input", "text_area")
KEEPING = {"persist_state", "bind", "on_change", None}  # None: the caller's `**` says it
BRIEF = {  # the first words of fields that hold a search, a password, or a confirmation: nobody misses these
    "answers_words", "search", "confirm_", "copy_name", "vouched_name", "_path", "_words", "first_name", "password",
}  # fmt: skip


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func.attr, node


def test_typed_texts_are_kept_and_forms_hold_only_passwords() -> None:
    lost, forms = [], set()
    for folder in ("features", "kit", "pages", "shell"):
        for path in (ROOT / "annotate" / folder).rglob("*.py"):
            for name, call in calls(path):
                words = {word.arg: ast.unparse(word.value) for word in call.keywords}
                is_brief = any(part in words.get("key", "") for part in BRIEF) or "type" in words
                if name in FIELDS and not KEEPING & words.keys() and not is_brief:
                    lost.append(f"{path.name}:{call.lineno}")
                if name == "form":  # what stands in a form is lost until it is sent
                    forms.add(path.stem)
    assert lost == [] and forms == {"account", "first_administrator"}
