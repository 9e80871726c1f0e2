# The English model over HTTP: docker build -t treebp . && docker run --rm -p 8000:8000 treebp
FROM python:3.13.1-slim-bookworm AS build
COPY . /source
RUN python -m venv /opt/treebp && /opt/treebp/bin/pip install --no-cache-dir "/source[serve]"

FROM python:3.13.1-slim-bookworm
RUN useradd --system --uid 10001 --create-home --home-dir /home/treebp treebp
COPY --from=build /opt/treebp /opt/treebp
USER treebp
# Compiled once, here, and not when a container starts.
ENV NUMBA_CACHE_DIR=/home/treebp/kernels PATH=/opt/treebp/bin:$PATH
RUN echo "They saw her duck." | treebp parse en --kbest 2 > /home/treebp/first.conllu \
    && treebp parse en --input conll --constraints /home/treebp/first.conllu > /dev/null
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-c", \
    "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
# A token, if TREEBP_TOKEN is set: docker run -e TREEBP_TOKEN=...
ENTRYPOINT ["treebp", "serve"]
CMD ["en", "--host", "0.0.0.0"]
