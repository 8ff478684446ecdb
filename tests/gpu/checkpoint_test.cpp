// States of a run between kernels, on one device. Of managed memory and of several devices: with the tests of
// these (managed_test, sharing_test, system_test).
#include <catch2/catch.hpp>
#include <fstream>

#include "end_to_end.hpp"
#include "resume_support.hpp"
#include "util/archive.hpp"

namespace lockstep::test {
namespace {

/// The bundled traces as one program, several times over, with its copies.
class Program {
 public:
  explicit Program(unsigned rounds, const std::string& streams = "") {
    const auto path = folder_.path();
    std::string round;
    unsigned kernels = 0;
    for (const SmallTrace& small : small_traces()) {
      synth::synthesize(small.kind, small.values, (path / small.name).string());
      std::ifstream list(path / small.name / "kernelslist.g");
      for (std::string line; std::getline(list, line);) {
        if (line.ends_with(".traceg")) {
          const std::string own = "kernel-" + std::to_string(++kernels) + ".traceg";
          std::filesystem::copy_file(path / small.name / line, path / own);
          line = own;
        }
        round += line + "\n";
      }
    }
    round += streams;
    std::ofstream list(path / "kernelslist.g");
    for (unsigned i = 0; i < rounds; ++i) list << round << "MemcpyDtoH,0x7f8000000000,65536\n";
    list.close();
    trace_ = trace::open_trace(path.string());
  }
  [[nodiscard]] const trace::TraceSet& operator*() const { return *trace_; }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<trace::TraceSet> trace_;
};

TEST_CASE("A run goes on from its state between any two kernels") {
  const Program program(2);
  gpu::RunOptions options;
  const char* const product = GENERATE("v100", "a100", "h100_pcie", "gtx1080ti");
  INFO(product);
  options.config = small_product(product);
  check_resume(*program, options, 10, 5);
}

TEST_CASE("Series and profiles go on, too") {
  const Program program(1);
  gpu::RunOptions options;
  options.config = small_product("v100");
  options.interval = 1000;
  options.profile = options.timeline = true;
  check_resume(*program, options, 4);
}

}  // namespace
}  // namespace lockstep::test
