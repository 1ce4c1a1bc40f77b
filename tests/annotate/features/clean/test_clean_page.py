"""The page Clean list."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Engine, select
from starlette.applications import Starlette
from starlette.testclient import TestClient

from allpairs.annotate.features.download.routes import routes
from allpairs.annotate.features.projects.projects import create_project
from allpairs.annotate.frame.web.sessions import Visit
from allpairs.db.corpus.corpus import Columns, stage_corpus
from allpairs.db.corpus.split import split_corpus
from allpairs.db.domain import Settings
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Job, StoredModel
from tests.helpers.factories import make_project
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page as opened
from tests.helpers.pages import said

open_page = partial(opened, ROOT / "annotate" / "pages" / "clean.py")


@pytest.fixture
def project(engine: Engine, tmp_path: Path) -> int:
    path = tmp_path / "customers.csv"
    path.write_text("id,name\n1,Anna\n2,Anna\n3,Bea\n4,Carl\n")
    corpus = stage_corpus(path, Columns("id", ("name",)), keeps_rows=True)
    return create_project(engine, "Customers", split_corpus(corpus, 0.0, np.random.default_rng(0)), Settings())


def test_the_page_counts_and_offers_the_list(engine: Engine, project: int) -> None:
    page = open_page()
    assert "4 rows, 1 double in 1 group: the clean list has 3 rows." in said(page)
    links = {link.proto.label: link.proto.url for link in page.get("link_button")}
    assert "table=clean&suffix=csv" in links["Download clean list"]
    assert page.dataframe[0].value["name"].tolist() == ["Anna", "Bea", "Carl"]
    page.selectbox(key="clean_keep").select("newest").run()
    page.selectbox(key="clean_newest_by").select("id").run()
    assert not page.exception
    assert page.dataframe[0].value["id"].tolist() == ["2", "3", "4"]
    links = {link.proto.label: link.proto.url for link in page.get("link_button")}
    assert "keep=newest&newest_by=id" in links["Download clean list"]


def test_doubles_are_searched_by_the_newest_model(engine: Engine, project: int) -> None:
    page = open_page()
    page.button(key="find_doubles").click().run()
    assert "no model yet" in said(page)
    with writing(engine) as session:
        session.add(StoredModel(project_id=project, number=1, encoder="tiny", w=10.0, b=-5.0))
    page = open_page()
    page.button(key="find_doubles").click().run()
    assert not page.exception
    with reading(engine) as session:
        assert session.scalars(select(Job.kind).where(Job.project_id == project)).all() == ["matches"]


def test_a_list_whose_rows_are_not_kept(engine: Engine) -> None:
    make_project(engine, ["a", "b"])
    assert "not kept" in said(open_page())


def test_a_new_version_is_compared_and_taken_over(engine: Engine, project: int, tmp_path: Path) -> None:
    path = tmp_path / "march.csv"
    path.write_text("id,person\n1,Anna\n3,Beate\n4,Carl\n5,Dora\n")
    with writing(engine) as session:
        session.add(StoredModel(project_id=project, number=1, encoder="tiny", w=10.0, b=-5.0))
    page = open_page()
    assert page.get("file_uploader") and Visit("clean").takes_files
    page.text_input(key="new_version_path").input(str(path)).run()
    assert "'name'" in said(page)  # which column the file lacks
    page.selectbox(key="new_version_column_name").select("person").run()
    assert "1 new, 1 changed, 1 gone, 2 the same" in said(page)
    assert not page.exception
    page.button(key="new_version_take_over").click().run()
    assert not page.exception
    assert "4 rows, no doubles so far." in said(page)
    assert "1 new row, none is unsure." in said(page)
    assert "new_version_take_over" not in [button.key for button in page.button]  # nothing is left to do
    links = {link.proto.label: link.proto.url for link in page.get("link_button")}
    answer = TestClient(Starlette(routes=routes())).get(f"/{links['New rows']}")
    assert answer.content.decode("utf-8-sig").split() == ["id,person,group,keep,sure,kept_id", "5,Dora,,yes,,5"]
    with reading(engine) as session:
        assert session.scalars(select(Job.kind).where(Job.project_id == project)).all() == ["matches"]
