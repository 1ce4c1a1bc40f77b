"""Every act that names a project or something of one, for somebody who has another role in that project."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Engine
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from allpairs.annotate.api.operations import OPERATIONS
from allpairs.annotate.api.routes import api
from allpairs.annotate.features.archives import project_import
from allpairs.annotate.features.download import routes as download_routes
from allpairs.annotate.features.experiments import adopt_encoder, experiments
from allpairs.annotate.features.explore import search
from allpairs.annotate.features.groups import decide, decision_files
from allpairs.annotate.features.label import end_audit, own_answers, pair_reason, pick_pair, queue
from allpairs.annotate.features.labels.import_labels import Choices, import_labels
from allpairs.annotate.features.papers import mined_pairs, mined_sample, runs, suggested_questions
from allpairs.annotate.features.projects import history, lifecycle, list_view, projects
from allpairs.annotate.features.publish import matching, publications
from allpairs.annotate.features.raters import project_raters
from allpairs.annotate.features.review import disagreements, split_group
from allpairs.annotate.features.settings import batch_preview
from allpairs.annotate.features.studies import rating_export, rating_scores, rating_studies
from allpairs.annotate.features.texts import change_texts
from allpairs.annotate.features.webhooks import webhooks
from allpairs.annotate.frame.access import invitations, people
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import Refused
from allpairs.annotate.kit.api import Operation
from allpairs.annotate.kit.jobs import open_jobs, prepared
from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.db.corpus.corpus import Corpus
from allpairs.db.corpus.item import CorpusItem
from allpairs.db.domain import AnswerKind, Kind, Role, Settings, Side, Split
from allpairs.db.projects.jobs import PREVIEW
from allpairs.db.projects.projects import project_of
from allpairs.db.projects.studies import CRITERIA
from allpairs.db.results.job_results import SuggestionRequest
from allpairs.db.schema.engine import artifacts, reading
from allpairs.db.schema.tables import Invitation
from tests.helpers.people import PASSWORD, at
from tests.helpers.projects.two_projects import (
    BIENCODER,
    GENERATOR,
    PAIRS,
    QUESTIONS,
    WHO,
    Whole,
)
from tests.helpers.raters import setup
from tests.helpers.services.webhooks import WEBHOOK
from tests.helpers.web import answer, body_of

NOWHERE = None  # the right for what nobody may name in a project that does not have it
ANY = ""  # the right of whoever has a role


@dataclass(frozen=True)
class Asking:
    """Who asks, an administrator of one project with some role in the other; and both projects."""

    engine: Engine
    mine: Whole
    other: Whole
    old: int  # an archived project, in which they have the same role
    third: int  # another person
    files: Path

    def http(self, method: str, path: str, **more: Any) -> Any:
        """Return the answer to the request. Raises Refused for 403 and 404."""

        async def signed_in(scope: Scope, receive: Receive, send: Send) -> None:
            options = self.engine.get_execution_options()
            scope["state"] = {"person": options["person"], "engine": self.engine, "annotator": WHO}
            await site(scope, receive, send)

        site = Starlette(routes=[*download_routes.routes(), api()])
        found = TestClient(signed_in).request(method, path, **more)
        if found.status_code in (403, 404):
            raise Refused(found.text)
        assert found.status_code < 300, found.text
        return found


Act = Callable[[Asking], object]
Acts = dict[str, tuple[Right | str | None, Act]]


def wanted(found: object) -> object:
    """Return what was found. Raises Refused for nothing: that is as if it were not there."""
    if not found:
        raise Refused("nothing is there")
    return found


def withdrawn(a: Asking) -> object:
    """Withdraw the other project's invitation, by way of one's own; return whether that is done."""
    invitations.withdraw(a.engine, a.mine.id, a.other.invitation, at())
    with reading(a.engine) as session:
        return wanted(session.get_one(Invitation, a.other.invitation).expires_at == at())


def mine_with(a: Asking, **models: str) -> Settings:
    """Return the settings of one's own project with another model."""
    with reading(a.engine) as session:
        return Settings.model_validate(project_of(session, a.mine.id).settings | models)


