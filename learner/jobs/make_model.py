"""The steps of the job `next_round` that make a model: train, encode, measure, describe. See `next_round`."""

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from allpairs.db.domain import Settings
from allpairs.db.files.artifacts import publishing
from allpairs.db.files.checksums import FILE as CHECKSUMS
from allpairs.db.progress import Progress, part_of
from allpairs.db.projects.matchers import matcher_of, newest_matcher
from allpairs.db.projects.notices import announcing_target
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import StoredModel
from allpairs.learner.jobs.data.evaluation_snapshot import blend_of, has_model
from allpairs.learner.jobs.data.project_data import ProjectData
from allpairs.learner.jobs.data.round_files import (
    add_round_details,
    model_name,
    round_folder,
    round_rescored,
    vectors_path,
)
from allpairs.learner.jobs.data.round_plan import (
    Plan,
    layer_of,
    planned_data,
    planned_labels,
    rater_details,
    teaching_of_plan,
)
from allpairs.learner.jobs.data.stored_matcher import store_matcher
from allpairs.learner.jobs.data.stored_rescored import save_rescored
from allpairs.learner.jobs.data.stored_vectors import encode_and_save, load_vectors, pretrained_vectors, save_vectors
from allpairs.learner.jobs.data.stored_verdicts import read_verdicts
from allpairs.learner.jobs.queue.job_state import database
from allpairs.learner.jobs.queue.ownership import require_own, this_run
from allpairs.learner.jobs.queue.progress import reporting
from allpairs.learner.jobs.queue.steps import job_step
from allpairs.learner.loop.bare import fitted_bare, measured_bare
from allpairs.learner.loop.round import evaluate_dataset, refit
from allpairs.learner.models.cosine_bert import Labelled, train
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.scoring.bare import bare_details
from allpairs.learner.scoring.lexical_weights import fit_lexical
from allpairs.learner.scoring.make_reference import make_reference
from allpairs.learner.scoring.matcher import FILE as MATCHER
from allpairs.learner.scoring.matcher import PairModel, add_reference, save_matcher
from allpairs.learner.scoring.reference import FILE as REFERENCE
from allpairs.learner.scoring.score import Blend
from allpairs.learner.search.inner_product import BLENDED
from allpairs.learner.second_stage.make import make_staged


@job_step
def train_matcher(job_id: str, project_id: int, plan: Plan) -> dict[str, float]:
    """Store the trained encoder in the job's folder, and return loss and seconds."""
    started = time.monotonic()
    with database() as engine, reporting(engine, job_id, 0.0, plan["train_share"]) as progress:
        progress("load", 0.0)
        with reading(engine) as session:
            data = planned_data(session, project_id, plan)
            labelled = planned_labels(session, project_id, data, plan)
            teaching = teaching_of_plan(plan)
            verdicts = read_verdicts(session, teaching, data, labelled, plan["cutoff"]) if teaching else None
            before = newest_matcher(session, project_id)
        start = data.settings.encoder
        if data.settings.warm_start and before and before.folder and before.encoder == start and has_model(before):
            start = str(artifacts() / before.folder)
        offset = _hubness(project_id, data, progress)
        encoder = load_encoder(start)
        layer = train(encoder, data.dataset.texts, labelled, data.settings, progress, verdicts, offset=offset)
        encoder.name = data.settings.encoder
    counts = {name: plan[name] for name in ("labels", "positives")}
    model = round_folder(project_id, job_id) / "model"
    require_own(this_run())
    with publishing(model):
        trained = PairModel(encoder, layer, columns=data.dataset.columns)
        save_matcher(trained, model, settings=data.settings.model_dump(), **counts, **rater_details(plan))
    return {"loss": layer.loss, "seconds": round(time.monotonic() - started, 1)}


@dataclass(frozen=True)
class RoundModel:
    """The score of a round's model.

    blend: its components; details: what the matcher's details say besides. After a training also layer: the output
    layer; first_layer: that of the first stage.
    """

    blend: Blend
    layer: dict[str, float | None] = field(default_factory=dict)
    first_layer: dict[str, float] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)

    def as_plan(self) -> Plan:
        """Return what the plan says of the model."""
        return {"layer": self.layer, "first": self.first_layer, "blend": self.blend.as_dict(), "known": self.details}


@job_step
def encode_items(job_id: str, project_id: int, plan: Plan) -> Plan:
    """Store the blended vectors of all items, by ascending id, in the job's folder.

    Returns the `RoundModel` as a part of the plan, with the seconds that this took.
    """
    started = time.monotonic()
    with database() as engine, reporting(engine, job_id, plan["train_share"], plan["encode_share"]) as progress:
        progress("load", 0.0)
        with reading(engine) as session:
            data = planned_data(session, project_id, plan)
            labelled = planned_labels(session, project_id, data, plan)
        if plan["trains"]:
            round_model = _fit_score(job_id, project_id, plan, data, labelled, progress)
        else:
            vectors = pretrained_vectors(project_id, data, data.settings, progress)
            save_vectors(vectors_path(project_id, job_id), vectors, data.dataset.texts)
            round_model = RoundModel(Blend(data.settings.hubness))
    return round_model.as_plan() | {"encode_seconds": round(time.monotonic() - started, 1)}


