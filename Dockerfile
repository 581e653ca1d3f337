# The service in a container: the core and the extra `serve`, without models. docs/service.md says how to run it.
# `python -m scripts.release.try_container` does these steps without an engine.
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE NOTICE ./
COPY src src
RUN python -m venv /opt/textveil
RUN /opt/textveil/bin/python -m pip install --quiet --no-cache-dir --constraint constraints.txt '.[serve]'

FROM python:3.13-slim
COPY --from=build /opt/textveil /opt/textveil
ENV PATH=/opt/textveil/bin:$PATH
ENV TEXTVEIL_CACHE=/tmp/textveil
ENV TEXTVEIL_SERVE_HOST=0.0.0.0
ENV TEXTVEIL_SERVE_PORT=8000
ENV TEXTVEIL_SERVE_TOKEN_FILE=/run/secrets/textveil-token
USER 10001
EXPOSE 8000
HEALTHCHECK --start-period=60s CMD ["python", "-c", "import os, urllib.request as web; web.urlopen('http://127.0.0.1:' + os.environ['TEXTVEIL_SERVE_PORT'] + '/health', timeout=5)"]
CMD ["textveil", "serve"]
