// Python bindings of the kernel: arguments, the GIL, capsules, failures to exceptions. No logic.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrow_abi.h"
#include "bindings.h"
#include "columns.h"
#include "crc32c.h"
#include "example.h"
#include "framing.h"
#include "sequence_example.h"

namespace py = pybind11;

namespace tfrecord_beam {
namespace {

constexpr int64_t kNoBound = std::numeric_limits<int64_t>::max();

// A contiguous view of any object with the buffer protocol.
class View {
 public:
  explicit View(py::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw py::error_already_set();
  }
  View(View&& other) noexcept : view_(std::exchange(other.view_, Py_buffer{})) {}
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  View& operator=(View&&) = delete;
  ~View() { PyBuffer_Release(&view_); }

  const uint8_t* data() const { return static_cast<const uint8_t*>(view_.buf); }
  size_t size() const { return static_cast<size_t>(view_.len); }
  int64_t length() const { return static_cast<int64_t>(view_.len); }
  std::string_view bytes() const { return {static_cast<const char*>(view_.buf), size()}; }

 private:
  Py_buffer view_{};
};

py::buffer_info RequestInt64(const py::buffer& values, const char* name) {
  py::buffer_info info = values.request();
  const bool is_int64 = info.itemsize == sizeof(int64_t) && info.ndim == 1 &&
                        (info.format == "q" || info.format == "l") &&
                        (info.size == 0 || info.strides[0] == sizeof(int64_t));
  if (!is_int64) {
    throw py::value_error(std::string("Expected ") + name + " as int64, found buffer format '" +
                          info.format + "'");
  }
  return info;
}

// Owns the results of a scan, for the memoryviews of them.
struct Int64Values {
  std::vector<int64_t> values;
};

// Owns memory from the block cache, for a memoryview of it.
struct Memory {
  Buffer buffer;
};

py::object ViewOf(const py::object& owner) {
  PyObject* view = PyMemoryView_FromObject(owner.ptr());
  if (view == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(view);
}

py::object Allocate(size_t size) {
  Buffer buffer(BlockUse::kFile);
  buffer.Reserve(size == 0 ? 1 : size);
  buffer.Advance(size);
  return MakeMemoryView(std::move(buffer));
}

[[noreturn]] void ThrowDecodeError(const py::object& failure, const char* record_type) {
  ThrowError(py::module_::import("tfrecord_beam.kernel.faults")
                 .attr("decode_error")(failure, record_type));
}

py::object ToPython(const Failure& failure) {
  py::object feature = py::none();
  if (failure.feature) feature = py::bytes(*failure.feature);
  return py::module_::import("tfrecord_beam.kernel.plan")
      .attr("DecodeFailure")(static_cast<int>(failure.fault), failure.record, feature,
                             static_cast<int>(failure.expected), static_cast<int>(failure.found),
                             failure.in_sequence);
}

// Releases the content of a capsule unless a consumer has moved it out and so set its release
// pointer to null.
template <typename Struct>
void DestroyCapsule(PyObject* capsule) {
  auto* node = static_cast<Struct*>(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
  if (node->release != nullptr) node->release(node);
  delete node;
}

// The capsule owns the struct, with a null release pointer, before it is filled, so that nothing
// leaks on an error.
template <typename Struct>
py::object MakeCapsule(const char* name, Struct** node) {
  auto owned = std::make_unique<Struct>();
  PyObject* capsule = PyCapsule_New(owned.get(), name, DestroyCapsule<Struct>);
  if (capsule == nullptr) throw py::error_already_set();
  *node = owned.release();
  return py::reinterpret_steal<py::object>(capsule);
}

class ExportableBatch {
 public:
  explicit ExportableBatch(Array batch) : batch_(std::make_shared<const Array>(std::move(batch))) {}

  py::tuple SchemaAndArray() const {
    ArrowSchema* schema;
    const py::object schema_capsule = MakeCapsule("arrow_schema", &schema);
    ExportSchema(*batch_, schema);
    ArrowArray* array;
    const py::object array_capsule = MakeCapsule("arrow_array", &array);
    ExportArray(batch_, array);
    return py::make_tuple(schema_capsule, array_capsule);
  }

 private:
  std::shared_ptr<const Array> batch_;
};

std::optional<std::vector<PlannedColumn>> ToColumns(const py::object& planned) {
  if (planned.is_none()) return std::nullopt;
  std::vector<PlannedColumn> columns;
  for (const py::handle column : planned) {
    const py::object kind = column.attr("kind");
    columns.push_back({column.attr("name").cast<std::string>(),
                       kind.is_none() ? Kind::kNone : static_cast<Kind>(kind.cast<int>())});
  }
  return columns;
}

// A record type: its names in Python, its plan and its decoding.
struct ExampleType {
  static constexpr const char* kName = "Example";
  using Plan = ExamplePlan;
  static constexpr auto kDecode = DecodeExamples;
  static std::unique_ptr<const Plan> ToPlan(const py::object& plan) {
    return std::make_unique<Plan>(
        ToColumns(plan.attr("columns")),
        plan.attr("raw_record_column").cast<std::optional<std::string>>());
  }
};

struct SequenceExampleType {
  static constexpr const char* kName = "SequenceExample";
  using Plan = SequencePlan;
  static constexpr auto kDecode = DecodeSequenceExamples;
  static std::unique_ptr<const Plan> ToPlan(const py::object& plan) {
    return std::make_unique<Plan>(
        ToColumns(plan.attr("columns")), ToColumns(plan.attr("sequence_columns")),
        plan.attr("sequence_column_name").cast<std::string>(),
        plan.attr("raw_record_column").cast<std::optional<std::string>>());
  }
};

struct ExampleListType : SequenceExampleType {
  static constexpr const char* kName = "ExampleListWithContext";
  static constexpr auto kDecode = DecodeExampleLists;
};

template <typename RecordType>
class RecordDecoder {
 public:
  explicit RecordDecoder(const py::object& plan) {
    py::module_::import("tfrecord_beam.kernel.faults").attr("check_plan")(plan);
    plan_ = RecordType::ToPlan(plan);
  }

  static void Define(const py::module_& module, const char* name) {
    py::class_<RecordDecoder>(module, name)
        .def(py::init<const py::object&>(), py::arg("plan"))
        .def("decode", &RecordDecoder::Decode, py::arg("data"), py::arg("offsets"),
             py::arg("lengths"), py::kw_only(), py::arg("collect_failures") = false,
             py::arg("max_cells") = py::none())
        .def("decode_records", &RecordDecoder::DecodeRecords, py::arg("records"), py::kw_only(),
             py::arg("collect_failures") = false, py::arg("max_cells") = py::none());
  }

  py::tuple Decode(const py::buffer& data, const py::buffer& offsets, const py::buffer& lengths,
                   bool collect_failures, std::optional<int64_t> max_cells) const {
    const View bytes(data);
    const py::buffer_info offset_info = RequestInt64(offsets, "offsets");
    const py::buffer_info length_info = RequestInt64(lengths, "lengths");
    if (offset_info.size != length_info.size) {
      throw py::value_error("Expected as many lengths as offsets, found " +
                            std::to_string(length_info.size) + " and " +
                            std::to_string(offset_info.size));
    }
    std::vector<std::string_view> records(static_cast<size_t>(offset_info.size));
    for (size_t i = 0; i < records.size(); ++i) {
      const int64_t offset = static_cast<const int64_t*>(offset_info.ptr)[i];
      const int64_t length = static_cast<const int64_t*>(length_info.ptr)[i];
      const int64_t size = bytes.length();
      if (offset < 0 || length < 0 || offset > size || length > size - offset) {
        throw py::value_error("Expected a span within " + std::to_string(size) + " bytes, found " +
                              std::to_string(length) + " bytes from " + std::to_string(offset) +
                              " on - at record " + std::to_string(i));
      }
      records[i] = bytes.bytes().substr(static_cast<size_t>(offset), static_cast<size_t>(length));
    }
    return DecodeSpans(records, collect_failures, max_cells);
  }

  py::tuple DecodeRecords(const py::sequence& records, bool collect_failures,
                          std::optional<int64_t> max_cells) const {
    std::vector<View> views;
    std::vector<std::string_view> spans;
    views.reserve(records.size());
    spans.reserve(records.size());
    for (const py::object record : records) {
      views.emplace_back(record);
      spans.push_back(views.back().bytes());
    }
    return DecodeSpans(spans, collect_failures, max_cells);
  }

 private:
  py::tuple DecodeSpans(const std::vector<std::string_view>& records, bool collect_failures,
                        std::optional<int64_t> max_cells) const {
    DecodeResult result;
    {
      const py::gil_scoped_release release;
      result =
          RecordType::kDecode(*plan_, {records, collect_failures, max_cells.value_or(kNoBound)});
    }
    py::list failures;
    for (const Failure& failure : result.failures) failures.append(ToPython(failure));
    if (!collect_failures && !failures.empty()) ThrowDecodeError(failures[0], RecordType::kName);
    return py::make_tuple(ExportableBatch(std::move(result.batch)), failures);
  }

  std::unique_ptr<const typename RecordType::Plan> plan_;
};

uint32_t ComputeCrc(const py::buffer& data, uint32_t crc,
                    uint32_t (*function)(const uint8_t*, size_t, uint32_t)) {
  const View view(data);
  const py::gil_scoped_release release;
  return function(view.data(), view.size(), crc);
}

py::object ScanBuffer(const py::buffer& data, int64_t start, std::optional<int64_t> stop,
                      std::optional<int64_t> max_records, std::optional<int64_t> max_bytes,
                      bool validate_crc) {
  const View view(data);
  if (start < 0 || start > view.length()) {
    throw py::value_error("Expected start from 0 to " + std::to_string(view.length()) + ", found " +
                          std::to_string(start));
  }
  if (max_records.value_or(1) < 1) {
    throw py::value_error("Expected max_records of at least 1, found " +
                          std::to_string(*max_records));
  }
  ScanResult result;
  {
    const py::gil_scoped_release release;
    result = Scan(view.data(), view.length(),
                  {start, stop.value_or(kNoBound), max_records.value_or(kNoBound),
                   max_bytes ? static_cast<uint64_t>(std::max<int64_t>(*max_bytes, 0)) : UINT64_MAX,
                   validate_crc});
  }
  return py::module_::import("tfrecord_beam.kernel.plan")
      .attr("Scan")(MakeMemoryView(std::move(result.offsets)),
                    MakeMemoryView(std::move(result.lengths)), result.end,
                    static_cast<int>(result.status), result.needed, result.stored, result.computed);
}

py::object FindInBuffer(const py::buffer& data, int64_t start, int64_t stop, int64_t limit) {
  const View view(data);
  if (start < 0) {
    throw py::value_error("Expected start of at least 0, found " + std::to_string(start));
  }
  CandidateResult result;
  {
    const py::gil_scoped_release release;
    result = FindRecord(view.data(), view.length(), start, stop, limit);
  }
  return py::module_::import("tfrecord_beam.kernel.plan")
      .attr("Candidate")(result.position, result.found, result.needed);
}

py::bytes FrameRecords(const py::sequence& records) {
  std::vector<View> views;
  views.reserve(records.size());
  size_t size = 0;
  for (const py::object record : records) {
    views.emplace_back(record);
    if (views.back().length() > kMaxRecordSize) {
      ThrowFailure({EncodeFault::kTooLarge, static_cast<int64_t>(views.size() - 1), {}});
    }
    size += views.back().size() + static_cast<size_t>(kHeaderSize + kFooterSize);
  }
  PyObject* frames = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size));
  if (frames == nullptr) throw py::error_already_set();
  auto* out = reinterpret_cast<uint8_t*>(PyBytes_AS_STRING(frames));
  {
    const py::gil_scoped_release release;
    for (const View& view : views) out = WriteFrame(view.bytes(), out);
  }
  return py::reinterpret_steal<py::bytes>(frames);
}

}  // namespace

py::object MakeMemoryView(Buffer buffer) { return ViewOf(py::cast(Memory{std::move(buffer)})); }

py::object MakeMemoryView(std::vector<int64_t> values) {
  return ViewOf(py::cast(Int64Values{std::move(values)}));
}

void ThrowError(const py::object& error) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw py::error_already_set();
}

