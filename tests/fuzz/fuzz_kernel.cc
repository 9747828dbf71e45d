// The entry of the fuzzer. The first byte of an input says which part of the kernel the rest is
// for.

#include "input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tfrecord_beam::Input input(data, size);
  switch (input.Take<uint8_t>() % 3) {
    case 0:
      tfrecord_beam::FuzzFraming(input);
      break;
    case 1:
      tfrecord_beam::FuzzDecode(input);
      break;
    default:
      tfrecord_beam::FuzzEncode(input);
  }
  return 0;
}
