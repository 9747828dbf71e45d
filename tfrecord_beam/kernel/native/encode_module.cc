// Python bindings of the encoder. See module.cc.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "encode.h"
#include "framing.h"

namespace py = pybind11;

namespace tfrecord_beam {
namespace {

using Names = std::vector<std::string>;

class ExampleEncoder {
 public:
  explicit ExampleEncoder(const py::object& plan) {
    py::module_::import("tfrecord_beam.kernel.faults").attr("check_encode_plan")(plan);
    context_ = plan.attr("context").cast<Names>();
    feature_lists_ = plan.attr("feature_lists").cast<std::optional<Names>>();
    null_as_absent_ = plan.attr("null_as_absent").cast<bool>();
  }

  py::tuple EncodeFrames(const py::object& batch) const {
    const ImportedArray imported(batch);
    BatchEncoder encoder(ReadBatch(imported));
    Measure(encoder);
    std::vector<int64_t> offsets;
    Buffer data;
    {
      const py::gil_scoped_release release;
      WriteFrames(encoder, &offsets, &data);
    }
    return py::make_tuple(MakeMemoryView(std::move(data)), MakeMemoryView(std::move(offsets)));
  }

  py::list EncodeRecords(const py::object& batch) const {
    const ImportedArray imported(batch);
    BatchEncoder encoder(ReadBatch(imported));
    Measure(encoder);
    py::list records(encoder.sizes().size());
    std::vector<uint8_t*> ends;
    ends.reserve(records.size());
    for (size_t i = 0; i < records.size(); ++i) {
      PyObject* record = PyBytes_FromStringAndSize(nullptr, encoder.sizes()[i]);
      if (record == nullptr) throw py::error_already_set();
      PyList_SET_ITEM(records.ptr(), static_cast<py::ssize_t>(i), record);
      ends.push_back(reinterpret_cast<uint8_t*>(PyBytes_AS_STRING(record)));
    }
    const py::gil_scoped_release release;
    encoder.Write(ends);
    return records;
  }

 private:
  static void Measure(BatchEncoder& encoder) {
    std::optional<EncodeFailure> failure;
    {
      const py::gil_scoped_release release;
      failure = encoder.Measure();
    }
    if (failure) ThrowFailure(*failure);
  }

  static void WriteFrames(const BatchEncoder& encoder, std::vector<int64_t>* offsets,
                          Buffer* data) {
    offsets->reserve(encoder.sizes().size() + 1);
    offsets->push_back(0);
    for (const int64_t size : encoder.sizes()) {
      offsets->push_back(offsets->back() + kHeaderSize + size + kFooterSize);
    }
    const auto size = static_cast<size_t>(offsets->back());
    uint8_t* const begin = data->Reserve(size == 0 ? 1 : size);
    data->Advance(size);
    std::vector<uint8_t*> ends(encoder.sizes().size());
    for (size_t i = 0; i < ends.size(); ++i) ends[i] = begin + (*offsets)[i] + kHeaderSize;
    encoder.WriteFrames(ends);
  }

  EncodeBatch ReadBatch(const ImportedArray& batch) const {
    const ArrowSchema& schema = batch.schema();
    const size_t columns = context_.size() + (feature_lists_ ? feature_lists_->size() : 0);
    if (std::string_view(schema.format) != "+s" || HasNullRows(batch.array()) ||
        schema.n_children != static_cast<int64_t>(columns)) {
      throw py::value_error("Expected a record batch with " + std::to_string(columns) +
                            " columns, as planned");
    }
    EncodeBatch read{batch.array().length, {}, std::nullopt, null_as_absent_};
    read.context = ReadColumns(batch, 0, context_, false);
    if (feature_lists_) {
      read.feature_lists = ReadColumns(batch, context_.size(), *feature_lists_, true);
    }
    return read;
  }

  static bool HasNullRows(const ArrowArray& array) {
    const Nulls nulls(array, array.offset);
    for (int64_t row = 0; nulls.possible() && row < array.length; ++row) {
      if (nulls[row]) return true;
    }
    return false;
  }

  static std::vector<EncodeColumn> ReadColumns(const ImportedArray& batch, size_t first,
                                               const Names& names, bool are_feature_lists) {
    std::vector<EncodeColumn> columns(names.size());
    for (size_t i = 0; i < names.size(); ++i) {
      if (!ReadColumn(*batch.schema().children[first + i], *batch.array().children[first + i],
                      batch.array().offset, are_feature_lists, names[i], &columns[i])) {
        ThrowFailure({EncodeFault::kUnsupportedType, 0, names[i]});
      }
    }
    return columns;
  }

  Names context_;
  std::optional<Names> feature_lists_;
  bool null_as_absent_ = false;
};

}  // namespace

void ThrowFailure(const EncodeFailure& failure) {
  const py::object value = py::module_::import("tfrecord_beam.kernel.plan")
                               .attr("EncodeFailure")(static_cast<int>(failure.fault),
                                                      failure.record, py::bytes(failure.feature));
  ThrowError(py::module_::import("tfrecord_beam.kernel.faults").attr("encode_error")(value));
}

void BindExampleEncoder(py::module_& module) {
  py::class_<ExampleEncoder>(module, "ExampleEncoder")
      .def(py::init<const py::object&>(), py::arg("plan"))
      .def("encode_frames", &ExampleEncoder::EncodeFrames, py::arg("batch"))
      .def("encode_records", &ExampleEncoder::EncodeRecords, py::arg("batch"));
}

}  // namespace tfrecord_beam
