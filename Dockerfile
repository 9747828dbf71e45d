# The command line in a small image:
#   docker build -t tfrecord-beam .
#   docker run --rm -v "$PWD:/data" tfrecord-beam --help
ARG PYTHON_VERSION=3.12

FROM python:${PYTHON_VERSION} AS build
COPY . /src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /src

FROM python:${PYTHON_VERSION}-slim
# A pipeline's workers need the Beam version that submits it.
ARG BEAM_VERSION=2.77.0
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir "apache-beam==${BEAM_VERSION}" /wheels/*.whl
RUN useradd --create-home tfrecord
USER tfrecord
WORKDIR /data
ENTRYPOINT ["tfrecord-beam"]
