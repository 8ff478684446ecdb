// The generator against values from outside it.
#include <functional>
#include <sstream>
#include <vector>

#include "paths.hpp"
#include "support.hpp"
#include "synth/synth.hpp"

using namespace lockstep::synth;

namespace {

std::uint64_t fnv1a(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

/// Without the lines that contain `word`; line ends as between lines, as Python's split and join do.
std::string without_lines(const std::string& text, const std::string& word) {
  std::string out;
  std::size_t at = 0;
  bool first = true;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (line.find(word) == std::string::npos) {
      if (!first) out += '\n';
      out += line;
      first = false;
    }
    at = end + 1;
  }
  return out;
}

/// Without " 0x..." words.
std::string without_hex(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text.compare(i, 3, " 0x") == 0) {
      i += 3;
      while (i < text.size() && std::string("0123456789abcdef").find(text[i]) != std::string::npos) ++i;
    } else {
      out += text[i++];
    }
  }
  return out;
}

}  // namespace

/// FNV-1a of the files that an independent generator in Python wrote: the traces that Accel-Sim was measured
/// with, at small sizes. Its random addresses are others, so these are left out.
TEST_CASE("texts are those of the published synthetic traces") {
  struct Golden {
    std::string kind;
    Options options;
    std::string file;
    std::uint64_t hash;
    std::function<std::string(const std::string&)> filter = [](const std::string& t) { return t; };
  };
  // Its names of these kernels, _Z5mixed1Pf, are no mangled names.
  const auto no_name_no_reductions = [](const std::string& t) {
    return without_lines(without_lines(t, "RED.E"), "kernel name");
  };
  const auto no_loads = [](const std::string& t) { return without_lines(t, "LDG"); };
  const Options mixed = {{"ctas", "8"}, {"named-barriers", "0"}};
  const Options sgemm = {{"tiles-x", "3"}, {"tiles-y", "2"}, {"ktiles", "2"}};
  const Options chain = {{"iterations", "20"}};
  const std::vector<Golden> cases = {
      {"streaming", {{"ctas", "96"}}, "kernel-1.traceg", 0xf75df6bd05e02f2b},
      {"streaming", {{"ctas", "96"}}, "kernelslist.g", 0x941cffb0888e24a3},
      {"sgemm", sgemm, "kernel-1.traceg", 0x9fe8196b1402fd0d},
      {"sgemm", sgemm, "kernelslist.g", 0x6033fcf0715640f0},
      {"chain", chain, "kernel-1.traceg", 0x8ff76f38eae48b7f},
      {"chain", chain, "kernelslist.g", 0x69a5bc3a50bafeee},
      {"random", {{"ctas", "8"}}, "kernel-1.traceg", 0xcb2bc6c13bf0d414, without_hex},
      {"random", {{"ctas", "8"}}, "kernelslist.g", 0x357c075a5ce1ab4c},
      {"random", {{"ctas", "8"}, {"encoding", "delta"}}, "kernel-1.traceg", 0x6d0412a2a16a01ec, no_loads},
      {"mixed", mixed, "kernel-1.traceg", 0xab783f3ac586c9d2, no_name_no_reductions},
      {"mixed", mixed, "kernel-2.traceg", 0x7c6ff2d000ab51f6, no_name_no_reductions},
      {"mixed", mixed, "kernel-3.traceg", 0xf8433cd4a7d0f365, no_name_no_reductions},
      {"mixed", mixed, "kernelslist.g", 0x001f233f4eef0c6e},
  };
  for (const Golden& g : cases) {
    INFO(g.kind << " " << g.file);
    TemporaryFolder folder;
    synthesize(g.kind, g.options, folder / "t");
    CHECK(fnv1a(g.filter(text_of(folder / ("t/" + g.file)))) == g.hash);
  }
}

/// The commands of traces/README.md, read from it, write the traces that lie there.
TEST_CASE("bundled traces are what their documented commands write") {
  const std::filesystem::path bundled = std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "traces";
  std::istringstream readme(text_of((bundled / "README.md").string()));
  std::size_t commands = 0;
  for (std::string line; std::getline(readme, line);) {
    std::istringstream words(line);
    std::string program, command, kind, word, name;
    if (!(words >> program >> command >> kind) || program != "lockstep" || command != "synth") continue;
    Options options;
    while (words >> word) {
      REQUIRE(word.starts_with("--"));
      std::string value;
      REQUIRE(words >> value);
      if (word == "--out") {
        name = std::filesystem::path(value).filename().string();
      } else {
        options[word.substr(2)] = value;
      }
    }
    INFO(line);
    ++commands;
    TemporaryFolder folder;
    synthesize(kind, options, folder / name);
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(bundled / name)) {
      ++files;
      CHECK(text_of(entry.path().string()) ==
            text_of(folder / (name + "/" + entry.path().filename().string())));
    }
    std::size_t written = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder / name))
      written += entry.is_regular_file();
    CHECK(files == written);
  }
  std::size_t folders = 0;
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(bundled)) {
    folders += entry.is_directory();
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  CHECK(commands == folders);
  CHECK(folders >= 5);
  CHECK(bytes < 1'000'000);
}
