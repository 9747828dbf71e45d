# Two images: the command line, and a worker of Beam pipelines. docs/dataflow.md uses the second.
#   docker build -t tfrecord-beam .
#   docker run --rm -v "$PWD:/data" tfrecord-beam --help
#   docker build -t REGISTRY/tfrecord-beam-worker --target worker .
# Versions are arguments; an image by digest is one too:
#   docker build --build-arg SLIM_IMAGE=python:3.12-slim-bookworm@sha256:... .
ARG PYTHON_VERSION=3.12
# A pipeline's workers need the Python and the Beam that submit it.
ARG BEAM_VERSION=2.77.0
# The Debian of Beam's images: the extension needs a C library at least as new as where it was built.
ARG DEBIAN=bookworm
ARG BUILD_IMAGE=python:${PYTHON_VERSION}-${DEBIAN}
ARG SLIM_IMAGE=python:${PYTHON_VERSION}-slim-${DEBIAN}
ARG WORKER_IMAGE=apache/beam_python${PYTHON_VERSION}_sdk:${BEAM_VERSION}

FROM ${BUILD_IMAGE} AS wheel
COPY . /src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /src

FROM ${WORKER_IMAGE} AS worker
ARG BEAM_VERSION
# Instead of a slow pipeline, an error where the extension is missing.
ENV TFRECORD_BEAM_KERNEL=native
RUN --mount=type=bind,from=wheel,source=/wheels,target=/wheels \
    pip install --no-cache-dir "apache-beam[gcp]==${BEAM_VERSION}" "$(echo /wheels/*.whl)[report]"
RUN python -c "from tfrecord_beam.transforms.read import BeamSource"
# Beam's boot program makes an environment in this folder when a worker starts.
RUN useradd --uid 1000 --create-home tfrecord && \
    install --directory --owner tfrecord /opt/apache/beam-venv
USER 1000

FROM ${SLIM_IMAGE} AS command
ARG BEAM_VERSION
ENV TFRECORD_BEAM_KERNEL=native
RUN --mount=type=bind,from=wheel,source=/wheels,target=/wheels \
    pip install --no-cache-dir "apache-beam==${BEAM_VERSION}" "$(echo /wheels/*.whl)[report]"
RUN tfrecord-beam --version && tfrecord-beam read
RUN useradd --uid 1000 --create-home tfrecord
USER 1000
WORKDIR /data
ENTRYPOINT ["tfrecord-beam"]
