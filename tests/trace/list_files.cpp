// Which files a list means: with and without the suffixes of compression, beside the list, and which list a
// folder has.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compact_support.hpp"

using namespace lockstep;
using namespace lockstep::trace;
using namespace lockstep::trace::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

/// A kernel of this name, which says which file has been read: files are known by their content, so that the
/// suffix need not tell the truth.
std::string kernel_named(const std::string& name) {
  std::string text = small_trace({"0000 ffffffff 1 R1 MOV 0 0 0"});
  return text.replace(text.find("= k\n"), 3, "= " + name);
}

const std::vector<std::string> kSuffixes = {"", ".xz", ".gz", ".zst"};

/// The stored file that is meant by `listed`: itself, else itself compressed in one of the ways, else what it
/// is a compressed form of.
std::string meant(const std::string& listed, const std::set<std::string>& stored) {
  for (const std::string& suffix : kSuffixes)
    if (stored.contains(listed + suffix)) return listed + suffix;
  for (const std::string& suffix : kSuffixes)
    if (!suffix.empty() && listed.ends_with(suffix)) {
      const std::string plain = listed.substr(0, listed.size() - suffix.size());
      if (stored.contains(plain)) return plain;
    }
  return "";
}

}  // namespace

TEST_CASE("A listed kernel is the file of that name, or its compressed or plain twin") {
  const std::string base = "kernel-1.traceg";
  for (unsigned present = 0; present < 16; ++present)
    for (const std::string& suffix : kSuffixes) {
      const TemporaryFolder dir;
      std::set<std::string> stored;
      for (std::size_t s = 0; s < kSuffixes.size(); ++s)
        if (present >> s & 1) {
          stored.insert(base + kSuffixes[s]);
          dir.write(base + kSuffixes[s], kernel_named("file" + kSuffixes[s]));
        }
      dir.write("kernelslist.g", "\n" + base + suffix + "\n");
      const std::string file = meant(base + suffix, stored);
      CAPTURE(present, suffix, file);
      if (file.empty()) {
        CHECK_THROWS_WITH(open_trace(dir.path().string()),
                          Contains(fmt::format("kernelslist.g:2: kernel '{}': ", base + suffix)) &&
                              Contains("No such file"));
        continue;
      }
      const auto set = open_trace(dir.path().string());
      REQUIRE(set->kernels().size() == 1);
      CHECK(set->kernels()[0].name == "file" + file.substr(base.size()));
    }
}

TEST_CASE("A folder's list is kernelslist.g, else kernelslist, each compressed or not") {
  const std::vector<std::string> lists = {"kernelslist.g", "kernelslist.g.xz", "kernelslist",
                                          "kernelslist.gz"};
  for (unsigned present = 0; present < 16; ++present) {
    const TemporaryFolder dir;
    std::size_t first = lists.size();
    for (std::size_t i = lists.size(); i-- > 0;)
      if (present >> i & 1) {
        first = i;
        dir.write(lists[i], fmt::format("MemcpyHtoD,0x10,{}\nkernel-1.traceg\n", i));
      }
    dir.write("kernel-1.traceg", kernel_named("k"));
    CAPTURE(present);
    if (first == lists.size()) {
      CHECK_THROWS_WITH(open_trace(dir.path().string()),
                        Contains("no kernelslist.g and no kernelslist; expected one of them"));
      dir.write("traces/kernelslist.g", "kernel-1.traceg\n");
      CHECK_THROWS_WITH(open_trace(dir.path().string()), Contains("its subfolder 'traces' has one"));
    } else {
      CHECK(open_trace(dir.path().string())->commands()[0].bytes == first);
    }
  }
}

TEST_CASE("A list's files are beside it or where an absolute path says, whatever the current folder") {
  const TemporaryFolder dir, other;
  dir.write("below/kernel-1.traceg", kernel_named("below"));
  dir.write("kernel-2.traceg", kernel_named("beside"));
  const std::string far = other.write("kernel-3.traceg", kernel_named("far"));
  const std::string list = dir.write("lists/kernelslist.g", "../below/kernel-1.traceg\n../kernel-2.traceg\n" +
                                                                far + "\n../kernel-2.traceg\n");
  const fs::path before = fs::current_path();
  for (const fs::path& from : {before, dir.path(), other.path()}) {
    fs::current_path(from);
    const auto set = open_trace(list);
    std::vector<std::string> names;
    for (const KernelHeader& h : set->kernels()) names.push_back(h.name);
    CHECK(names == std::vector<std::string>{"below", "beside", "far", "beside"});
  }
  fs::current_path(before);
}

TEST_CASE(
    "Names with zero bytes, loops of links and lists that name themselves are refused with their line") {
  const TemporaryFolder dir;
  dir.write("kernel-1.traceg", kernel_named("k"));
  fs::create_symlink("loop.traceg", dir.path() / "loop.traceg");
  const auto error = [&](const std::string& line) {
    try {
      (void)open_trace(dir.write("kernelslist.g", "kernel-1.traceg\n" + line + "\n"));
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK_THAT(
      error(std::string("kernel\0-1.traceg", 16)),
      Contains(
          "kernelslist.g:2: found 'kernel\\x00-1.traceg'; expected the name of a file, without zero bytes"));
  CHECK_THAT(error("loop.traceg"),
             Contains("kernelslist.g:2: kernel 'loop.traceg': ") && Contains("symbolic links"));
  CHECK_THAT(error("kernelslist.g"), Contains("kernelslist.g:1: ") && Contains("is this a kernel trace?"));
  CHECK_THAT(error("kernels/"), Contains("kernelslist.g:2: kernel 'kernels/': "));
}
