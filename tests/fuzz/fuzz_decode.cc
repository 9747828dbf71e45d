// Records are decoded by a few plans, all at once, one by one, and without those that fail.

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "columns.h"
#include "example.h"
#include "input.h"
#include "sequence_example.h"

namespace tfrecord_beam {
namespace {

using Records = std::vector<std::string_view>;
using Columns = std::optional<std::vector<PlannedColumn>>;

constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();

// The names are those of make_corpus.py.
const Columns kColumns = {
    {{"b", Kind::kBytes}, {"i", Kind::kInt64}, {"any", Kind::kNone}, {"f", Kind::kFloat}}};
const Columns kNothing = std::vector<PlannedColumn>();
const std::string kSequence = "##SEQUENCE##";

template <typename Plan>
using Plans = std::vector<std::unique_ptr<const Plan>>;

// What a decoder of one record type is asked, and what of its batch depends on the type.
struct ExampleType {
  using Plan = ExamplePlan;

  static Plans<Plan> MakePlans() {
    Plans<Plan> plans;
    plans.push_back(std::make_unique<Plan>(std::nullopt, std::nullopt));
    plans.push_back(std::make_unique<Plan>(std::nullopt, "raw"));
    plans.push_back(std::make_unique<Plan>(kColumns, std::nullopt));
    plans.push_back(std::make_unique<Plan>(kColumns, "raw"));
    plans.push_back(std::make_unique<Plan>(kNothing, "raw"));
    return plans;
  }

  static DecodeResult Decode(const Plan& plan, const Request& request) {
    return DecodeExamples(plan, request);
  }

  static const PlannedColumns& Context(const Plan& plan) { return plan.columns; }
  static const PlannedColumns* Sequence(const Plan&) { return nullptr; }
  static int64_t CountSteps(const Array&, int64_t) { return 0; }
};

struct SequenceExampleType {
  using Plan = SequencePlan;

  static Plans<Plan> MakePlans() {
    Plans<Plan> plans;
    plans.push_back(std::make_unique<Plan>(std::nullopt, std::nullopt, kSequence, std::nullopt));
    plans.push_back(std::make_unique<Plan>(std::nullopt, kColumns, kSequence, "raw"));
    plans.push_back(std::make_unique<Plan>(kColumns, std::nullopt, kSequence, std::nullopt));
    plans.push_back(std::make_unique<Plan>(kColumns, kColumns, kSequence, "raw"));
    plans.push_back(std::make_unique<Plan>(kColumns, kNothing, kSequence, std::nullopt));
    return plans;
  }

  static DecodeResult Decode(const Plan& plan, const Request& request) {
    return DecodeSequenceExamples(plan, request);
  }

  static const PlannedColumns& Context(const Plan& plan) { return plan.context; }
  static const PlannedColumns* Sequence(const Plan& plan) { return &plan.sequence; }

  // How many lists a field of the struct column has that count as cells.
  static int64_t CountSteps(const Array&, int64_t rows) { return rows; }
};

struct ExampleListType : SequenceExampleType {
  static DecodeResult Decode(const Plan& plan, const Request& request) {
    return DecodeExampleLists(plan, request);
  }

