// Python bindings of arrays.h and coordinates.h. See module.cc.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "coordinates.h"
#include "numpy_arrays.h"

namespace py = pybind11;

namespace tfrecord_beam {
namespace {

using Int64Array = py::array_t<int64_t, 0>;  // any strides, no conversion from other types

bool IsVector(const Int64Array& array) {
  return array.ndim() == 1 && (array.size() <= 1 || array.strides(0) == sizeof(int64_t));
}

SplitsView ToSplits(const Int64Array& array) {
  if (!IsVector(array) || array.size() == 0) {
    throw py::value_error("Expected row splits, in one piece, found another array");
  }
  const SplitsView splits{array.data(), array.size() - 1};
  if (!AreSplits(splits)) throw py::value_error("Expected row splits that ascend from 0");
  CheckRoom(splits.total());
  return splits;
}

template <typename Result>
std::optional<Result> AskArray(const py::object& object,
                               std::optional<Result> (*function)(const ArrowSchema&,
                                                                 const ArrowArray&)) {
  const ImportedArray imported(object);
  const py::gil_scoped_release release;
  return function(imported.schema(), imported.array());
}

constexpr const char* kNoLists = "Expected an array of lists or strings, found another";

py::array ElementLengths(const py::object& array) {
  std::optional<Buffer> lengths = AskArray(array, FindLengths);
  if (!lengths) throw py::value_error(kNoLists);
  return MakeVector(std::move(*lengths));
}

py::tuple RowSplitsOf(const py::object& array) {
  const ImportedArray imported(array);
  std::optional<RowSplits> found;
  {
    const py::gil_scoped_release release;
    found = FindRowSplits(imported.schema(), imported.array());
  }
  if (!found) throw py::value_error(kNoLists);
  py::object first = py::none();
  if (found->without_gaps) first = py::int_(found->first);
  const int64_t longest = found->longest;
  return py::make_tuple(MakeSplits(std::move(*found), imported.array(), imported.owner()), longest,
                        first);
}

int64_t CountInvalidUtf8In(const py::object& array) {
  const std::optional<int64_t> count = AskArray(array, CountInvalidUtf8);
  if (!count) throw py::value_error("Expected an array of strings, found another");
  return *count;
}

py::array ParentIndices(const Int64Array& splits) {
  const SplitsView view = ToSplits(splits);
  Buffer parents;
  {
    const py::gil_scoped_release release;
    parents = FindParents(view);
  }
  return MakeVector(std::move(parents));
}

py::array Coordinates(const std::vector<Int64Array>& levels) {
  if (levels.empty()) throw py::value_error("Expected at least one level, found none");
  std::vector<SplitsView> views;
  for (const Int64Array& level : levels) {
    views.push_back(ToSplits(level));
    const int64_t lists = views.back().lists;
    if (views.size() > 1 && views[views.size() - 2].total() != lists) {
      throw py::value_error("Expected a level of " +
                            std::to_string(views[views.size() - 2].total()) + " lists, found " +
                            std::to_string(lists));
    }
  }
  Buffer coordinates;
  {
    const py::gil_scoped_release release;
    coordinates = FindCoordinates(views);
  }
  return MakeMatrix(std::move(coordinates), views.size() + 1);
}

py::object SplitsOfCoordinates(const Int64Array& coordinates, const std::vector<int64_t>& shape) {
  const auto rank = static_cast<py::ssize_t>(shape.size());
  if (rank == 0 || shape[0] < 0 || coordinates.ndim() != 2 || coordinates.shape(1) != rank) {
    throw py::value_error("Expected as many coordinates of each value as sizes, found others");
  }
  CheckRoom(shape[0]);
  const MatrixView view{reinterpret_cast<const char*>(coordinates.data()), coordinates.shape(0),
                        coordinates.strides(0), coordinates.strides(1)};
  std::optional<FoundSplits> found;
  {
    const py::gil_scoped_release release;
    found = FindSplits(view, shape);
  }
  if (!found) return py::none();
  return py::make_tuple(MakeVector(std::move(found->splits)), found->without_gaps);
}

bool IsAligned(const py::array& array) {
  constexpr uintptr_t kAlignment = 64;
  const bool is_dense = (array.flags() & py::array::c_style) != 0;
  return is_dense && reinterpret_cast<uintptr_t>(array.data()) % kAlignment == 0;
}

py::array AsWritable(const py::array& array) {
  const std::vector<py::ssize_t> shape(array.shape(), array.shape() + array.ndim());
  const std::vector<py::ssize_t> strides(array.strides(), array.strides() + array.ndim());
  py::array view(array.dtype(), shape, strides, array.data(), array);
  py::detail::array_proxy(view.ptr())->flags |= py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return view;
}

}  // namespace

void BindArrays(py::module_& module) {
  module.def("element_lengths", &ElementLengths, py::arg("array"));
  module.def("row_splits", &RowSplitsOf, py::arg("array"));
  module.def(
      "byte_size", [](const py::object& array) { return AskArray(array, ByteSize); },
      py::arg("array"));
  module.def("count_invalid_utf8", &CountInvalidUtf8In, py::arg("array"));
  module.def("parent_indices", &ParentIndices, py::arg("splits"));
  module.def("coordinates", &Coordinates, py::arg("levels"));
  module.def("splits_of_coordinates", &SplitsOfCoordinates, py::arg("coordinates"),
             py::arg("shape"));
  module.def("is_aligned", &IsAligned, py::arg("array"));
  module.def("as_writable", &AsWritable, py::arg("array"));
}

}  // namespace tfrecord_beam
