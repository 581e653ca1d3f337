"""A client of the service, with the method names of the Obfuscator."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from textveil.errors import ParameterError, ServiceError
from textveil.extras import require

URL = "http://127.0.0.1:8000"
SECONDS = 60.0


class Client:
    """Calls a service. It may be used as a context manager, which closes its connections.

    Args:
        url: The address of the service.
        token: The token of the service, if it needs one.
        seconds: The time to wait for an answer.
        settings: What holds for all requests, such as ``mechanism="fluent"``.

    Every method takes further settings by name, and returns what the service answers. docs/service.md lists both.
    """

    def __init__(self, url: str = URL, *, token: str | None = None, seconds: float = SECONDS, **settings: Any) -> None:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        httpx = require("httpx", extra="serve")
        self._http = httpx.Client(base_url=url, headers=headers, timeout=seconds)
        self._failures: type[Exception] = httpx.HTTPError
        self._settings = settings

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def obfuscate(self, text: str, **settings: Any) -> dict[str, Any]:
        """Obfuscate one text."""
        return self._call("POST", "/obfuscate", json={"text": text, **self._settings, **settings})

    def obfuscate_all(self, texts: Iterable[str | None], **settings: Any) -> dict[str, Any]:
        """Obfuscate several texts; a missing one is ``None``."""
        return self._call("POST", "/obfuscate", json={"texts": list(texts), **self._settings, **settings})

    def find_methods(self) -> dict[str, Any]:
        """What requests may choose."""
        return self._call("GET", "/methods")

    def _call(self, method: str, route: str, **options: Any) -> dict[str, Any]:
        """The content of an answer.

        Raises:
            ParameterError: The service refused a parameter.
            ServiceError: It refused the request for another reason, or failed.
        """
        try:
            answer = self._http.request(method, route, **options)
        except self._failures as error:
            name = type(error).__name__
            raise ServiceError(f"The service cannot be reached ({name}). Check the `url`.", 503, name) from error
        try:
            content = answer.json()
        except ValueError:
            content = None
        if not isinstance(content, dict):
            content = {"error": "The answer is not that of a textveil service. Check the `url`."}
        elif answer.is_success:
            return content
        message = str(content.get("error"))
        if answer.status_code == 422:
            raise ParameterError(message)
        raise ServiceError(message, answer.status_code, str(content.get("kind", "")))
