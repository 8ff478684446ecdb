// Any bytes as a checkpoint: one, or one InputError; as its content behind a right hash; and as a state:
// values of every kind, or one ArchiveError.
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "checkpoint/file.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "trace/content_hash.hpp"
#include "util/archive.hpp"
#include "util/error.hpp"

namespace {

using namespace lockstep;

struct Everything {
  template <class A>
  void persist(A& a) {
    a.members(*this, words, nested, text, bits, keyed, table, set, heap, some, owned, pairs);
  }
  std::vector<std::uint32_t> words;
  std::vector<std::vector<std::uint8_t>> nested;
  std::string text;
  std::vector<bool> bits;
  std::map<std::string, std::uint64_t> keyed;
  std::unordered_map<std::uint64_t, std::vector<std::uint16_t>> table;
  std::set<std::pair<std::uint64_t, std::uint32_t>> set;
  std::priority_queue<std::uint32_t> heap;
  std::optional<std::string> some;
  std::unique_ptr<std::deque<std::string>> owned;
  std::vector<std::pair<std::string, std::uint64_t>> pairs;
};

void decode(std::string_view bytes) {
  try {
    (void)checkpoint::decode(bytes, "file");
  } catch (const InputError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  decode(bytes);
  std::string hashed(bytes.substr(0, size < 8 ? 0 : size - 8));
  trace::ContentHash hash;
  hash.update(hashed.data(), hashed.size());
  for (unsigned i = 0; i < 8; ++i) hashed += static_cast<char>(hash.value() >> 8 * i);
  decode(hashed);
  try {
    Archive archive(bytes);
    Everything everything;
    archive(everything);
    Archive again;
    again(everything);
    if (archive.at_end() && again.bytes().size() > bytes.size()) __builtin_trap();
  } catch (const ArchiveError&) {
  }
  return 0;
}
