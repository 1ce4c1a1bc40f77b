"""A model trained on records: its columns are compared one by one, in the project and in other people's programs."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import Engine, select

from allpairs import InputError, Matcher
from allpairs.annotate.features.projects.projects import create_project
from allpairs.annotate.features.publish.model_export import usage
from allpairs.annotate.kit.uploads import Source, load
from allpairs.db.corpus.corpus import Columns, load_corpus
from allpairs.db.domain import Settings
from allpairs.db.projects.projects import project_of
from allpairs.db.schema.engine import artifacts, reading
from allpairs.db.schema.tables import Item, StoredModel
from allpairs.learner.files.match import Cut, match_corpus
from allpairs.learner.jobs.data.project_data import read_project
from allpairs.learner.jobs.data.stored_rescored import load_rescored
from allpairs.learner.search.inner_product import BLENDED, scores
from tests.helpers.projects.rounds import answer_batch, half, run, texts
from tests.helpers.tiny import tiny_encoder

COLUMNS = Columns("id", ("title", "price", "sku"))


@pytest.fixture
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    titles = texts(60)
    prices = [f"{price:.2f}" for price in rng.uniform(1, 99, len(titles))]
    prices[3] = ""
    return pd.DataFrame({"id": range(60), "title": titles, "price": prices, "sku": [f"x{at // 2}" for at in range(60)]})


WIDE = {code: code + 0xFEE0 for code in range(ord("!"), ord("~") + 1)}  # NFKC takes full width back


def trained(engine: Engine, table: pd.DataFrame, folder: Path) -> StoredModel:
    """Return the matcher of a project of these records after a labelled batch."""
    table.to_csv(folder / "records.csv", index=False)
    encoder = tiny_encoder(folder, [*table["title"], "0 1 2 3 4 5 6 7 8 9 . x"])
    settings = Settings(
        encoder=str(encoder), first=30, neighbours=10, epochs=1, learning_rate=1e-3, hubness=0.25, lexical=True,
        second_stage="on", evaluation_share=0.3, first_batch="most-similar",
    )  # fmt: skip
    project_id = create_project(engine, "Records", load(Source(folder / "records.csv", COLUMNS)), settings)
    run(engine, project_id)
    answer_batch(engine, project_id, half)
    run(engine, project_id)
    with reading(engine) as session:
        return session.scalars(
            select(StoredModel).where(StoredModel.project_id == project_id, StoredModel.number == 1)
        ).one()


def test_a_model_of_records_scores_data_frames_like_its_project(
    engine: Engine, table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = trained(engine, table, tmp_path)
    assert row.folder is not None and row.w is not None
    with reading(engine) as session:
        data = read_project(session, row.project_id)
        items = session.scalars(select(Item.text).where(Item.project_id == row.project_id).order_by(Item.id)).all()
    assert list(data.dataset.whole_texts) == list(items) and items[0] == " . ".join(
        table.iloc[0][["title", "price", "sku"]]
    )
    assert data.dataset.texts[0] == " . ".join(table.iloc[0][["title", "sku"]])
    folder = artifacts() / Path(row.folder).parent
    first = scores(np.load(folder / "vectors.npy"), *np.triu_indices(60, 1), BLENDED)
    wanted = load_rescored(folder, 60).replace(*np.triu_indices(60, 1), first)
    matcher = Matcher.load(artifacts() / row.folder)
    left, right = (table.iloc[rows] for rows in np.triu_indices(60, 1))
    assert matcher.score(left, right) == pytest.approx(wanted, abs=1e-6)
    assert matcher.score(left.assign(price="", sku=""), right) != pytest.approx(wanted, abs=1e-3)
    best = matcher.match(table, top=20)
    assert best["score"].to_numpy() == pytest.approx(np.sort(wanted)[::-1][:20], abs=1e-6)
    assert best["left_text"][0] == items[best["left"][0]]
    wide = table.map(lambda value: str(value).translate(WIDE))
    assert matcher.score(wide.iloc[left.index], right) == pytest.approx(matcher.score(left, right), abs=1e-6)
    shown = matcher.match(wide, top=1)["left_text"][0]
    assert shown.startswith(wide["title"][best["left"][0]])  # people see the original
    blank = table.iloc[:2].assign(title="", price=None, sku="\u200b")
    assert matcher.probability(blank, blank).max() < 0.01 and not len(matcher.match(blank, threshold=matcher.threshold))
    found = matcher.search(table, k=1)
    assert found["score"].max() == pytest.approx(best["score"][0], abs=1e-6)

    monkeypatch.chdir(tmp_path)
    (tmp_path / "records-round-1").symlink_to(artifacts() / row.folder)
    with reading(engine) as session:
        lines = usage(project_of(session, row.project_id), row).whole
    lines = lines.replace("…", "12.50")  # a value that every column can have
    exec(lines, program := {})
    assert list(program["left"].columns) == ["title", "price", "sku"]
    score = program["matcher"].score(program["left"], program["right"])
    assert program["matches"]["score"].to_numpy() == pytest.approx(score, abs=1e-6)

    corpus = load_corpus(tmp_path / "records.csv", text_columns=COLUMNS.texts)
    match_corpus(str(artifacts() / row.folder), corpus, Cut(top=20), tmp_path / "found.csv", explain=True)
    written = pd.read_csv(tmp_path / "found.csv")
    assert written["score"].to_numpy() == pytest.approx(best["score"].to_numpy(), abs=1e-5)
    assert written["why"].str.contains("sku").any()


def test_a_data_frame_needs_the_columns_of_the_model(engine: Engine, table: pd.DataFrame, tmp_path: Path) -> None:
    row = trained(engine, table, tmp_path)
    matcher = Matcher.load(artifacts() / str(row.folder))
    with pytest.raises(InputError, match="'price' but id, title, cost, sku"):
        matcher.match(table.rename(columns={"price": "cost"}), top=5)
    with pytest.raises(InputError, match="two data frames"):
        matcher.score(table, list(table["title"]))
    assert np.isfinite(matcher.score(list(table["title"]), list(table["title"]))).all()  # columns are missing