  static int64_t CountSteps(const Array& sequence, int64_t) {
    return sequence.children.empty() ? 0 : sequence.children[0].children[0].length;
  }
};

// --- One result ---------------------------------------------------------------------------------

void CheckOffsets(const Buffer& offsets, int64_t count, int64_t end) {
  CHECK(offsets.size() == static_cast<size_t>(count + 1) * sizeof(int64_t));
  const auto* values = reinterpret_cast<const int64_t*>(offsets.data());
  CHECK(values[0] == 0 && values[count] == end);
  CHECK(std::is_sorted(values, values + count + 1));
}

void CheckValues(const Array& values) {
  const auto count = static_cast<size_t>(values.length);
  CHECK(values.name == "item" && values.null_count == 0 && values.children.empty());
  CHECK(values.buffers[0].size() == 0);
  if (values.format == "Z") {
    CHECK(values.buffers.size() == 3);
    CheckOffsets(values.buffers[1], values.length, static_cast<int64_t>(values.buffers[2].size()));
  } else {
    CHECK(values.format == "l" || values.format == "f");
    CHECK(values.buffers.size() == 2);
    CHECK(values.buffers[1].size() == count * (values.format == "l" ? 8 : 4));
  }
}

bool IsValid(const Array& list, int64_t row) {
  return list.buffers[0].size() == 0 || (list.buffers[0].data()[row / 8] >> row % 8 & 1) != 0;
}

// A column of lists of values (`depth` 1) or of lists of such lists (2).
void CheckColumn(const Array& column, int64_t rows, int depth) {
  CHECK(column.length == rows);
  if (depth == 1 && column.format == "n") {
    CHECK(column.null_count == rows && column.buffers.empty() && column.children.empty());
    return;
  }
  CHECK(column.format == "+L" && column.buffers.size() == 2 && column.children.size() == 1);
  CHECK(column.buffers[0].size() ==
        (column.null_count == 0 ? 0 : static_cast<size_t>(rows + 7) / 8));
  CheckOffsets(column.buffers[1], rows, column.children[0].length);
  const auto* ends = reinterpret_cast<const int64_t*>(column.buffers[1].data()) + 1;
  int64_t nulls = 0;
  for (int64_t row = 0; row < rows; ++row) {
    if (IsValid(column, row)) continue;
    ++nulls;
    CHECK(ends[row] == ends[row - 1]);  // no values under a null
  }
  CHECK(column.null_count == nulls);
  const Array& items = column.children[0];
  CHECK(items.name == "item");
  if (depth == 1) {
    CheckValues(items);
  } else {
    CheckColumn(items, items.length, depth - 1);
  }
}

std::string_view FormatOf(Kind kind) {
  return kind == Kind::kBytes ? "Z" : kind == Kind::kFloat ? "f" : "l";
}

// Columns of one map: names, order and kinds.
void CheckPlanned(const PlannedColumns& planned, const Array* columns, size_t count, int64_t rows,
                  int depth) {
  for (size_t i = 0; i < count; ++i) CheckColumn(columns[i], rows, depth);
  if (!planned.columns()) {  // in strict order of the bytes of their names
    for (size_t i = 1; i < count; ++i) CHECK(columns[i - 1].name < columns[i].name);
    return;
  }
  CHECK(count == planned.columns()->size());
  for (size_t i = 0; i < count; ++i) {
    const PlannedColumn& column = (*planned.columns())[i];
    CHECK(columns[i].name == column.name);
    if (column.kind == Kind::kNone) continue;
    const Array& lists = depth == 1 ? columns[i] : columns[i].children[0];
    CHECK(lists.format == "+L" && lists.children[0].format == FormatOf(column.kind));
  }
}

// The columns of a batch by their parts.
struct Parts {
  size_t context = 0;
  const Array* sequence = nullptr;
  const Array* raw = nullptr;
};

template <typename Type>
Parts Split(const typename Type::Plan& plan, const Array& batch) {
  Parts parts;
  parts.context = batch.children.size();
  if (plan.raw_record_column) {
    CHECK(parts.context > 0);
    parts.raw = &batch.children[--parts.context];
    CHECK(parts.raw->name == *plan.raw_record_column);
  }
  if (Type::Sequence(plan) == nullptr || parts.context == 0) return parts;
  const Array& last = batch.children[parts.context - 1];
  if (last.name == kSequence) {
    parts.sequence = &last;
    --parts.context;
  }
  return parts;
}

template <typename Type>
void CheckColumns(const typename Type::Plan& plan, const Array& batch) {
  const Parts parts = Split<Type>(plan, batch);
  CheckPlanned(Type::Context(plan), batch.children.data(), parts.context, batch.length, 1);
  if (parts.raw != nullptr) {
    CheckColumn(*parts.raw, batch.length, 1);
    CHECK(parts.raw->null_count == 0 && parts.raw->children[0].format == "Z");
  }
  const PlannedColumns* const planned = Type::Sequence(plan);
  if (planned == nullptr) return;
  if (planned->columns()) CHECK((parts.sequence != nullptr) == !planned->columns()->empty());
  if (parts.sequence == nullptr) return;
  const Array& sequence = *parts.sequence;
  CHECK(sequence.format == "+s" && sequence.length == batch.length && sequence.null_count == 0);
  CheckPlanned(*planned, sequence.children.data(), sequence.children.size(), batch.length, 2);
}

// How many cells the columns of a batch have in `rows` rows.
template <typename Type>
int64_t CountCells(const typename Type::Plan& plan, const Array& batch, int64_t rows) {
  const Parts parts = Split<Type>(plan, batch);
  const auto context = rows * static_cast<int64_t>(parts.context);
  if (parts.sequence == nullptr) return context;
  const auto fields = static_cast<int64_t>(parts.sequence->children.size());
  return context + Type::CountSteps(*parts.sequence, rows) * fields;
}

void CheckFailures(const std::vector<Failure>& failures, size_t num_records) {
  int64_t last = -1;
  for (const Failure& failure : failures) {
    CHECK(failure.record > last && failure.record < static_cast<int64_t>(num_records));
    last = failure.record;
    CHECK(failure.fault >= Fault::kMalformed && failure.fault <= Fault::kKindMismatch);
    CHECK(failure.feature.has_value() == (failure.fault >= Fault::kRawColumnCollision));
    const bool mismatch = failure.fault == Fault::kKindMismatch;
    CHECK(mismatch == (failure.expected != Kind::kNone));
    CHECK(mismatch == (failure.found != Kind::kNone));
    CHECK(!mismatch || failure.expected != failure.found);
  }
}

template <typename Type>
DecodeResult CheckedDecode(const typename Type::Plan& plan, const Records& records,
                           bool collect_failures) {
  DecodeResult result = Type::Decode(plan, {records, collect_failures, kUnbounded});
  CheckFailures(result.failures, records.size());
  if (!collect_failures && !result.failures.empty()) {
    CHECK(result.failures.size() == 1);
    return result;
  }
  CHECK(result.batch.format == "+s" && result.batch.null_count == 0);
  CHECK(result.batch.length ==
        static_cast<int64_t>(records.size()) - static_cast<int64_t>(result.failures.size()));
  CheckColumns<Type>(plan, result.batch);
  return result;
}

// --- Results compared ---------------------------------------------------------------------------

bool IsSame(const Failure& a, const Failure& b) {
  return a.fault == b.fault && a.record == b.record && a.feature == b.feature &&
         a.expected == b.expected && a.found == b.found && a.in_sequence == b.in_sequence;
}

void Append(std::string* text, std::string_view part) {
  *text += std::to_string(part.size());
  *text += ':';
  *text += part;
}

// One list of a column as text.
void AppendCell(std::string* text, const Array& list, int64_t row) {
  const Array& values = list.children[0];
  const auto* offsets = reinterpret_cast<const int64_t*>(list.buffers[1].data());
  const int64_t begin = offsets[row];
  const int64_t end = offsets[row + 1];
  const auto* data = reinterpret_cast<const char*>(values.buffers.back().data());
  *text += values.format;
  if (values.format != "Z") {
    const int64_t size = values.format == "l" ? 8 : 4;
    Append(text, {data + begin * size, static_cast<size_t>((end - begin) * size)});
    return;
  }
  const auto* value_ends = reinterpret_cast<const int64_t*>(values.buffers[1].data());
  for (int64_t i = begin; i < end; ++i) {
    const auto size = static_cast<size_t>(value_ends[i + 1] - value_ends[i]);
    Append(text, {data + value_ends[i], size});
  }
}

// One list of lists as text; the type of lists that have none says nothing.
void AppendNestedCell(std::string* text, const Array& column, int64_t row) {
  const Array& lists = column.children[0];
  const auto* offsets = reinterpret_cast<const int64_t*>(column.buffers[1].data());
  *text += std::to_string(offsets[row + 1] - offsets[row]);
  for (int64_t i = offsets[row]; i < offsets[row + 1]; ++i) {
    if (lists.format == "n" || !IsValid(lists, i)) {
      *text += '-';
    } else {
      AppendCell(text, lists, i);
    }
  }
}

// Whether a list of lists has none but nulls: so has a feature of which no Example of a record, if
// there is one, has a kind; other records have brought the column.
bool HasOnlyNulls(const Array& column, int64_t row) {
  const Array& lists = column.children[0];
  const auto* offsets = reinterpret_cast<const int64_t*>(column.buffers[1].data());
  for (int64_t i = offsets[row]; i < offsets[row + 1]; ++i) {
    if (lists.format != "n" && IsValid(lists, i)) return false;
  }
  return true;
}

// What a row says, as text: its lists by name. Nulls and columns that are missing say nothing.
std::string RowText(const Array& batch, int64_t row) {
  std::string text;
  for (const Array& column : batch.children) {
    if (column.format == "+s") {
      text += RowText(column, row);
      continue;
    }
    if (column.format == "n" || !IsValid(column, row)) continue;
    const std::string& items = column.children[0].format;
    const bool nested = items == "+L" || items == "n";
    if (nested && HasOnlyNulls(column, row)) continue;
    Append(&text, column.name);
    if (nested) {
      AppendNestedCell(&text, column, row);
    } else {
      AppendCell(&text, column, row);
    }
  }
  return text;
}

void CheckEqual(const Array& a, const Array& b) {
  CHECK(a.length == b.length && a.children.size() == b.children.size());
  for (size_t i = 0; i < a.children.size(); ++i) {
    CHECK(a.children[i].name == b.children[i].name);
    CHECK(a.children[i].format == b.children[i].format);
    CHECK(a.children[i].null_count == b.children[i].null_count);
  }
  for (int64_t row = 0; row < a.length; ++row) CHECK(RowText(a, row) == RowText(b, row));
}

// A call that is bounded does what one without a bound does for the records it has looked at.
template <typename Type>
void CheckBounded(const typename Type::Plan& plan, const Records& records, int64_t max_cells) {
  const DecodeResult bounded = Type::Decode(plan, {records, true, max_cells});
  const int64_t rows = bounded.batch.length;
  const size_t looked_at = static_cast<size_t>(rows) + bounded.failures.size();
  CHECK(looked_at <= records.size());
  const Records first(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(looked_at));
  const DecodeResult whole = CheckedDecode<Type>(plan, first, true);
  CHECK(std::equal(bounded.failures.begin(), bounded.failures.end(), whole.failures.begin(),
                   whole.failures.end(), IsSame));
  CheckEqual(bounded.batch, whole.batch);
  CheckColumns<Type>(plan, bounded.batch);
  CHECK(rows <= 1 || CountCells<Type>(plan, bounded.batch, rows) <= max_cells);
  if (looked_at < records.size()) {
    // The next record does not fit, together with the columns that it brings.
    CHECK(rows > 0);
    Records more = first;
    more.push_back(records[looked_at]);
    const DecodeResult next = CheckedDecode<Type>(plan, more, true);
    CHECK(CountCells<Type>(plan, next.batch, rows + 1) > max_cells);
  }
}

// A record alone is what it is among others, except that nothing before it tells it a kind.
template <typename Type>
void CheckAlone(const typename Type::Plan& plan, std::string_view record, const Failure* failure,
                const std::string& row) {
  const DecodeResult alone = CheckedDecode<Type>(plan, {record}, true);
  if (failure == nullptr) {
    CHECK(alone.failures.empty() && RowText(alone.batch, 0) == row);
  } else if (failure->fault == Fault::kKindMismatch) {
    CHECK(alone.failures.empty() || alone.failures[0].fault == Fault::kKindMismatch);
  } else {
    Failure expected = *failure;
    expected.record = 0;
    CHECK(alone.failures.size() == 1 && IsSame(alone.failures[0], expected));
  }
}

std::string_view RawRecord(const Array& batch, int64_t row) {
  const Array& values = batch.children.back().children[0];
  const auto* ends = reinterpret_cast<const int64_t*>(values.buffers[1].data());
  return {reinterpret_cast<const char*>(values.buffers[2].data()) + ends[row],
          static_cast<size_t>(ends[row + 1] - ends[row])};
}

// Exports a batch and, as a consumer may, takes one child out before the rest is released.
void CheckExport(Array batch) {
  const auto root = std::make_shared<const Array>(std::move(batch));
  ArrowSchema schema;
  ExportSchema(*root, &schema);
  ArrowArray array;
  ExportArray(root, &array);
  CHECK(schema.n_children == array.n_children);
  if (array.n_children > 0) {
    ArrowArray child = *array.children[0];
    array.children[0]->release = nullptr;
    array.release(&array);
    CHECK(child.length == root->length);
    child.release(&child);
  } else {
    array.release(&array);
  }
  CHECK(array.release == nullptr);
  schema.release(&schema);
  CHECK(schema.release == nullptr && root.use_count() == 1);
}

template <typename Type>
void FuzzRecords(Input input) {
  static const auto plans = Type::MakePlans();
  const typename Type::Plan& plan = *plans[input.Take<uint8_t>() % plans.size()];
  const auto max_cells = input.Take<uint8_t>();
  const std::vector<ExactBytes> owned = input.TakeRecords();
  Records records;
  for (const ExactBytes& record : owned) records.push_back(record.view());

  DecodeResult result = CheckedDecode<Type>(plan, records, true);
  Records good;
  size_t next_failure = 0;
  for (size_t i = 0; i < records.size(); ++i) {
    const auto row = static_cast<int64_t>(good.size());
    if (next_failure < result.failures.size() &&
        result.failures[next_failure].record == static_cast<int64_t>(i)) {
      CheckAlone<Type>(plan, records[i], &result.failures[next_failure++], "");
      continue;
    }
    CheckAlone<Type>(plan, records[i], nullptr, RowText(result.batch, row));
    if (plan.raw_record_column) CHECK(RawRecord(result.batch, row) == records[i]);
    good.push_back(records[i]);
  }

  const DecodeResult again = CheckedDecode<Type>(plan, good, false);
  CHECK(again.failures.empty());
  CheckEqual(again.batch, result.batch);

  const DecodeResult strict = CheckedDecode<Type>(plan, records, false);
  CHECK(strict.failures.empty() == result.failures.empty());
  if (!strict.failures.empty()) CHECK(IsSame(strict.failures[0], result.failures[0]));
  CheckBounded<Type>(plan, records, max_cells);
  CheckExport(std::move(result.batch));
}

}  // namespace

void FuzzDecode(Input input) {
  switch (input.Take<uint8_t>() % 3) {
    case 0:
      return FuzzRecords<ExampleType>(input);
    case 1:
      return FuzzRecords<SequenceExampleType>(input);
    default:
      return FuzzRecords<ExampleListType>(input);
  }
}

}  // namespace tfrecord_beam
