"""The server's application: what is where, and who may ask for what."""

import asyncio
import hmac
import json
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from treebp.pipeline import Pipeline
from treebp.serving.engine import Engine, Job, Piece
from treebp.serving.openapi import description, description_page
from treebp.serving.questions import Limits, RequestError, read_question

_TYPES = {"json": "application/json", "conllu": "text/x-conllu; charset=utf-8"}
# The page runs its own program and asks this server alone.
_PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


class _Metrics:
    """What Prometheus is told: numbers only, nothing of what was asked."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter("treebp_requests", "Requests to /parse, by status.", ["status"], registry=self.registry)
        self.seconds = Histogram("treebp_request_seconds", "Until an answer begins.", registry=self.registry)
        self.words = Counter("treebp_words", "Words parsed.", registry=self.registry)
        self.batches = Histogram(
            "treebp_batch_sentences",
            "Sentences parsed together.",
            registry=self.registry,
            buckets=(1, 2, 4, 8, 16, 32, 64),
        )
        self.in_flight = Gauge(
            "treebp_in_flight",
            "Requests now read, parsed or answered.",
            registry=self.registry,
            multiprocess_mode="livesum",
        )

    def exposition(self) -> bytes:
        """All of it, that of all processes if there are several."""
        registry = self.registry
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


class _Parsing:
    """POST /parse, as an ASGI application of its own: a request counts as in flight until its answer's last byte."""

    def __init__(self, pipeline: Pipeline, engine: Engine, limits: Limits, metrics: _Metrics, most: int) -> None:
        self._pipeline, self._engine, self._limits, self._metrics = pipeline, engine, limits, metrics
        self._in_flight, self._most = 0, most

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if self._in_flight >= self._most:
            self._metrics.requests.labels(429).inc()
            full = _refusal(429, "too many requests at a time: try again", {"Retry-After": "1"})
            await full(scope, receive, send)
            return
        self._in_flight += 1
        self._metrics.in_flight.set(self._in_flight)
        try:
            response = await self._answer(Request(scope, receive))
            self._metrics.requests.labels(response.status_code).inc()
            await response(scope, receive, send)  # the protocol cuts connections that do not take it
        except ClientDisconnect:
            return
        finally:
            self._in_flight -= 1
            self._metrics.in_flight.set(self._in_flight)

    async def _answer(self, request: Request) -> Response:
        began = time.monotonic()
        late = RequestError(408, "the request has not come in time")
        try:
            with _deadline(self._limits.seconds, lambda: late):
                body = await self._body(request)
                late = RequestError(504, "there was not enough time: send less at a time")
                content_type = request.headers.get("content-type", "")
                question = read_question(content_type, body, dict(request.query_params), self._limits)
                job = Job(question, self._pipeline, self._limits)
                first = await self._engine.advance(job)
        except RequestError as refused:
            headers = {"Connection": "close"} if refused.status == 408 else {}
            return _refusal(refused.status, refused.reason, headers)
        except ValueError as error:
            return _refusal(400, str(error))
        except MemoryError:
            return _refusal(413, "there is not enough memory for this sentence")
        except ClientDisconnect:
            raise
        except Exception:
            return _refusal(500, "an error of the server, which has noted where")
        self._metrics.seconds.observe(time.monotonic() - began)
        media_type = _TYPES[question.output]
        if first.is_last:
            self._metrics.words.inc(job.words)
            return Response(first.content, media_type=media_type)
        return StreamingResponse(self._rest(job, first), media_type=media_type)

    async def _body(self, request: Request) -> bytes:
        announced = request.headers.get("content-length", "")
        if announced.isdecimal() and int(announced) > self._limits.size:
            raise RequestError(413, f"a request may have {self._limits.size} bytes")
        parts, size = [], 0
        async for part in request.stream():
            size += len(part)
            if size > self._limits.size:
                raise RequestError(413, f"a request may have {self._limits.size} bytes")
            parts.append(part)
        return b"".join(parts)

    async def _rest(self, job: Job, piece: Piece) -> AsyncIterator[bytes]:
        """The pieces of a long answer; the next is asked for when the client has taken the last one."""
        yield piece.content
        while not piece.is_last:
            piece = await self._engine.advance(job)
            yield piece.content
        self._metrics.words.inc(job.words)


