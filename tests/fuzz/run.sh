#!/usr/bin/env bash
# Fuzzes the native kernel under ASan and UBSan: `bash tests/fuzz/run.sh SECONDS` (default 20).
#
# With a compiler that has libFuzzer (clang, or what CXX names) inputs that reach new code are kept
# in build/fuzz/corpus and the next run starts from them; else driver.cc makes up inputs. SEED makes
# another run. An input that fails is left in build/fuzz/failures.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-20} seed=${SEED:-1}
build=build/fuzz
shopt -s extglob
sources=(tests/fuzz/fuzz_*.cc tfrecord_beam/kernel/native/!(*module).cc) # all but those of pybind11
flags=(-std=c++17 -O1 -g -fno-omit-frame-pointer -Wall -Wextra
  -fsanitize=address,undefined -fno-sanitize-recover=undefined -Itfrecord_beam/kernel/native)
export UBSAN_OPTIONS=print_stacktrace=1

mkdir -p $build/corpus $build/failures
python3 -m tests.fuzz.make_corpus $build/seeds

compiler=${CXX:-$(command -v clang++ || echo g++)}
echo 'extern "C" int LLVMFuzzerTestOneInput() { return 0; }' >$build/probe.cc
if "$compiler" -fsanitize=fuzzer $build/probe.cc -o $build/probe 2>$build/probe.log; then
  echo "$compiler, with libFuzzer"
  "$compiler" "${flags[@]}" -fsanitize=fuzzer "${sources[@]}" -o $build/fuzzer
  $build/fuzzer -max_total_time="$seconds" -seed="$seed" -max_len=16384 -verbosity=0 \
    -error_exitcode=1 -print_final_stats=1 -artifact_prefix=$build/failures/ $build/corpus $build/seeds
else
  echo "$compiler, without libFuzzer"
  "$compiler" "${flags[@]}" "${sources[@]}" tests/fuzz/driver.cc -o $build/driver
  $build/driver "$seed" "$seconds" $build/seeds $build/failures/input
fi
