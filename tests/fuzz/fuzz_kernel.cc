// The entry of the fuzzer. The first byte of an input says which part of the kernel the rest is
// for.

#include "input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tfrecord_beam::Input input(data, size);
  if (input.Take<uint8_t>() % 2 == 0) {
    tfrecord_beam::FuzzFraming(input);
  } else {
    tfrecord_beam::FuzzDecode(input);
  }
  return 0;
}
