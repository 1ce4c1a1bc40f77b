"""Count names that do not say what a value is, names that exist twice, and lines that a formatter may not touch.

    python -m scripts.names [--list]

It reads the product. Fails if a count is above its limit; `--list` shows where each one is.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
TREES = ("allpairs", "annotate", "db", "learner")
# Pronouns, participles and other words that are no names of values.
WORDS = """
about again all_ alone any_ apart asked at away beside both but by done each every for_ found from_ given gone had
has have hear heed held here how in_ it its kept made mine of one ones other others ours own said seen shown so some
such taken that theirs them then there these they this those told too under until wanted what when where which who
whom whose why with_ yours
"""
VAGUE = frozenset(WORDS.split())
# Names that a framework gives, and that many modules must therefore have.
SHARED = frozenset({"main", "upgrade", "downgrade"})
VAGUE_SHARE = 0.01  # of all bound names
SIMULTANEOUS = 1  # assignments of several values at once, in 1,000 lines
FORMAT_MARKS = 20  # `fmt:` comments


def sources() -> dict[Path, str]:
    """Return the text of each Python file of the product."""
    return {path: path.read_text("utf-8") for tree in TREES for path in sorted((ROOT / tree).rglob("*.py"))}


def bound_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield each name that is bound to a value, with its line, but those of comprehensions of one line."""
    short_lived = {
        id(name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp)
        and node.lineno == node.end_lineno
        for generator in node.generators
        for name in ast.walk(generator.target)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in short_lived:
            yield node.id, node.lineno
        elif isinstance(node, ast.arg) and node.arg not in ("self", "cls"):
            yield node.arg, node.lineno
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name, node.lineno


def simultaneous_assignments(tree: ast.AST) -> Iterator[int]:
    """Yield the line of each assignment of several values to several names."""
    for node in ast.walk(tree):
        several = isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)
        if several and any(isinstance(target, ast.Tuple) for target in node.targets):
            yield node.lineno


def definitions(tree: ast.Module) -> Iterator[tuple[str, str, int]]:
    """Yield the kind, name and line of each class, and of each public function of the module itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield "class", node.name, node.lineno
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            yield "function", node.name, node.lineno


def is_command_line(path: Path) -> bool:
    """Return whether the functions of this file are commands, which are named as one types them."""
    return path.name in ("cli.py", "__main__.py") or path.parent.name in ("cli", "versions")


def report(counts: dict[str, list[str]], limits: dict[str, float], show: bool) -> int:
    """Print each count beside its limit, and where the cases are; return how many counts are above."""
    above = 0
    for title, cases in counts.items():
        print(f"{title}: {len(cases)} (at most {limits[title]:.0f})")
        if show or len(cases) > limits[title]:
            print("\n".join(f"    {case}" for case in cases))
        above += len(cases) > limits[title]
    return above


def main(arguments: list[str]) -> int:
    """Count, print, and return 1 if a count is above its limit."""
    vague: list[str] = []
    simultaneous: list[str] = []
    marks: list[str] = []
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    names = 0
    lines = 0
    for path, text in sources().items():
        tree = ast.parse(text)
        file = path.relative_to(ROOT)
        lines += text.count("\n")
        for name, line in bound_names(tree):
            names += 1
            if name.strip("_").lower() in VAGUE or name in VAGUE:
                vague.append(f"{file}:{line} {name}")
        simultaneous += [f"{file}:{line}" for line in simultaneous_assignments(tree)]
        marks += [f"{file}:{line}" for line, content in enumerate(text.split("\n"), 1) if "# fmt:" in content]
        for kind, name, line in definitions(tree):
            if name not in SHARED and not (kind == "function" and is_command_line(path)):
                places[kind, name].append(f"{file}:{line}")
    repeated: dict[str, list[str]] = {kind: [] for kind in ("class", "function")}
    for (kind, name), files in sorted(places.items()):
        if len(files) > 1:
            repeated[kind].append(f"{name}: {', '.join(files)}")
    counts = {
        f"vague names of {names:,}": vague,
        f"simultaneous assignments in {lines:,} lines": simultaneous,
        "format marks": marks,
        "repeated class names": repeated["class"],
        "repeated public function names": repeated["function"],
    }
    limits = dict(zip(counts, (VAGUE_SHARE * names, SIMULTANEOUS * lines / 1_000, FORMAT_MARKS, 0, 0), strict=True))
    return int(report(counts, limits, "--list" in arguments) > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
