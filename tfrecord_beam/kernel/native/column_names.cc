#include "column_names.h"

#include "wire.h"

namespace tfrecord_beam {
namespace {

// Whether a name looks like a map entry: only fields 1 and 2, at least one of them.
bool LooksLikeEntry(std::string_view name) {
  Cursor cursor(name);
  while (!cursor.done()) {
    uint32_t field;
    WireType type;
    Cursor part;
    if (!cursor.ReadTag(&field, &type) || field > 2 || type != WireType::kLength ||
        !cursor.ReadMessage(&part)) {
      return false;
    }
  }
  return !name.empty();
}

}  // namespace

void ColumnNames::StartRecord() {
  found_before_ = found_.size();
  suspicious_ = not_utf8_ = nested_example_ = name_with_nul_ = false;
  collision_ = nullptr;
}

int ColumnNames::Find(std::string_view name) {
  const size_t at = next_guess_ - 1;
  const NameIndex& index = planned_.columns() ? planned_.index() : found_index_;
  int column = index.Find(name);
  if (column == NameIndex::kNotFound) column = FindNew(name);
  if (suspicious_) return column;  // do not learn the order of a bad record
  if (at < guesses_.size()) {
    guesses_[at] = {name, column};
  } else if (at == guesses_.size()) {
    guesses_.push_back({name, column});
  }
  return column;
}

int ColumnNames::FindNew(std::string_view name) {
  CheckUtf8(name);
  if (planned_.columns()) return kUnwanted;
  for (const ReservedName& reserved : reserved_) {
    if (reserved.name != name) continue;
    if (collision_ == nullptr || &reserved < collision_) collision_ = &reserved;
    suspicious_ = true;
  }
  if (not_utf8_ || collision_ != nullptr) return kCheckedOnly;  // the record fails in any case
  if (name.find('\0') != std::string_view::npos) suspicious_ = name_with_nul_ = true;
  const auto column = static_cast<int>(found_.size());
  found_.push_back(name);
  found_index_.Add(name, column);
  return column;
}

void ColumnNames::TakeBackRecord() {
  if (found_.size() == found_before_) return;
  found_.resize(found_before_);
  found_index_.Clear();
  for (size_t i = 0; i < found_.size(); ++i) found_index_.Add(found_[i], static_cast<int>(i));
  guesses_.clear();
}

void ColumnNames::CheckUtf8(std::string_view name) {
  if (!IsUtf8(name)) suspicious_ = not_utf8_ = true;
}

void ColumnNames::CheckNotNested(std::string_view name) {
  if (LooksLikeEntry(name)) suspicious_ = nested_example_ = true;
}

std::optional<Failure> ColumnNames::FindFailure() const {
  if (not_utf8_) return Failure{Fault::kNameNotUtf8};
  if (nested_example_) return Failure{Fault::kNestedExample};
  if (collision_ != nullptr) return Failure{collision_->fault, 0, std::string(collision_->name)};
  return std::nullopt;
}

}  // namespace tfrecord_beam