def make_app(
    pipeline: Pipeline,
    *,
    name: str = "model",
    limits: Limits | None = None,
    token: str | None = None,
    processes: int = 1,
) -> Starlette:
    """The application for a model.

    Args:
        pipeline: the model.
        name: it is called.
        limits: what clients may ask for.
        token: that clients must send as ``Authorization: Bearer TOKEN``; the page, what it describes and the
            server's health are for everyone.
        processes: that answer, each with its share of the requests in flight.

    """
    limits = limits or Limits()
    metrics = _Metrics()
    engine = Engine(pipeline, metrics.batches.observe)
    parsing = _Parsing(pipeline, engine, limits, metrics, most=-(-limits.in_flight // processes))
    about = _about(pipeline, name, limits)
    page = files("treebp.serving").joinpath("page.html").read_text(encoding="utf-8")

    def answered(make: Callable[[], Response]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            return make()

        return endpoint

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.get_running_loop().run_in_executor(None, engine.close)

    guarded = [
        Route("/parse", parsing, methods=["POST"]),
        Route("/model", answered(lambda: JSONResponse(about))),
        Route("/metrics", answered(lambda: Response(metrics.exposition(), media_type=CONTENT_TYPE_LATEST))),
    ]
    for route in guarded if token else ():
        route.app = _Guarded(route.app, token or "")
    return Starlette(
        routes=[
            *guarded,
            Route("/", answered(lambda: HTMLResponse(page, headers=_PAGE_HEADERS))),
            Route("/health", answered(lambda: JSONResponse({"status": "ok"}))),
            Route("/openapi.json", answered(lambda: JSONResponse(description(limits)))),
            Route("/docs", answered(lambda: HTMLResponse(description_page(description(limits))))),
        ],
        lifespan=lifespan,
    )


@contextmanager
def _deadline(seconds: float, error: Callable[[], Exception]) -> Iterator[None]:
    """Raise an error where the block still waits after so many seconds (asyncio.timeout, which Python 3.10 lacks)."""
    task = asyncio.current_task()
    assert task is not None
    is_late = False

    def end() -> None:
        nonlocal is_late
        is_late = True
        task.cancel()

    timer = asyncio.get_running_loop().call_later(seconds, end)
    try:
        yield
    except asyncio.CancelledError:
        if not is_late:
            raise
        if hasattr(task, "uncancel"):
            task.uncancel()
        raise error() from None
    finally:
        timer.cancel()


class _Guarded:
    """An application for those who know the token."""

    def __init__(self, app: Any, token: str) -> None:
        self._app, self._expected = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        given = dict(scope["headers"]).get(b"authorization", b"")
        if hmac.compare_digest(given, self._expected):
            await self._app(scope, receive, send)
        else:
            refusal = _refusal(401, "a token is needed: Authorization: Bearer TOKEN", {"WWW-Authenticate": "Bearer"})
            await refusal(scope, receive, send)


def _about(pipeline: Pipeline, name: str, limits: Limits) -> dict[str, Any]:
    """What /model says."""
    parser = pipeline.parser
    return {
        "name": name,
        "treebp": version("treebp"),
        "reads_text": pipeline.tokeniser is not None,
        "tags": parser.tagger is not None,
        "labels": list(parser.labels.labels),
        "factors": list(parser.config.factors),
        "iterations": parser.config.iterations,
        "objective": parser.config.objective,
        "projective": parser.model.projective,
        "single_root": parser.model.single_root,
        "fingerprint": parser.fingerprint,
        "limits": vars(limits),
    }


def _refusal(status: int, reason: str, headers: dict[str, str] | None = None) -> Response:
    return Response(json.dumps({"error": reason}), status, headers, "application/json")