// The Python documentation is in _native.pyi.
PYBIND11_MODULE(_native, module) {
  py::class_<Int64Values>(module, "_Int64Values", py::buffer_protocol())
      .def_buffer([](Int64Values& owner) {
        return py::buffer_info(owner.values.data(), static_cast<py::ssize_t>(owner.values.size()),
                               true);
      });

  py::class_<Memory>(module, "_Memory", py::buffer_protocol()).def_buffer([](Memory& memory) {
    return py::buffer_info(memory.buffer.data(), static_cast<py::ssize_t>(memory.buffer.size()));
  });

  py::class_<ExportableBatch>(module, "_ExportableBatch")
      .def(
          "__arrow_c_array__",
          [](const ExportableBatch& batch, const py::object&) { return batch.SchemaAndArray(); },
          py::arg("requested_schema") = py::none());

  RecordDecoder<ExampleType>::Define(module, "ExampleDecoder");
  RecordDecoder<SequenceExampleType>::Define(module, "SequenceExampleDecoder");
  RecordDecoder<ExampleListType>::Define(module, "ExampleListDecoder");

  BindExampleEncoder(module);
  BindArrays(module);
  BindBatchReader(module);

  module.def(
      "crc32c", [](const py::buffer& data, uint32_t crc) { return ComputeCrc(data, crc, Crc32c); },
      py::arg("data"), py::arg("crc") = 0);
  module.def("_crc32c_variants", [] {
    py::dict variants;
    for (const CrcVariant& variant : CrcVariants()) {
      variants[variant.name] =
          py::cpp_function([function = variant.function](const py::buffer& data, uint32_t crc) {
            return ComputeCrc(data, crc, function);
          });
    }
    return variants;
  });
  module.def(
      "masked_crc32c",
      [](const py::buffer& data, uint32_t crc) { return MaskCrc(ComputeCrc(data, crc, Crc32c)); },
      py::arg("data"), py::arg("crc") = 0);
  module.def("scan", &ScanBuffer, py::arg("data"), py::kw_only(), py::arg("start") = 0,
             py::arg("stop") = py::none(), py::arg("max_records") = py::none(),
             py::arg("max_bytes") = py::none(), py::arg("validate_crc") = true);
  module.def("find_record", &FindInBuffer, py::arg("data"), py::kw_only(), py::arg("start"),
             py::arg("stop"), py::arg("limit"));
  module.def("frame", &FrameRecords, py::arg("records"));
  module.def("allocate", &Allocate, py::arg("size"));
}

}  // namespace tfrecord_beam
