// Drives the fuzz target where the compiler has no libFuzzer: changes inputs of a folder at random.
//
// Usage: driver SEED SECONDS FOLDER FILE_FOR_FAILURE. The n-th input depends only on the seed and
// the folder. SECONDS 0 runs each file of the folder as it is and no more.

#include <sanitizer/common_interface_defs.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

std::string current;       // what is being tried
std::string failure_path;  // where it is written when it fails

void SaveFailure() {
  std::ofstream(failure_path, std::ios::binary) << current;
  std::fprintf(stderr, "The input is in %s\n", failure_path.c_str());
}

void Try(std::string input) {
  current = std::move(input);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(current.data()), current.size());
}

std::vector<std::string> ReadFolder(const char* folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> contents;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    contents.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return contents;
}

class Mutator {
 public:
  Mutator(uint64_t seed, const std::vector<std::string>& inputs) : random_(seed), inputs_(inputs) {}

  std::string Next() {
    std::string input = inputs_[Below(inputs_.size())];
    for (size_t changes = Below(6); changes > 0; --changes) Change(&input);
    return input;
  }

 private:
  static constexpr size_t kLongest = 16;

  size_t Below(size_t bound) { return static_cast<size_t>(random_() % bound); }
  char Byte() { return static_cast<char>(random_()); }

  void Change(std::string* input) {
    const size_t at = Below(input->size() + 1);
    const std::string& other = inputs_[Below(inputs_.size())];
    switch (Below(8)) {
      case 0:
        if (at < input->size()) (*input)[at] = static_cast<char>((*input)[at] ^ 1 << Below(8));
        break;
      case 1:
        input->replace(at, std::min<size_t>(1, input->size() - at), 1, Byte());
        break;
      case 2:
        input->erase(at, 1 + Below(kLongest));
        break;
      case 3:
        input->insert(at, 1, Byte());
        break;
      case 4:
        input->insert(at, input->substr(at, 1 + Below(kLongest)));
        break;
      case 5:
        input->insert(at, tfrecord_beam::kSeparator);
        break;
      case 6:
        input->insert(at, other.substr(Below(other.size() + 1), Below(4 * kLongest)));
        break;
      case 7:
        input->replace(at, std::string::npos, other.substr(Below(other.size() + 1)));
        break;
    }
  }

  std::mt19937_64 random_;
  const std::vector<std::string>& inputs_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "Expected: %s SEED SECONDS FOLDER FILE_FOR_FAILURE\n", argv[0]);
    return 2;
  }
  failure_path = argv[4];
  std::signal(SIGABRT, [](int) {
    SaveFailure();
    std::_Exit(1);
  });
  __sanitizer_set_death_callback(SaveFailure);

  const std::vector<std::string> inputs = ReadFolder(argv[3]);
  for (const std::string& input : inputs) Try(input);
  Mutator mutator(std::strtoull(argv[1], nullptr, 10), inputs);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[2]));
  uint64_t count = 0;
  for (; std::chrono::steady_clock::now() < end; ++count) Try(mutator.Next());
  std::printf("%llu inputs\n", static_cast<unsigned long long>(count));
  return 0;
}
