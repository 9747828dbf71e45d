// What the files that know pybind11 share.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <vector>

#include "columns.h"
#include "encode.h"

namespace tfrecord_beam {

// Both give memory that lives as long as the memoryview.
pybind11::object MakeMemoryView(Buffer buffer);
pybind11::object MakeMemoryView(std::vector<int64_t> values);

[[noreturn]] void ThrowError(const pybind11::object& error);
[[noreturn]] void ThrowFailure(const EncodeFailure& failure);

void BindExampleEncoder(pybind11::module_& module);

}  // namespace tfrecord_beam
