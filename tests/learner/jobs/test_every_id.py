"""Every id that came in goes out: of equal texts, in every file, page of the API, and count, once."""

import csv
import json
from collections import Counter
from itertools import combinations, product
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.features.archives.project_export import export_project
from allpairs.annotate.features.archives.project_import import import_project
from allpairs.annotate.features.download import match_export
from allpairs.annotate.features.explore import matches
from allpairs.annotate.features.groups.groups import answered_pairs, groups_of_matches, matches_at
from allpairs.annotate.features.groups.kept_groups import read_groups
from allpairs.annotate.features.labels.export import export_labels, page_of_labels
from allpairs.annotate.features.labels.formats import Form
from allpairs.annotate.kit.jobs.prepared import prepared_best_pairs, rounds_of
from allpairs.db.domain import AnswerKind, Kind, Side
from allpairs.db.projects.jobs import EXPLORE, MATCHES, add_job
from allpairs.db.results.matches import read_matches
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, Identifier, Item
from allpairs.learner.jobs import explore
from allpairs.learner.jobs import matches as steps
from allpairs.learner.light.groups.grouping import USUAL
from tests.helpers.factories import make_project
from tests.helpers.projects.rounds import run, texts

Row = dict[str, str]


@pytest.fixture(params=[Kind.SYMMETRIC, Kind.BIPARTITE])
def project(engine: Engine, encoder: Path, request: pytest.FixtureRequest) -> int:
    """Return a project with equal texts in each list, and of two lists across them; people called two pairs."""
    left, right = (texts()[:6], []) if request.param == Kind.SYMMETRIC else (texts()[:4], texts()[3:6])
    project_id = make_project(engine, left, right, encoder=str(encoder), first=2)
    with writing(engine) as session:
        items = session.scalars(select(Item).order_by(Item.id)).all()
        for item, number in ((items[0], 1), (items[0], 2), (items[3], 1), (items[-1], 1)):
            name = f"{item.side}-{item.id}-{number}"
            session.add(Identifier(project_id=project_id, side=item.side, external_id=name, item_id=item.id))
    run(engine, project_id)
    with writing(engine) as session:
        for place, kind in ((-1, AnswerKind.POSITIVE), (-2, AnswerKind.NEGATIVE)):
            session.add(Answer(project_id=project_id, left_id=items[0].id, right_id=items[place].id, annotator="ann",
                               answer=kind, key=kind.value))  # fmt: skip
    with writing(engine) as session:
        jobs = [add_job(session, project_id, kind).id for kind in (EXPLORE, MATCHES)]
    explore.prepare(jobs[0], project_id, 0)
    steps.find_matches(jobs[1], project_id, 0, -1.0, None, *USUAL.words)
    return project_id


def ids_of_texts(engine: Engine) -> list[tuple[str, list[str]]]:
    """Return the side and the ids of each text."""
    with reading(engine) as session:
        rows = session.execute(select(Identifier.item_id, Identifier.side, Identifier.external_id)).all()
    items = {item: str(side) for item, side, _ in rows}
    return [(side, sorted(name for of, _, name in rows if of == item)) for item, side in sorted(items.items())]


def read(path: Path) -> list[Row]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def pairs(rows: list[Row]) -> Counter[tuple[str, str]]:
    return Counter(tuple(sorted((row["id1"], row["id2"]))) for row in rows)  # type: ignore[misc]


def between(one: list[str], other: list[str]) -> Counter[tuple[str, str]]:
    return Counter(tuple(sorted(pair)) for pair in product(one, other))  # type: ignore[misc]


def test_every_id_of_a_project_goes_out_once(engine: Engine, project: int, tmp_path: Path) -> None:
    known = ids_of_texts(engine)
    every = Counter(name for _, names in known for name in names)
    lists = [[name for side, names in known if side == one for name in names] for one in Side]
    one_list, no, yes = not lists[1], between(known[0][1], known[-2][1]), between(known[0][1], known[-1][1])
    all_pairs = Counter(combinations(sorted(every), 2)) if one_list else between(*lists)
    expected = all_pairs - no

    file = tmp_path / "pairs.csv"
    match_export.write_matches(project, "pairs", file)
    exported, about = read(file), read_matches(project)
    assert pairs(exported) == expected
    assert about is not None and about.rows == len(exported)
    round_ = next(one for one in rounds_of(engine, project) if one.matcher.number == 0)
    assert matches.write_round_matches(engine, round_, -1.0, file) == len(exported)
    names = ("id1", "id2", "p", "reason", "text1", "text2")
    assert {tuple(row[name] for name in names) for row in read(file)} == {
        tuple(row[name] for name in names) for row in exported
    }
    best = prepared_best_pairs(round_)
    answered = answered_pairs(engine, round_, best)
    above = matches_at(best, -1.0, answered)
    assert len(above) == about.pairs
    shown = groups_of_matches(
        round_.matcher, above, -1.0, Kind.SYMMETRIC if one_list else Kind.BIPARTITE, answered
    ).groups
    assert (len(shown.size), int(shown.size.sum())) == (about.groups, about.grouped)

    match_export.write_matches(project, "groups", file)
    assert Counter(row["id"] for row in read(file)) == every
    kept = read_groups(engine, project, 0, 100)
    assert Counter(name for group in kept.groups for text in group.texts for name in text.ids) == every
    assert kept.update is not None and (kept.update.groups, kept.update.texts) == (len(kept.groups), about.grouped)

    for form in Form:
        if form == Form.IMPLIED and not one_list:
            continue
        export_labels(engine, "Questions", file, form)
        if form == Form.LABELS:
            assert pairs(read(file)) == yes + no
        if form == Form.HISTORY:
            also = [{row["id1"], row["id2"], *json.loads(row["also1"] or "[]"), *json.loads(row["also2"] or "[]")}
                    for row in read(file)]  # fmt: skip
            assert also == [{name for pair in said for name in pair} for said in (yes, no)]
    page = page_of_labels(engine, project, 0, 10)
    assert pairs(page.rows) == yes + no

    export_project(engine, "Questions", tmp_path / "all.zip")
    import_project(engine, tmp_path / "all.zip", "Copy", encoder="tiny")
    assert Counter((side, tuple(names)) for side, names in ids_of_texts(engine)) == Counter(
        (side, tuple(names)) for side, names in known for _ in range(2)
    )
