"""A client of the REST API: label, read labels and figures, start trainings. It needs the standard library only."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import ProxyHandler, Request, build_opener
from uuid import uuid4

from allpairs.arguments import (
    checked,
    list_of,
    mapping_of,
    one_text,
    optional,
    positive,
    text_or_record,
    whole,
    yes_or_no,
)
from allpairs.db.errors import InputError
from allpairs.db.loopback import is_loopback

PAGE = 1_000  # labels, groups, changes or verdicts of one request


class ApiError(Exception):
    """The server refused a request: `status`, and in one line what is wrong and what to do.

    seconds: after which to send it again, where there was too much to do; None otherwise.
    """

    def __init__(self, status: int, detail: str, seconds: int | None = None) -> None:
        super().__init__(f"{status}: {detail}")
        self.status = status
        self.detail = detail
        self.seconds = seconds


class Client:
    """An app at an address, for the person whose token it is; without accounts no token is needed.

    Make a token on the page API.
    """

    @checked(url=one_text, token=one_text, timeout=positive)
    def __init__(self, url: str = "http://localhost:8501", token: str = "", timeout: float = 60.0) -> None:
        if not url.startswith(("http://", "https://")):
            raise InputError(f"{url!r} is not the app's address: it begins with http:// or https://")
        self.url = url.rstrip("/")
        self.token = token.strip()
        self.timeout = timeout
        if not self.token.isascii() or not self.token.isprintable():  # no header may hold it, and no error show it
            raise InputError("the token has characters that no token has: copy it again from the page API")

    def projects(self) -> list[dict[str, Any]]:
        """Return the projects that the person is a member of, the newest first, without archived ones."""
        return list(self.call("GET", "/projects")["projects"])

    @checked(name=one_text)
    def project(self, name: str) -> RemoteProject:
        """Return the project of this name. Raises InputError if the person sees none."""
        known = {project["name"]: project["id"] for project in self.projects()}
        if name not in known:
            raise InputError(f"there is no project {name!r}; there are: {', '.join(known) or 'none'}")
        return RemoteProject(self, known[name], name)

    @checked(method=one_text, path=one_text)
    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send a request to an address below `/api/v1` and return what it answers.

        Raises ApiError if the server refuses it, ConnectionError if no app answers.
        """
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None if body is None else _json(body)
        request = Request(f"{self.url}/api/v1{path}", data, headers, method=method)
        try:
            # No proxy of the environment sees what is sent to an app on this machine.
            proxies = ProxyHandler({} if is_loopback(urlsplit(self.url).hostname) else None)
            with build_opener(proxies).open(request, timeout=self.timeout) as answer:
                return json.loads(answer.read() or "null")
        except HTTPError as error:
            after = error.headers.get("Retry-After", "")
            raise ApiError(error.code, _detail(error), int(after) if after.isdecimal() else None) from error
        except (OSError, HTTPException, ValueError) as error:  # no server, a silent one, or another program's
            reason = getattr(error, "reason", error)
            raise ConnectionError(f"no app answers at {self.url} ({reason}): is it running?") from error


