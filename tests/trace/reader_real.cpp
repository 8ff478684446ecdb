// Real traces, where they are at hand: everything is read, and as the naive parser reads it.
#include <algorithm>

#include "reader_support.hpp"

using namespace lockstep;
using namespace lockstep::trace;
using namespace lockstep::trace::test;
namespace fs = std::filesystem;

namespace {

std::uint64_t announced_instructions(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::uint64_t sum = 0;
  while (std::getline(in, line)) {
    if (line.starts_with("insts = ")) sum += std::stoull(line.substr(8));
  }
  return sum;
}

}  // namespace

TEST_CASE("Real traces are read completely") {
  if (!fs::exists(shared_traces())) {
    WARN("no traces in ../shared: skipped");
    return;
  }
  std::vector<std::string> folders;
  for (const auto& entry : fs::directory_iterator(shared_traces())) folders.push_back(entry.path().string());
  std::sort(folders.begin(), folders.end());
  for (const std::string& folder : folders) {
    const auto set = open_trace(folder);
    std::ifstream list(folder + "/kernelslist.g");
    std::string line;
    std::uint32_t kernel = 0;
    while (std::getline(list, line)) {
      if (!line.starts_with("kernel")) continue;
      const std::string file = folder + "/" + line;
      INFO(file);
      const auto feed = set->open(kernel++);
      const auto seen = read_all(*feed, 7);
      CHECK(seen.size() == announced_instructions(file));
      std::ifstream text(file);
      CHECK((seen == naive_parse(text)));
      CHECK(feed->notes().unknown_opcodes.empty());
    }
    CHECK(kernel == set->kernels().size());
  }
}
