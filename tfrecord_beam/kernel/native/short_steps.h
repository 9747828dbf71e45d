// Steps of feature lists as nearly all are: short, of one list, and of the kind of their column.
#pragma once

#include "list_column.h"
#include "wire.h"

namespace tfrecord_beam {

// Adds the steps that a feature list goes on with, as long as they are such ones, to the row that
// was started, and steps over them.
void AddShortSteps(NestedColumn& column, Cursor* feature_list);

}  // namespace tfrecord_beam
