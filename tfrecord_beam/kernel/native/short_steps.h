// The fast path for steps of feature lists in the usual form: short, a single list, and of the kind
// of the column.
#pragma once

#include "list_column.h"
#include "wire.h"

namespace tfrecord_beam {

// Adds the steps at the beginning of `feature_list` that have this form to the row that was
// started, and moves past them.
void AddShortSteps(NestedColumn& column, Cursor* feature_list);

}  // namespace tfrecord_beam
