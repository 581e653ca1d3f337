"""The application: routes, page, errors as JSON, and the layers around them."""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import mimetypes
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from textveil.errors import BundleError, InputError, MissingExtraError, ParameterError, ResourceError, TextveilError
from textveil.service import models
from textveil.service.middleware import LOGGER, Frame, Gate, write_problem
from textveil.service.models import RefusedError
from textveil.service.routes import Desk, build_router
from textveil.service.settings import Settings
from textveil.version import __version__

PAGE = Path(__file__).with_name("page")
WRONG = (ParameterError, InputError, BundleError)
"""Errors that another request avoids."""
ABSENT = (MissingExtraError, ResourceError)
"""Errors that only the owner of the server can avoid."""
HTTP_ERRORS = {404: "There is no such route.", 405: "The route needs another method.", 400: "The body is not JSON."}


def build_app(settings: Settings) -> FastAPI:
    """The application. Models are loaded when it starts, and accepted work is finished when it ends."""
    token = settings.read_token()
    desk = Desk(settings)

    @contextlib.asynccontextmanager
    async def run(_: FastAPI) -> AsyncIterator[None]:
        asyncio.get_running_loop().set_exception_handler(log_loose_error)
        await desk.load()
        try:
            yield
        finally:
            await desk.batcher.close(settings.seconds)

    app = FastAPI(
        title="textveil",
        version=__version__,
        description="Obfuscates English texts under differential privacy.",
        docs_url=None,  # its scripts would come from another host
        redoc_url=None,
        lifespan=run,
    )
    app.state.desk = desk
    app.include_router(build_router(desk))
    _add_page(app)
    _add_errors(app)
    app.add_middleware(Gate, settings=settings, token=token)
    if settings.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.origins,
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type", "X-Request-ID"],
            expose_headers=["X-Request-ID", "Retry-After"],
        )
    app.add_middleware(Frame)
    return app


def log_loose_error(_: asyncio.AbstractEventLoop | None, context: dict[str, Any]) -> None:
    """Log the type of an exception that nobody waited for. What asyncio would log may quote a text."""
    LOGGER.error("%s in the event loop", type(context.get("exception")).__name__)


def _add_page(app: FastAPI) -> None:
    """The files of the page are small. From memory, they are sent at once, however many ask for them."""
    files = {path.name: path.read_bytes() for path in PAGE.glob("*.*") if path.is_file()}

    @app.get("/", include_in_schema=False)
    @app.get("/page/{name}", include_in_schema=False)
    async def page(name: str = "index.html") -> Response:
        if name not in files:
            raise HTTPException(404)
        return Response(files[name], media_type=mimetypes.guess_type(name)[0])


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(RefusedError)
    async def tell(request: Request, refused: RefusedError) -> Response:
        body = write_problem(request.scope, refused)
        return Response(body, refused.status, refused.headers, media_type="application/json")

    @app.exception_handler(TextveilError)
    async def tell_error(request: Request, error: TextveilError) -> Response:
        status = 501 if isinstance(error, ABSENT) else 422 if isinstance(error, WRONG) else 500
        kind = type(error).__name__
        return await tell(request, RefusedError(status, str(error), kind, parameters=error.parameters))

    @app.exception_handler(RequestValidationError)
    async def tell_invalid(request: Request, error: RequestValidationError) -> Response:
        return await tell(request, explain_invalid(error.errors()[0], _find_model(request)))

    @app.exception_handler(HTTPException)
    async def tell_http(request: Request, error: HTTPException) -> Response:
        message = HTTP_ERRORS.get(error.status_code, "The request is wrong.")
        return await tell(request, RefusedError(error.status_code, message, "RouteError"))


def _find_model(request: Request) -> type[BaseModel] | None:
    name = request.url.path.strip("/").capitalize() + "Request"
    return getattr(models, name, None)


def explain_invalid(error: dict[str, Any], model: type[BaseModel] | None) -> RefusedError:
    """The refusal of a request of the wrong form. It quotes nothing of the request.

    Args:
        error: What Pydantic found first.
        model: The model of the request.
    """
    if error["type"] == "json_invalid":
        return RefusedError(400, "The body is not valid JSON.", "JSONError")
    fields = list(model.model_fields) if model is not None else []
    place = [str(part) for part in error["loc"] if part not in ("body", "query")]
    parameters: list[str] = []
    if error["type"] == "extra_forbidden":
        near = difflib.get_close_matches(place[-1], fields, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Choose from: {', '.join(fields)}."
        message = f"The request has an unknown parameter. {hint}"
    elif not place or place[0] not in fields:
        message = "The request must be a JSON object with known parameters; see /openapi.json."
    else:
        parameters = place[:1]
        position = f", item {place[1]}," if len(place) > 1 and place[1].isdigit() and len(place[1]) < 10 else ""
        reason = str(error["msg"]).removeprefix("Input should be ")
        missing = error["type"] == "missing"
        message = f"`{place[0]}` is missing." if missing else f"`{place[0]}`{position} must be {reason}."
    return RefusedError(422, message, "ParameterError", parameters=parameters)
