// Declarations shared by the files that use pybind11.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <vector>

#include "arrow_abi.h"
#include "columns.h"
#include "encode.h"

namespace tfrecord_beam {

// Both return a memoryview that owns the memory.
pybind11::object MakeMemoryView(Buffer buffer);
pybind11::object MakeMemoryView(std::vector<int64_t> values);

template <typename Struct>
const Struct& ContentsOf(const pybind11::handle& capsule, const char* name) {
  const auto* const content = static_cast<Struct*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (content == nullptr) throw pybind11::error_already_set();
  if (content->release == nullptr) {  // a consumer has moved the data out, and may have freed them
    throw pybind11::value_error(
        "Expected Arrow data that are still there, found some that were released");
  }
  return *content;
}

// An array or a batch in its capsules, which release it when they are destroyed.
class ImportedArray {
 public:
  explicit ImportedArray(const pybind11::object& array)
      : capsules_(array.attr("__arrow_c_array__")()),
        schema_(ContentsOf<ArrowSchema>(capsules_[0], "arrow_schema")),
        array_(ContentsOf<ArrowArray>(capsules_[1], "arrow_array")) {}

  const ArrowSchema& schema() const { return schema_; }
  const ArrowArray& array() const { return array_; }
  const pybind11::object& owner() const { return capsules_; }  // owns all the memory

 private:
  pybind11::tuple capsules_;
  const ArrowSchema& schema_;
  const ArrowArray& array_;
};

[[noreturn]] void ThrowError(const pybind11::object& error);
[[noreturn]] void ThrowFailure(const EncodeFailure& failure);

void BindExampleEncoder(pybind11::module_& module);
void BindArrays(pybind11::module_& module);
void BindBatchReader(pybind11::module_& module);

}  // namespace tfrecord_beam
