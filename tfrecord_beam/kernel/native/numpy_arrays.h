// Numpy arrays over memory that is not numpy's. Only for files that use pybind11.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "arrays.h"
#include "columns.h"

namespace tfrecord_beam {

// More numbers do not fit into any memory. Up to here their size in bytes does not overflow, even
// with some thousand dimensions.
inline constexpr int64_t kMostNumbers = int64_t{1} << 48;

inline void CheckRoom(int64_t numbers) {
  if (numbers > kMostNumbers) throw std::bad_alloc();
}

inline pybind11::array MakeArray(Buffer buffer, std::vector<pybind11::ssize_t> shape) {
  auto owned = std::make_unique<Buffer>(std::move(buffer));
  const auto* const data = owned->as<int64_t>();
  const pybind11::capsule owner(owned.get(),
                                [](void* memory) { delete static_cast<Buffer*>(memory); });
  owned.release();
  return pybind11::array_t<int64_t>(std::move(shape), data, owner);
}

inline pybind11::array MakeVector(Buffer buffer) {
  const auto count = static_cast<pybind11::ssize_t>(buffer.size() / sizeof(int64_t));
  return MakeArray(std::move(buffer), {count});
}

inline pybind11::array MakeMatrix(Buffer buffer, size_t columns) {
  const auto rows = static_cast<pybind11::ssize_t>(buffer.size() / sizeof(int64_t) / columns);
  return MakeArray(std::move(buffer), {rows, static_cast<pybind11::ssize_t>(columns)});
}

inline pybind11::array MakeShape(const std::vector<int64_t>& sizes) {
  Buffer buffer;
  std::copy(sizes.begin(), sizes.end(),
            buffer.Allocate<int64_t>(static_cast<int64_t>(sizes.size())));
  return MakeVector(std::move(buffer));
}

// A read-only array over memory that another object owns.
inline pybind11::array View(const pybind11::dtype& dtype, int64_t count, const void* data,
                            const pybind11::object& owner) {
  pybind11::array view(dtype, {static_cast<pybind11::ssize_t>(count)}, data, owner);
  pybind11::detail::array_proxy(view.ptr())->flags &=
      ~pybind11::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return view;
}

// The row splits of a list array, which `owner` keeps alive.
inline pybind11::array MakeSplits(RowSplits found, const ArrowArray& array,
                                  const pybind11::object& owner) {
  if (found.owned.size() != 0) return MakeVector(std::move(found.owned));
  return View(pybind11::dtype::of<int64_t>(), array.length + 1, found.splits, owner);
}

}  // namespace tfrecord_beam
