#include "columns.h"

namespace tfrecord_beam {
namespace {

// The memory that one exported struct owns. The struct points into it and `release` deletes it.
template <typename Struct>
struct Owned {
  std::vector<Struct> children;
  std::vector<Struct*> child_pointers;

  ~Owned() {
    for (Struct& child : children) {
      if (child.release != nullptr) child.release(&child);  // else a consumer has moved it out
    }
  }
};

struct OwnedSchema : Owned<ArrowSchema> {
  std::string name;
  std::string format;
};

struct OwnedArray : Owned<ArrowArray> {
  std::shared_ptr<const Array> root;
  std::vector<const void*> buffers;
};

template <typename Struct, typename Private>
void Release(Struct* node) {
  delete static_cast<Private*>(node->private_data);
  node->release = nullptr;
}

template <typename Struct, typename Private>
void Attach(std::unique_ptr<Private> owned, Struct* node) {
  for (Struct& child : owned->children) owned->child_pointers.push_back(&child);
  node->n_children = static_cast<int64_t>(owned->children.size());
  node->children = owned->child_pointers.data();
  node->dictionary = nullptr;
  node->release = Release<Struct, Private>;
  node->private_data = owned.release();
}

void ExportNode(const std::shared_ptr<const Array>& root, const Array& array, ArrowArray* out) {
  auto owned = std::make_unique<OwnedArray>();
  owned->root = root;
  for (const Buffer& buffer : array.buffers) {
    const bool no_nulls = owned->buffers.empty() && buffer.size() == 0;
    owned->buffers.push_back(no_nulls ? nullptr : buffer.data());
  }
  owned->children.resize(array.children.size());
  for (size_t i = 0; i < array.children.size(); ++i) {
    ExportNode(root, array.children[i], &owned->children[i]);
  }
  out->length = array.length;
  out->null_count = array.null_count;
  out->offset = 0;
  out->n_buffers = static_cast<int64_t>(owned->buffers.size());
  out->buffers = owned->buffers.data();
  Attach(std::move(owned), out);
}

}  // namespace

void ExportSchema(const Array& array, ArrowSchema* schema) {
  auto owned = std::make_unique<OwnedSchema>();
  owned->name = array.name;
  owned->format = array.format;
  owned->children.resize(array.children.size());
  for (size_t i = 0; i < array.children.size(); ++i) {
    ExportSchema(array.children[i], &owned->children[i]);
  }
  schema->format = owned->format.c_str();
  schema->name = owned->name.c_str();
  schema->metadata = nullptr;
  schema->flags = ARROW_FLAG_NULLABLE;
  Attach(std::move(owned), schema);
}

void ExportArray(const std::shared_ptr<const Array>& root, ArrowArray* out) {
  ExportNode(root, *root, out);
}

}  // namespace tfrecord_beam
