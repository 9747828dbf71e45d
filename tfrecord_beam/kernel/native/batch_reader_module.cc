// Python bindings of what reads tensors from the columns of a batch. See module.cc.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "coordinates.h"
#include "numpy_arrays.h"
#include "short_bytes.h"

namespace py = pybind11;

namespace tfrecord_beam {
namespace {

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

py::array MakeValues(const ValueLists& lists, const py::object& owner) {
  if (lists.format == 0) return MakeBytes(lists);
  return View(DtypeOf(lists.format), lists.count, lists.data, owner);
}

struct BatchColumn {
  const ArrowSchema* schema = nullptr;
  const ArrowArray* array = nullptr;
  py::object owner;  // keeps the memory of the array, and of no other column
};

// Moves an array to a capsule of its own, which releases it.
py::object MoveToCapsule(ArrowArray* array) {
  auto moved = std::make_unique<ArrowArray>(*array);
  py::capsule capsule(moved.get(), [](void* memory) {
    const std::unique_ptr<ArrowArray> owned(static_cast<ArrowArray*>(memory));
    if (owned->release != nullptr) owned->release(owned.get());
  });
  moved.release();
  array->release = nullptr;  // what the interface demands of who moves a child out of its parent
  return std::move(capsule);
}

class BatchReader {
 public:
  BatchReader(py::object batch, bool at_once)
      : batch_(std::move(batch)), columns_(batch_.attr("num_columns").cast<size_t>()) {
    if (at_once) whole_.emplace(batch_);
  }

  py::object Column(size_t index) const { return batch_.attr("column")(index); }

  py::object ValueListsOf(size_t index) {
    const BatchColumn& column = Import(index);
    std::optional<ValueLists> found;
    {
      const py::gil_scoped_release release;
      found = FindValueLists(*column.schema, *column.array);
    }
    if (!found) return py::none();
    const py::array values = MakeValues(*found, column.owner);
    const int64_t longest = found->rows.longest;
    return py::make_tuple(MakeSplits(std::move(found->rows), *column.array, column.owner), longest,
                          values);
  }

  py::object SparseLists(size_t index) {
    const BatchColumn& column = Import(index);
    const ArrowArray& array = *column.array;
    std::optional<ValueLists> found;
    Buffer coordinates;
    {
      const py::gil_scoped_release release;
      found = FindValueLists(*column.schema, array);
      if (found) {
        CheckRoom(found->count);
        const SplitsView rows{found->rows.splits, array.length};
        coordinates = FindCoordinates(rows, Nulls(array, array.offset));
      }
    }
    if (!found) return py::none();
    return py::make_tuple(MakeMatrix(std::move(coordinates), 2), MakeValues(*found, column.owner),
                          MakeShape({array.length, found->rows.longest}));
  }

  py::object SparseColumns(size_t index, const std::vector<size_t>& indices,
                           std::vector<int64_t> sizes) {
    if (indices.size() != sizes.size()) {
      throw py::value_error("Expected a size for each column of indices, found others");
    }
    const BatchColumn& column = Import(index);
    const int64_t rows = column.array->length;
    const std::optional<ValueLists> found = FindValueLists(*column.schema, *column.array);
    if (!found) return py::none();
    CheckRoom(found->count);
    std::vector<ValueLists> lists;
    std::vector<Indices> dimensions;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const BatchColumn& one = Import(indices[i]);
      std::optional<ValueLists> dimension = FindValueLists(*one.schema, *one.array);
      if (!dimension || dimension->format != 'l') return py::none();
      const int64_t end = sizes[i] < 0 ? std::numeric_limits<int64_t>::max() : sizes[i];
      const auto* const data = reinterpret_cast<const int64_t*>(dimension->data);
      dimensions.push_back({dimension->rows.splits, data, end});
      lists.push_back(std::move(*dimension));
    }
    std::optional<Buffer> coordinates;
    {
      const py::gil_scoped_release release;
      coordinates = JoinCoordinates({found->rows.splits, rows}, dimensions);
    }
    if (!coordinates) return py::none();
    sizes.insert(sizes.begin(), rows);
    return py::make_tuple(MakeMatrix(std::move(*coordinates), sizes.size()),
                          MakeValues(*found, column.owner), MakeShape(sizes));
  }

 private:
  const BatchColumn& Import(size_t index) {
    if (index >= columns_.size()) throw py::index_error("Expected the index of a column");
    BatchColumn& column = columns_[index];
    if (column.array != nullptr) return column;
    if (whole_) {
      column.schema = whole_->schema().children[index];
      column.owner = MoveToCapsule(whole_->array().children[index]);
      column.array = py::reinterpret_borrow<py::capsule>(column.owner).get_pointer<ArrowArray>();
    } else {
      const ImportedArray imported(Column(index));
      column = {&imported.schema(), &imported.array(), imported.owner()};
    }
    return column;
  }

  py::object batch_;
  std::optional<ImportedArray> whole_;  // columns are moved out of it when they are needed
  std::vector<BatchColumn> columns_;
};

}  // namespace

void BindBatchReader(py::module_& module) {
  py::class_<BatchReader>(module, "BatchReader")
      .def(py::init<py::object, bool>(), py::arg("batch"), py::arg("at_once"))
      .def("column", &BatchReader::Column, py::arg("index"))
      .def("value_lists", &BatchReader::ValueListsOf, py::arg("index"))
      .def("sparse_lists", &BatchReader::SparseLists, py::arg("index"))
      .def("sparse_columns", &BatchReader::SparseColumns, py::arg("index"), py::arg("indices"),
           py::arg("sizes"));
}

}  // namespace tfrecord_beam