class RemoteProject:
    """A project of the app behind a client."""

    def __init__(self, client: Client, project_id: int, name: str) -> None:
        self.client = client
        self.id = project_id
        self.name = name

    @checked(n=whole(1), audit_batch=yes_or_no)
    def tasks(self, n: int = 40, audit_batch: bool = False) -> list[dict[str, Any]]:
        """Lease the next pairs for ten minutes and return them, with `id`, `left` and `right`; empty if there are none.

        n: 40 at most.
        """
        return list(self._call("POST", "/tasks", {"n": n, "audit_batch": audit_batch})["tasks"])

    @checked(answers=mapping_of(whole(), one_text))
    def answer(self, answers: Mapping[int, str]) -> list[dict[str, str]]:
        """Store an answer for each task: positive, negative, unsure, skip or retract; 200 at most.

        Returns those that were refused, each with its reason. A request that is lost on the way is sent once more; the
        acts have keys, so nothing is stored twice.
        """
        if not answers:
            return []
        acts = [{"key": str(uuid4()), "task_id": task, "answer": answer} for task, answer in answers.items()]
        try:
            receipt = self._call("POST", "/answers", {"answers": acts})
        except ConnectionError:
            receipt = self._call("POST", "/answers", {"answers": acts})
        return list(receipt["refused"])

    @checked(texts=mapping_of(one_text, text_or_record), side=one_text, dry_run=yes_or_no)
    def change_texts(
        self, texts: Mapping[str, str | Mapping[str, str]], side: str = "left", dry_run: bool = False
    ) -> dict[str, Any]:
        """Add and change texts by id, 5,000 at most, as one change; return how many ids of each kind.

        A text of several columns is a mapping of their names to values. dry_run: only count.
        """
        records = [{"id": name, "text": text if isinstance(text, str) else dict(text)} for name, text in texts.items()]
        return dict(self._call("POST", "/texts", {"texts": records, "side": side, "dry_run": dry_run}))

    @checked(ids=list_of(one_text), side=one_text, dry_run=yes_or_no)
    def withdraw_texts(self, ids: Iterable[str], side: str = "left", dry_run: bool = False) -> dict[str, Any]:
        """Withdraw ids, 5,000 at most, as one change; return how many ids of each kind. dry_run: only count."""
        return dict(self._call("POST", "/texts/withdraw", {"ids": ids, "side": side, "dry_run": dry_run}))

    @checked(after=whole())
    def labels(self, after: int = 0) -> Iterator[dict[str, Any]]:
        """Yield the labels that count, in the order in which they were given, each with the `cursor` of its page.

        after: the cursor of an earlier reading, for what is new since.
        """
        more = True
        while more:
            page = self._call("GET", f"/labels?{urlencode({'cursor': after, 'limit': PAGE})}")
            after = page["cursor"]
            more = page["more"] and bool(page["labels"])
            for label in page["labels"]:
                yield {**label, "cursor": after}

    def groups(self) -> Iterator[dict[str, Any]]:
        """Yield the project's groups with their `id` and `texts`, by the age of the ids."""
        after = 0
        more = True
        while more:
            page = self._call("GET", f"/groups?{urlencode({'cursor': after, 'limit': PAGE})}")
            after = page["cursor"]
            more = page["more"] and bool(page["groups"])
            yield from page["groups"]

    @checked(after=whole())
    def group_changes(self, after: int = 0) -> Iterator[dict[str, Any]]:
        """Yield what became of groups, in the order in which it happened, each change with its `cursor`.

        after: the cursor of an earlier change, for what has changed since.
        """
        more = True
        while more:
            page = self._call("GET", f"/groups/changes?{urlencode({'cursor': after, 'limit': PAGE})}")
            after = page["cursor"]
            more = page["more"] and bool(page["changes"])
            yield from page["changes"]

    def metrics(self) -> list[dict[str, Any]]:
        """Return each round's figures over all pairs, with their 95 % intervals."""
        return list(self._call("GET", "/metrics")["evaluations"])

    def jobs(self) -> list[dict[str, Any]]:
        """Return the newest jobs."""
        return list(self._call("GET", "/jobs")["jobs"])

    def train(self) -> dict[str, Any]:
        """Start the next round, which trains, measures and makes a batch; return its job."""
        return dict(self._call("POST", "/jobs", {"kind": "next_round"}))

    @checked(job_id=one_text)
    def job(self, job_id: str) -> dict[str, Any]:
        """Return the job's state and progress, or why it failed."""
        return dict(self._call("GET", f"/jobs/{quote(job_id, safe='')}"))

    @checked(job_id=one_text)
    def cancel(self, job_id: str) -> None:
        """Cancel the job."""
        self._call("DELETE", f"/jobs/{quote(job_id, safe='')}")

    @checked(texts=list_of(text_or_record), k=whole(1), side=one_text, why=yes_or_no)
    def match(
        self, texts: Iterable[str | Mapping[str, str]], k: int = 10, side: str = "left", why: bool = False
    ) -> list[list[dict[str, Any]]]:
        """Return the k best candidates of each text, or record by columns, under the published model, best first.

        Each has `ids`, `text`, `score`, `p` and, if wanted, `why`. side: of the texts, where the project has two lists.
        100 texts at most. Raises ApiError with status 409 if no model is published, 503 if no process answers, 429 if
        too many requests wait.
        """
        body = {"texts": texts, "k": k, "side": side, "why": why}
        return list(self._call("POST", "/match", body)["results"])

    @checked(number=optional(whole()), note=one_text, shadow=yes_or_no)
    def publish(self, number: int | None = None, note: str = "", shadow: bool = False) -> dict[str, Any]:
        """Publish the model of this round, or of the newest, or name it as the shadow; return the publication."""
        body = {"round": number, "note": note, "kind": "shadow" if shadow else "model"}
        return dict(self._call("POST", "/publications", body))

    @checked(note=one_text, shadow=yes_or_no)
    def end_publication(self, note: str = "", shadow: bool = False) -> dict[str, Any]:
        """Take the published model, or only its shadow, out of service; return what `publications` does."""
        body = {"note": note, "kind": "shadow" if shadow else "model"}
        return dict(self._call("POST", "/publications/end", body))

    def publications(self) -> dict[str, Any]:
        """Return what is published, its shadow, how far the two agree, and all publications, the newest first."""
        return dict(self._call("GET", "/publications"))

    def rater(self) -> dict[str, Any]:
        """Return the project's machine `raters`, the newest first, and what the newest is `worth`, with intervals."""
        return dict(self._call("GET", "/rater"))

    @checked(name=one_text)
    def set_rater(self, name: str, **setup: Any) -> dict[str, Any]:
        """Put a machine rater into use, by `url` and `model` or by `function`; return what `rater` does.

        setup: as the options of `allpairs rater set`; key_name is the worker's variable that has the key. It takes an
        administrator of the installation.
        """
        return dict(self._call("PUT", "/rater", {"name": name, **setup}))

    @checked(pairs=whole(1), dry_run=yes_or_no, purpose=one_text)
    def run_rater(self, pairs: int = 100, dry_run: bool = False, purpose: str = "labels") -> dict[str, Any]:
        """Ask the machine rater about so many pairs at most, in a `job`; return what it takes. dry_run: ask nothing.

        purpose: `labels`, pairs that people answered and those of the batch; `audit`, random ones of its strata.
        """
        return dict(self._call("POST", "/rater/run", {"pairs": pairs, "dry_run": dry_run, "purpose": purpose}))

    def resume_rater(self) -> dict[str, Any]:
        """Let a paused machine rater be asked again; return what `rater` does."""
        return dict(self._call("POST", "/rater/resume", {}))

    def end_rater(self) -> dict[str, Any]:
        """End the machine rater in use; its verdicts stay. Return what `rater` does."""
        return dict(self._call("POST", "/rater/end", {}))

    @checked(after=whole())
    def verdicts(self, after: int = 0) -> Iterator[dict[str, Any]]:
        """Yield what machine raters said, in the order in which they said it, each with the `cursor` of its page.

        after: the cursor of an earlier reading, for what is new since.
        """
        more = True
        while more:
            page = self._call("GET", f"/rater/verdicts?{urlencode({'cursor': after, 'limit': PAGE})}")
            after = page["cursor"]
            more = page["more"] and bool(page["verdicts"])
            for verdict in page["verdicts"]:
                yield {**verdict, "cursor": after}

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        return self.client.call(method, f"/projects/{self.id}{path}", body)


def _json(body: Mapping[str, Any]) -> bytes:
    """Return what a request sends. Raises InputError for a value that JSON has not."""
    try:
        return json.dumps(body, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise InputError(f"the request has a value that JSON has not: {error}") from error


def _detail(error: HTTPError) -> str:
    try:
        return str(json.load(error)["detail"])
    except (ValueError, KeyError, TypeError):
        return f"{error.reason} (answered by a proxy in front of the app, or by another program, not by the app)"
