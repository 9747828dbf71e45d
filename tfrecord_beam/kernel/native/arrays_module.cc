// Python bindings of arrays.h and coordinates.h. See module.cc.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "coordinates.h"
#include "short_bytes.h"

namespace py = pybind11;

namespace tfrecord_beam {
namespace {

using Int64Array = py::array_t<int64_t, 0>;  // any strides, no conversion from other types

// More numbers do not fit into any memory. Up to here their size in bytes does not overflow, even
// with some thousand dimensions.
constexpr int64_t kMostNumbers = int64_t{1} << 48;

void CheckRoom(int64_t numbers) {
  if (numbers > kMostNumbers) throw std::bad_alloc();
}

py::array MakeArray(Buffer buffer, std::vector<py::ssize_t> shape) {
  auto owned = std::make_unique<Buffer>(std::move(buffer));
  const auto* const data = owned->as<int64_t>();
  const py::capsule owner(owned.get(), [](void* memory) { delete static_cast<Buffer*>(memory); });
  owned.release();
  return py::array_t<int64_t>(std::move(shape), data, owner);
}

py::array MakeVector(Buffer buffer) {
  const auto count = static_cast<py::ssize_t>(buffer.size() / sizeof(int64_t));
  return MakeArray(std::move(buffer), {count});
}

py::array MakeMatrix(Buffer buffer, size_t columns) {
  const auto rows = static_cast<py::ssize_t>(buffer.size() / sizeof(int64_t) / columns);
  return MakeArray(std::move(buffer), {rows, static_cast<py::ssize_t>(columns)});
}

py::array MakeShape(const std::vector<int64_t>& sizes) {
  Buffer buffer;
  std::copy(sizes.begin(), sizes.end(),
            buffer.Allocate<int64_t>(static_cast<int64_t>(sizes.size())));
  return MakeVector(std::move(buffer));
}

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

// A read-only array over memory that another object owns.
py::array View(const py::dtype& dtype, int64_t count, const void* data, const py::object& owner) {
  py::array view(dtype, {static_cast<py::ssize_t>(count)}, data, owner);
  py::detail::array_proxy(view.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return view;
}

py::dtype DtypeOf(char format) {
  switch (format) {
    case 'c':
      return py::dtype::of<int8_t>();
    case 'C':
      return py::dtype::of<uint8_t>();
    case 's':
      return py::dtype::of<int16_t>();
    case 'S':
      return py::dtype::of<uint16_t>();
    case 'i':
      return py::dtype::of<int32_t>();
    case 'I':
      return py::dtype::of<uint32_t>();
    case 'l':
      return py::dtype::of<int64_t>();
    case 'L':
      return py::dtype::of<uint64_t>();
    case 'f':
      return py::dtype::of<float>();
    default:
      return py::dtype::of<double>();
  }
}

// Makes `bytes`. Equal short ones near each other are one object: columns of strings often have few
// different values, and to make an object takes longer than to find one.
class BytesMaker {
 public:
  // Returns a new reference, null with a Python error set. The caller keeps all objects alive.
  PyObject* Make(std::string_view value) {
    if (value.size() > kShort) return New(value);
    PyObject*& known = recent_[HashBytes(value) % recent_.size()];
    if (known != nullptr && EqualBytes(ContentOf(known), value)) return Py_NewRef(known);
    return known = New(value);
  }

 private:
  static constexpr size_t kShort = 64;

  static PyObject* New(std::string_view value) {
    return PyBytes_FromStringAndSize(value.data(), static_cast<Py_ssize_t>(value.size()));
  }

  static std::string_view ContentOf(PyObject* bytes) {
    return {PyBytes_AS_STRING(bytes), static_cast<size_t>(PyBytes_GET_SIZE(bytes))};
  }

  std::array<PyObject*, 256> recent_{};  // borrowed
};

py::array MakeBytes(const ValueLists& strings) {
  const std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(strings.count)};
  py::array array(py::dtype(py::detail::npy_api::NPY_OBJECT_), shape);
  auto* const out = static_cast<PyObject**>(array.mutable_data());
  BytesMaker maker;
  for (int64_t i = 0; i < strings.count; ++i) {
    const int64_t begin = strings.offsets[i];
    const int64_t size = strings.offsets[i + 1] - begin;
    out[i] = maker.Make({strings.data + begin, static_cast<size_t>(size)});
    if (out[i] == nullptr) throw py::error_already_set();
  }
  return array;
}

py::array MakeValues(const ValueLists& lists, const ImportedArray& imported) {
  if (lists.format == 0) return MakeBytes(lists);
  return View(DtypeOf(lists.format), lists.count, lists.data, imported.owner());
}

py::array MakeSplits(RowSplits found, const ImportedArray& imported) {
  if (found.owned.size() != 0) return MakeVector(std::move(found.owned));
  return View(py::dtype::of<int64_t>(), imported.array().length + 1, found.splits,
              imported.owner());
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
  return py::make_tuple(MakeSplits(std::move(*found), imported), longest, first);
}

py::object ValueListsOf(const py::object& array) {
  const ImportedArray imported(array);
  std::optional<ValueLists> found;
  {
    const py::gil_scoped_release release;
    found = FindValueLists(imported.schema(), imported.array());
  }
  if (!found) return py::none();
  const py::array values = MakeValues(*found, imported);
  const int64_t longest = found->rows.longest;
  return py::make_tuple(MakeSplits(std::move(found->rows), imported), longest, values);
}

py::object SparseLists(const py::object& object) {
  const ImportedArray imported(object);
  const ArrowArray& array = imported.array();
  std::optional<ValueLists> found;
  Buffer coordinates;
  {
    const py::gil_scoped_release release;
    found = FindValueLists(imported.schema(), array);
    if (found) {
      CheckRoom(found->count);
      const SplitsView rows{found->rows.splits, array.length};
      coordinates = FindCoordinates(rows, Nulls(array, array.offset));
    }
  }
  if (!found) return py::none();
  return py::make_tuple(MakeMatrix(std::move(coordinates), 2), MakeValues(*found, imported),
                        MakeShape({array.length, found->rows.longest}));
}

py::object SparseColumns(const py::object& values, const std::vector<py::object>& indices,
                         std::vector<int64_t> sizes) {
  if (indices.size() != sizes.size()) {
    throw py::value_error("Expected a size for each column of indices, found others");
  }
  const ImportedArray imported(values);
  const int64_t rows = imported.array().length;
  const std::optional<ValueLists> found = FindValueLists(imported.schema(), imported.array());
  if (!found) return py::none();
  CheckRoom(found->count);
  std::vector<ImportedArray> columns;
  std::vector<ValueLists> lists;
  std::vector<Indices> dimensions;
  for (size_t i = 0; i < sizes.size(); ++i) {
    columns.emplace_back(indices[i]);
    const ArrowArray& array = columns.back().array();
    std::optional<ValueLists> column = FindValueLists(columns.back().schema(), array);
    if (!column || column->format != 'l' || array.length != rows) return py::none();
    const int64_t end = sizes[i] < 0 ? std::numeric_limits<int64_t>::max() : sizes[i];
    dimensions.push_back(
        {column->rows.splits, reinterpret_cast<const int64_t*>(column->data), end});
    lists.push_back(std::move(*column));
  }
  std::optional<Buffer> coordinates;
  {
    const py::gil_scoped_release release;
    coordinates = JoinCoordinates({found->rows.splits, rows}, dimensions);
  }
  if (!coordinates) return py::none();
  sizes.insert(sizes.begin(), rows);
  return py::make_tuple(MakeMatrix(std::move(*coordinates), sizes.size()),
                        MakeValues(*found, imported), MakeShape(sizes));
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
  module.def("value_lists", &ValueListsOf, py::arg("array"));
  module.def("sparse_lists", &SparseLists, py::arg("array"));
  module.def("sparse_columns", &SparseColumns, py::arg("values"), py::arg("indices"),
             py::arg("sizes"));
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