def case(a: Asking) -> disagreements.Case:
    """Return the other project's match as one to review."""
    return disagreements.Case(*a.other.matched, a.other.answer, a.other.task, "left", "right")


def table(a: Asking) -> Path:
    """Return a file of labels for the other project."""
    path = a.files / "labels.csv"
    path.write_text("id1,id2,label\nleft-4,right-4,1\n")
    return path


def texts_file(a: Asking) -> change_texts.TextFile:
    """Return a file of texts for the other project."""
    path = a.files / "texts.csv"
    path.write_text("id,text\nnew,A new text\n")
    return change_texts.TextFile(path)


def links_file(a: Asking) -> Path:
    path = a.files / "links.csv"
    path.write_text("id1,id2,same\nleft-0,right-0,1\n")
    return path


def small() -> Corpus:
    items = [CorpusItem((text,), Side.LEFT, text, Split.TRAIN) for text in ("a", "b")]
    return Corpus(Kind.SYMMETRIC, items, [])


GOOD = dict.fromkeys(CRITERIA, True)
C = Right.CHANGE
L = Right.LABEL
# What is done to the other project itself, and with what it has. The last ones remove what earlier ones need.
THERE: Acts = {
    "queue.serve": (L, lambda a: queue.serve(a.engine, a.other.id, WHO)),
    "queue.record": (L, lambda a: queue.record(a.engine, a.other.id, WHO, [answer("k", a.other.task)])),
    "queue.leave": (Right.INSTALL, lambda a: queue.leave(a.engine, WHO)),
    "own_answers.correct": (
        L, lambda a: own_answers.correct(a.engine, a.other.id, WHO, a.other.answer, AnswerKind.NEGATIVE)
    ),
    "pick_pair.pick": (L, lambda a: pick_pair.pick(a.engine, a.other.id, WHO, a.other.free, 0.5, None)),
    "decide.confirm_group": (L, lambda a: decide.confirm_group(a.engine, a.other.id, WHO, a.other.matched)),
    "decide.split_group": (
        L, lambda a: decide.split_group(a.engine, a.other.id, WHO, a.other.matched, a.other.matched[1:])
    ),
    "decision_files.import_decisions": (
        C, lambda a: decision_files.import_decisions(a.engine, a.other.name, links_file(a))
    ),
    "decision_files.store_links": (C, lambda a: decision_files.store_links(a.engine, a.other.id, a.files, [])),
    "decide.merge_groups": (
        L, lambda a: decide.merge_groups(a.engine, a.other.id, WHO, a.other.free[:1], a.other.free[1:])
    ),
    "decide.keep_apart": (
        L, lambda a: decide.keep_apart(a.engine, a.other.id, WHO, a.other.free[:1], a.other.free[1:])
    ),
    "decide.undo_last_act": (L, lambda a: decide.undo_last_act(a.engine, a.other.id, WHO)),
    "rating_studies.store_rating": (
        L, lambda a: rating_studies.store_rating(a.engine, a.other.id, a.other.unit, WHO, GOOD)
    ),
    "disagreements.settle": (
        Right.ADJUDICATE, lambda a: disagreements.settle(a.engine, a.other.id, WHO, case(a), AnswerKind.NEGATIVE)
    ),
    "split_group.split": (
        Right.ADJUDICATE, lambda a: split_group.split(a.engine, a.other.id, WHO, [a.other.matched])
    ),
    "split_group.undo_split": (
        Right.ADJUDICATE, lambda a: split_group.undo_split(a.engine, a.other.id, WHO, "split-x")
    ),
    "search.request_item_search": (
        Right.SEE, lambda a: search.request_item_search(a.engine, a.other.id, 0, a.other.items[0])
    ),
    "prepared.request_exploration": (Right.SEE, lambda a: prepared.request_exploration(a.engine, a.other.id, 0)),
    "list_view.read_overviews": (
        Right.SEE, lambda a: wanted([p for p in list_view.read_overviews(a.engine) if p.sees and p.id == a.other.id])
    ),
    "experiments.list_experiments": (
        Right.SEE,
        lambda a: wanted([one for one in experiments.list_experiments(a.engine) if one.id == a.other.experiment]),
    ),
    "history.events": (C, lambda a: history.events(a.engine, a.other.id, 1)),
    "requests.request_round": (C, lambda a: jobs.request_round(a.engine, a.other.id)),
    "requests.request_audit": (C, lambda a: jobs.request_audit(a.engine, a.other.id, 0)),
    "requests.request_entities": (C, lambda a: jobs.request_entities(a.engine, a.other.id, 0)),
    "requests.request_correction": (C, lambda a: jobs.request_correction(a.engine, a.other.id, 0, 0.2, 0)),
    "batch_preview.request_preview": (C, lambda a: batch_preview.request_preview(a.engine, a.other.id, {})),
    "requests.request_apart": (C, lambda a: jobs.request_apart(a.engine, a.other.id, PREVIEW)),
    "requests.request_experiment": (C, lambda a: jobs.request_experiment(a.engine, a.other.id, {})),
    "requests.request_pipeline": (C, lambda a: runs.request_run(a.engine, a.other.id, "few-shot-mining", {}, {})),
    "requests.request_matches": (C, lambda a: jobs.request_matches(a.engine, a.other.id, 0, 0.5)),
    "requests.update_groups": (C, lambda a: jobs.update_groups(a.engine, a.other.id)),
    "suggested_questions.request_suggestions": (
        C,
        lambda a: suggested_questions.request_suggestions(
            a.engine, a.other.id, SuggestionRequest(a.other.run, GENERATOR, a.other.items[0])
        ),
    ),
    "end_audit.drop_audit_batch": (C, lambda a: end_audit.drop_audit_batch(a.engine, a.other.id)),
    "import_labels.import_labels": (C, lambda a: import_labels(a.engine, a.other.name, table(a))),
    "import_labels.import_labels: only looking": (
        C, lambda a: import_labels(a.engine, a.other.name, table(a), Choices(dry=True))
    ),
    "change_texts.preview_change": (C, lambda a: change_texts.preview_change(a.engine, a.other.name, texts_file(a))),
    "change_texts.apply": (C, lambda a: change_texts.apply(a.engine, a.other.name, texts_file(a))),
    "change_texts.undo_text_change": (C, lambda a: change_texts.undo_text_change(a.engine, a.other.id)),
    "mined_pairs.use_as_training": (
        C, lambda a: mined_pairs.use_as_training(a.engine, a.other.id, a.other.run, PAIRS, 5)
    ),
    "mined_pairs.take_back": (C, lambda a: mined_pairs.take_back(a.engine, a.other.id, a.other.run)),
    "mined_sample.put_up": (
        C, lambda a: mined_sample.put_up(a.engine, a.other.id, a.other.run, PAIRS, 1, np.random.default_rng(0))
    ),
    "adopt_encoder.use_encoder": (C, lambda a: adopt_encoder.use_encoder(a.engine, a.other.id, a.other.run, BIENCODER)),
    "adopt_encoder.use_compared": (C, lambda a: adopt_encoder.use_compared(a.engine, a.other.id, "another")),
    "rating_studies.start_study": (
        C,
        lambda a: rating_studies.start_study(
            a.engine, a.other.id, a.other.run, QUESTIONS, rating_studies.BEGUN[:1], 1, 0
        ),
    ),
    "projects.update_settings": (C, lambda a: projects.update_settings(a.engine, a.other.id, Settings())),
    "webhooks.add": (C, lambda a: webhooks.add(a.engine, a.other.id, WEBHOOK["url"], WEBHOOK["kinds"])),
    "webhooks.webhooks_of_project": (C, lambda a: webhooks.webhooks_of_project(a.engine, a.other.id)),
    "webhooks.deliveries": (C, lambda a: webhooks.deliveries(a.engine, a.other.id, a.other.webhook)),
    "webhooks.send_test": (C, lambda a: webhooks.send_test(a.engine, a.other.id, a.other.webhook)),
    "webhooks.send_delivery_again": (C, lambda a: webhooks.send_delivery_again(a.engine, a.other.id, a.other.delivery)),
    "webhooks.renew_secret": (C, lambda a: webhooks.renew_secret(a.engine, a.other.id, a.other.webhook)),
    "webhooks.switch": (C, lambda a: webhooks.switch(a.engine, a.other.id, a.other.webhook, False)),
    "webhooks.remove_webhook": (C, lambda a: webhooks.remove_webhook(a.engine, a.other.id, a.other.webhook)),
    "publications.publish_round": (C, lambda a: publications.publish_round(a.engine, a.other.id, 0)),
    "publications.read_service": (Right.SEE, lambda a: publications.read_service(a.engine, a.other.id)),
    "matching.match_texts": (Right.SEE, lambda a: matching.match_texts(a.engine, a.other.id, {"texts": ["x"]})),
    "publications.end": (C, lambda a: publications.end(a.engine, a.other.id)),
    "project_raters.set_up": (
        Right.INSTALL,
        lambda a: project_raters.set_up(a.engine, a.other.id, setup(name="another")),
    ),
    "project_raters.read_raters": (Right.SEE, lambda a: project_raters.read_raters(a.engine, a.other.id)),
    "project_raters.read_worth": (Right.SEE, lambda a: project_raters.read_worth(a.engine, a.other.id)),
    "project_raters.dry_run": (C, lambda a: project_raters.dry_run(a.engine, a.other.id, 5)),
    "requests.request_rating": (C, lambda a: jobs.request_rating(a.engine, a.other.id, 5)),
    "project_raters.resume": (C, lambda a: project_raters.resume(a.engine, a.other.id)),
    "project_raters.retire_rater": (C, lambda a: project_raters.retire_rater(a.engine, a.other.id)),
    "lifecycle.archive_project": (C, lambda a: lifecycle.archive_project(a.engine, a.other.id)),
    "lifecycle.bin_project": (C, lambda a: lifecycle.bin_project(a.engine, a.other.id)),
    "lifecycle.restore_project": (C, lambda a: lifecycle.restore_project(a.engine, a.old)),
    "people.set_role_of": (
        Right.PEOPLE,
        lambda a: people.set_role_of(a.engine, a.third, a.other.id, Role.VIEWER, at()),
    ),
    "people.set_role_by_name": (
        Right.PEOPLE, lambda a: people.set_role_by_name(a.engine, "Third", a.other.name, Role.VIEWER, at())
    ),
    "invitations.invite": (
        Right.PEOPLE, lambda a: invitations.invite(a.engine, a.other.id, Role.ADMINISTRATOR, 1, at())
    ),
    "invitations.withdraw": (
        Right.PEOPLE, lambda a: invitations.withdraw(a.engine, a.other.id, a.other.invitation, at())
    ),
    "lifecycle.duplicate_project": (
        Right.INSTALL, lambda a: lifecycle.duplicate_project(a.engine, a.other.id, True)
    ),
    "projects.create_project": (Right.INSTALL, lambda a: projects.create_project(a.engine, "N", small(), Settings())),
    "project_import.into": (
        Right.INSTALL, lambda a: project_import.import_project(a.engine, a.files / "other.zip", "Again")
    ),
    "people.add_account": (Right.INSTALL, lambda a: people.add_account(a.engine, "New", PASSWORD, at())),
    "people.add_first": (NOWHERE, lambda a: people.add_first(a.engine, "New", PASSWORD, at())),
    "people.set_password": (Right.INSTALL, lambda a: people.set_password(a.engine, "Third", PASSWORD, at())),
    "people.set_administrator": (Right.INSTALL, lambda a: people.set_administrator(a.engine, WHO, True, at())),
    "people.end_all_logins": (Right.INSTALL, lambda a: people.end_all_logins(a.engine, a.third, at())),
    "people.enable": (Right.INSTALL, lambda a: people.enable(a.engine, a.third, at())),
    "people.disable": (Right.INSTALL, lambda a: people.disable(a.engine, a.third, at())),
    "open_jobs.cancel": (C, lambda a: open_jobs.cancel(a.engine, a.other.open_job)),
    "rating_studies.remove_study": (C, lambda a: rating_studies.remove_study(a.engine, a.other.id, a.other.study)),
    "experiments.request_encoders": (
        C, lambda a: experiments.request_encoders(a.engine, a.other.id, ["one", "another"])
    ),
    "experiments.delete_experiment": (C, lambda a: experiments.delete_experiment(a.engine, a.other.experiment)),
    "runs.delete_run": (C, lambda a: runs.delete_run(a.engine, a.other.id, a.other.run)),
    "projects.delete_project": (C, lambda a: projects.delete_project(a.engine, a.other.id)),
}  # fmt: skip
# What is named in one's own project, and belongs to the other one. What a model or a run has learned can be read from
# what it makes, so using it takes the right to export the other project's data.
HERE: Acts = {
    "requests.request_pipeline: pairs of the other": (
        C, lambda a: runs.request_run(a.engine, a.mine.id, "back-training", {}, {"project": a.other.name})
    ),
    "requests.request_pipeline: pairs of the other, at the last": (
        C,
        lambda a: jobs.request_pipeline(a.engine, a.mine.id, "back-training", {}, {"project": f" {a.other.name} "}),
    ),
    "requests.request_pipeline: a model of the other": (
        C,
        lambda a: runs.request_run(
            a.engine, a.mine.id, "few-shot-mining", {"crossencoder": {"backbone": a.other.trained}}, {}
        ),
    ),
    "projects.update_settings: an encoder of the other": (
        C, lambda a: projects.update_settings(a.engine, a.mine.id, mine_with(a, encoder=a.other.trained))
    ),
    "projects.update_settings: an encoder of the other's run": (
        C,
        lambda a: projects.update_settings(
            a.engine,
            a.mine.id,
            mine_with(a, encoder=f"{a.mine.made('reranker')}/../../../{a.other.run}/results/biencoder"),
        ),
    ),
    "projects.update_settings: what is nobody's": (
        Right.INSTALL, lambda a: projects.update_settings(a.engine, a.mine.id, mine_with(a, encoder=str(artifacts())))
    ),
    "batch_preview.request_preview: an encoder of the other": (
        C,
        lambda a: batch_preview.request_preview(
            a.engine, a.mine.id, mine_with(a, encoder=a.other.trained).model_dump()
        ),
    ),
    "requests.request_matches: a re-ranker of the other": (
        C, lambda a: jobs.request_matches(a.engine, a.mine.id, 0, 0.5, f"{a.other.run}/results/reranker")
    ),
    "queue.record: a task": (
        NOWHERE, lambda a: wanted(queue.record(a.engine, a.mine.id, WHO, [answer("k", a.other.task)]).stored)
    ),
    "own_answers.correct: an answer": (
        NOWHERE, lambda a: own_answers.correct(a.engine, a.mine.id, WHO, a.other.answer, AnswerKind.NEGATIVE)
    ),
    "pick_pair.pick: a pair": (NOWHERE, lambda a: pick_pair.pick(a.engine, a.mine.id, WHO, a.other.free, 0.5, None)),
    "pick_pair.pick: half a pair": (
        NOWHERE,
        lambda a: pick_pair.pick(a.engine, a.mine.id, WHO, (a.mine.free[0], a.other.free[1]), 0.5, None),
    ),
    "decide.confirm_group: texts": (
        NOWHERE, lambda a: decide.confirm_group(a.engine, a.mine.id, WHO, [*a.other.free])
    ),
    "decide.merge_groups: texts": (
        NOWHERE, lambda a: decide.merge_groups(a.engine, a.mine.id, WHO, a.other.free[:1], a.other.free[1:])
    ),
    "disagreements.settle: a pair": (
        NOWHERE, lambda a: disagreements.settle(a.engine, a.mine.id, WHO, case(a), AnswerKind.NEGATIVE)
    ),
    "split_group.split: a pair": (
        NOWHERE, lambda a: split_group.split(a.engine, a.mine.id, WHO, [a.other.matched])
    ),
    "pair_reason.reasons: a task": (NOWHERE, lambda a: pair_reason.reasons(a.engine, a.mine.id, a.other.task)),
    "search.request_item_search: a text": (
        NOWHERE, lambda a: search.request_item_search(a.engine, a.mine.id, 0, a.other.items[0])
    ),
    "open_jobs.job_progress: a job": (
        NOWHERE, lambda a: wanted(open_jobs.job_progress(a.engine, a.mine.id, a.other.open_job).job)
    ),
    "open_jobs.find_job: a job": (NOWHERE, lambda a: wanted(open_jobs.find_job(a.engine, a.mine.id, a.other.open_job))),
    "suggested_questions.request_suggestions: a run": (
        NOWHERE,
        lambda a: suggested_questions.request_suggestions(
            a.engine, a.mine.id, SuggestionRequest(a.other.run, GENERATOR, a.mine.items[0])
        ),
    ),
    "suggested_questions.request_suggestions: a text": (
        NOWHERE,
        lambda a: suggested_questions.request_suggestions(
            a.engine, a.mine.id, SuggestionRequest(a.mine.run, GENERATOR, a.other.items[0])
        ),
    ),
    "runs.run_output: a run": (NOWHERE, lambda a: runs.run_output(a.engine, a.mine.id, a.other.run, PAIRS)),
    "runs.delete_run: a run": (NOWHERE, lambda a: runs.delete_run(a.engine, a.mine.id, a.other.run)),
    "mined_pairs.use_as_training: a run": (
        NOWHERE, lambda a: mined_pairs.use_as_training(a.engine, a.mine.id, a.other.run, PAIRS, 5)
    ),
    "mined_pairs.used: a run": (NOWHERE, lambda a: mined_pairs.used(a.engine, a.mine.id, a.other.run)),
    "mined_pairs.take_back: a run": (NOWHERE, lambda a: mined_pairs.take_back(a.engine, a.mine.id, a.other.run)),
    "mined_sample.put_up: a run": (
        NOWHERE,
        lambda a: mined_sample.put_up(a.engine, a.mine.id, a.other.run, PAIRS, 1, np.random.default_rng(0)),
    ),
    "adopt_encoder.use_encoder: a run": (
        NOWHERE, lambda a: adopt_encoder.use_encoder(a.engine, a.mine.id, a.other.run, BIENCODER)
    ),
    "rating_studies.start_study: a run": (
        NOWHERE,
        lambda a: rating_studies.start_study(
            a.engine, a.mine.id, a.other.run, QUESTIONS, rating_studies.BEGUN[:1], 1, 0
        ),
    ),
    "rating_studies.desk: a study": (
        NOWHERE, lambda a: rating_studies.desk(a.engine, a.mine.id, a.other.study, WHO)
    ),
    "rating_studies.store_rating: a question": (
        NOWHERE, lambda a: rating_studies.store_rating(a.engine, a.mine.id, a.other.unit, WHO, GOOD)
    ),
    "rating_studies.remove_study: a study": (
        NOWHERE, lambda a: rating_studies.remove_study(a.engine, a.mine.id, a.other.study)
    ),
    "rating_scores.results: a study": (NOWHERE, lambda a: rating_scores.results(a.engine, a.mine.id, a.other.study)),
    "rating_export.write_study: a study": (
        NOWHERE,
        lambda a: rating_export.write_study(a.engine, a.mine.id, a.other.study, "ratings", a.files / "ratings.csv"),
    ),
    "invitations.withdraw: an invitation": (NOWHERE, withdrawn),
    "webhooks.deliveries: a webhook": (
        NOWHERE, lambda a: webhooks.deliveries(a.engine, a.mine.id, a.other.webhook)
    ),
    "webhooks.send_test: a webhook": (NOWHERE, lambda a: webhooks.send_test(a.engine, a.mine.id, a.other.webhook)),
    "webhooks.send_delivery_again: a delivery": (
        NOWHERE, lambda a: webhooks.send_delivery_again(a.engine, a.mine.id, a.other.delivery)
    ),
    "webhooks.renew_secret: a webhook": (
        NOWHERE, lambda a: webhooks.renew_secret(a.engine, a.mine.id, a.other.webhook)
    ),
    "webhooks.switch: a webhook": (NOWHERE, lambda a: webhooks.switch(a.engine, a.mine.id, a.other.webhook, False)),
    "webhooks.remove_webhook: a webhook": (
        NOWHERE, lambda a: webhooks.remove_webhook(a.engine, a.mine.id, a.other.webhook)
    ),
}  # fmt: skip
DOWNLOADS: Acts = {
    "/download/labels/{project_id:int}": (C, lambda a: a.http("GET", f"/download/labels/{a.other.id}")),
    "/download/projects/{project_id:int}": (C, lambda a: a.http("GET", f"/download/projects/{a.other.id}")),
    "/download/matches/{project_id:int}": (C, lambda a: a.http("GET", f"/download/matches/{a.other.id}")),
    "/download/pipelines/{project_id:int}": (
        C, lambda a: a.http("GET", f"/download/pipelines/{a.other.id}?run={a.other.run}&number={PAIRS}")
    ),
    "/download/studies/{project_id:int}": (
        C, lambda a: a.http("GET", f"/download/studies/{a.other.id}?study={a.other.study}&what=ratings")
    ),
    "/download/clean/{project_id:int}": (C, lambda a: a.http("GET", f"/download/clean/{a.other.id}?suffix=csv")),
    "/download/matchers/{matcher_id:int}": (C, lambda a: a.http("GET", f"/download/matchers/{a.other.matcher}")),
    "/download/pipelines/{project_id:int}, by way of one's own": (
        NOWHERE, lambda a: a.http("GET", f"/download/pipelines/{a.mine.id}?run={a.other.run}&number={PAIRS}")
    ),
    "/download/studies/{project_id:int}, by way of one's own": (
        NOWHERE, lambda a: a.http("GET", f"/download/studies/{a.mine.id}?study={a.other.study}&what=ratings")
    ),
}  # fmt: skip


def called(operation: Operation, a: Asking, project_id: int) -> Any:
    """Call the operation on the project, with a task or a job of the other one."""
    path = operation.path.format(project_id=project_id, job_id=a.other.open_job, webhook_id=a.other.webhook)
    found = a.http(operation.method, f"/api/v1{path}", json=body_of(operation.name, a.other.task))
    if operation.name == "answers":
        wanted(found.json()["stored"])
    return found


def calling(operation: Operation, own: bool = False) -> Act:
    """Return the act that calls the operation on the other project, or by way of one's own."""
    return lambda a: called(operation, a, (a.mine if own else a.other).id)


CALLS: Acts = {one.name: (one.right or ANY, calling(one)) for one in OPERATIONS if "{" in one.path}
CALLS |= {
    f"{one.name}, by way of one's own": (NOWHERE, calling(one, own=True))
    for one in OPERATIONS
    if "{job_id}" in one.path
    or "{webhook_id}" in one.path
    or one.name == "answers"  # the others name nothing but the project
}
