"""A service on the tiny bundle."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pytest
from starlette.testclient import TestClient

from textveil.service.app import build_app
from textveil.service.settings import Settings

BASE = "http://127.0.0.1:8000"


@pytest.fixture(scope="session")
def serving(tiny_with_prior) -> Callable[..., contextlib.AbstractContextManager[TestClient]]:
    """Starts a service in this process."""

    @contextlib.contextmanager
    def start(**settings) -> Iterator[TestClient]:
        app = build_app(Settings(bundles=(str(tiny_with_prior.folder),), **settings))
        with TestClient(app, base_url=BASE, raise_server_exceptions=True) as client:
            yield client

    return start


@pytest.fixture(scope="session")
def client(serving) -> Iterator[TestClient]:
    """A service that many tests share."""
    with serving(texts=50, bytes=100_000) as client:
        yield client