def _fit_score(
    job_id: str, project_id: int, plan: Plan, data: ProjectData, labelled: Labelled, progress: Progress
) -> RoundModel:
    """Encode all items with the trained encoder, and fit the score to the labels.

    The model's folder gets its details, and the reference that its score needs.
    """
    settings = data.settings
    folder = round_folder(project_id, job_id)
    model = folder / "model"
    blend = Blend(settings.hubness)
    if settings.lexical:
        pretrained = pretrained_vectors(project_id, data, settings, progress)
        blend = Blend(settings.hubness, fit_lexical(data.dataset, labelled, pretrained))
    vectors = encode_and_save(vectors_path(project_id, job_id), load_encoder(str(model)), data, blend, progress)
    first = refit(vectors, labelled, BLENDED)
    details = bare_details(fitted_bare(data.dataset, vectors, blend, labelled)[1], "cosine", None)
    rng = np.random.default_rng([settings.seed, plan["number"], 3])
    staged = make_staged(data.dataset, vectors, labelled, first, settings.second_stage, rng, BLENDED, progress)
    save_rescored(folder, staged.rescored, data)
    layer = {"w": staged.layer.w, "b": staged.layer.b, "threshold": staged.layer.threshold, "loss": first.loss}
    details |= staged.as_dict()
    add_round_details(model, **layer, **blend.as_dict(), **details)
    if blend.needs_all or staged.second:
        rng = np.random.default_rng([settings.seed, plan["number"], 2])
        reference = make_reference(data.dataset, vectors, blend, staged.layer, rng, competition=staged.competition)
        with publishing(model / REFERENCE), publishing(model / CHECKSUMS), publishing(model / MATCHER):
            add_reference(reference, model)
        details |= reference.as_dict()
    return RoundModel(blend, layer, {"w": first.w, "b": first.b}, details)


@job_step
def evaluate_matcher(job_id: str, project_id: int, plan: Plan) -> int:
    """Store the matcher and its figures over all pairs; return its id. It will choose the next batch."""
    share = plan["train_share"] + plan["encode_share"]
    with database() as engine, reporting(engine, job_id, share, 0.02) as progress:
        with reading(engine) as session:
            stored = matcher_of(session, project_id, plan["number"] if plan["trains"] else 0)
            data = planned_data(session, project_id, plan)
        # A job cancelled after this step has left a matcher of this number: this job replaces it.
        is_own = stored is not None and stored.folder == model_name(project_id, job_id, plan)
        if stored is not None and is_own and (plan["trains"] or _is_pretrained(stored, data.settings)):
            return stored.id
        started = time.monotonic()
        vectors = load_vectors(vectors_path(project_id, job_id))
        rescored = round_rescored(project_id, job_id, plan, data)
        layer = layer_of(plan)
        seed = data.settings.seed
        measured = evaluate_dataset(data.dataset, vectors, progress, layer, BLENDED, seed, rescored=rescored)
        plan = {**plan, "evaluate_seconds": round(time.monotonic() - started, 1)}
        if measured and plan["trains"]:
            add_round_details(round_folder(project_id, job_id) / "model", curve=measured.curve.thinned().as_dict())
        with writing(engine) as session, announcing_target(session, project_id):
            return store_matcher(session, job_id, project_id, data.settings, plan, measured)


@job_step
def describe_model(job_id: str, project_id: int, plan: Plan, matcher_id: int) -> None:
    """Add the average precision of the bare score to the matcher, where there is a gold positive to measure on."""
    with database() as engine, reporting(engine, job_id, 0.99, 0.01) as progress:
        with reading(engine) as session:
            data = planned_data(session, project_id, plan)
            if not len(data.dataset.evaluation_positives):
                return
            labelled = planned_labels(session, project_id, data, plan)
        vectors = load_vectors(vectors_path(project_id, job_id))
        bare = measured_bare(data.dataset, vectors, Blend.read(plan["blend"]), labelled, data.settings, progress)
        add_round_details(round_folder(project_id, job_id) / "model", **bare)
        with writing(engine) as session:
            matcher = session.get_one(StoredModel, matcher_id)
            matcher.details = matcher.details | bare


def _hubness(project_id: int, data: ProjectData, progress: Progress) -> np.ndarray | None:
    """Return the hubness correction of each item under the pre-trained encoder, (items,) float32, if there is any."""
    if not data.settings.hubness:
        return None
    # Their vectors are stored, unless the settings have changed since: the bar waits while they are made.
    vectors = pretrained_vectors(project_id, data, data.settings, part_of(progress, 0.0, 0.0))
    return vectors[:, -1].copy()


def _is_pretrained(matcher: StoredModel, settings: Settings) -> bool:
    """Return whether the matcher is these settings' pre-trained encoder, scored as they say."""
    return matcher.encoder == settings.encoder and blend_of(matcher).hubness == settings.hubness
