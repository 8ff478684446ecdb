// A device for tests: PTX text in, launches, arrays in device memory.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exec/executable.hpp"
#include "exec/launch.hpp"
#include "ptx/linker.hpp"
#include "ptx/parser.hpp"

namespace lockstep::exec::test {

inline constexpr std::string_view kHeader = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// Kernel parameters, each at its natural alignment.
class Arguments {
 public:
  template <class... T>
  explicit Arguments(const T&... values) {
    (add(values), ...);
  }
  template <class T>
  void add(const T& value) {
    const std::size_t at = (bytes_.size() + alignof(T) - 1) / alignof(T) * alignof(T);
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class Device {
 public:
  explicit Device(const std::string& text) : memory(std::uint64_t{1} << 30) {
    std::vector<ptx::Module> modules;
    modules.push_back(ptx::parse(std::string(kHeader) + text, "test.ptx"));
    program = ptx::link(std::move(modules));
    image = std::make_unique<ProgramImage>(program, memory);
  }

  template <class T>
  Address array(const std::vector<T>& values) {
    const Address at = *memory.allocate(values.size() * sizeof(T));
    // memcpy takes no null pointer, which an empty vector has, even for no bytes.
    if (!values.empty()) std::memcpy(reinterpret_cast<void*>(at), values.data(), values.size() * sizeof(T));
    return at;
  }
  template <class T>
  Address zeros(std::size_t count) {
    return array(std::vector<T>(count));
  }
  template <class T>
  std::vector<T> read(Address at, std::size_t count) const {
    std::vector<T> values(count);
    if (count != 0) std::memcpy(values.data(), reinterpret_cast<const void*>(at), count * sizeof(T));
    return values;
  }

  [[nodiscard]] std::unique_ptr<Executable> kernel(std::string_view name) const {
    return std::make_unique<Executable>(*image, program.find_function(name).value());
  }
  RunCounts run(std::string_view name, Dim3 grid, Dim3 block, const Arguments& arguments,
                std::uint32_t dynamic = 0) {
    const auto executable = kernel(name);
    RunCounts counts;
    if (!exec::run(launch_of(*executable, grid, block, arguments, dynamic), memory, options, &counts))
      throw std::runtime_error("interrupted");
    return counts;
  }
  /// Runs CTA after CTA. What each of them did.
  std::vector<CtaRecord> record(std::string_view name, Dim3 grid, Dim3 block, const Arguments& arguments) {
    const auto executable = kernel(name);
    Grid ctas(launch_of(*executable, grid, block, arguments, 0), memory, options);
    std::vector<CtaRecord> records(grid.count());
    for (std::size_t i = 0; i < records.size(); ++i)
      if (!ctas.run_cta(i, &records[i])) throw std::runtime_error("interrupted");
    return records;
  }

  DeviceMemory memory;
  ptx::Program program;
  std::unique_ptr<ProgramImage> image;
  RunOptions options;
  Dim3 cluster;
  bool cooperative = false;

 private:
  [[nodiscard]] Launch launch_of(const Executable& executable, Dim3 grid, Dim3 block,
                                 const Arguments& arguments, std::uint32_t dynamic) const {
    Launch launch;
    launch.kernel = &executable;
    launch.grid = grid;
    launch.block = block;
    launch.cluster = cluster;
    launch.dynamic_shared_bytes = dynamic;
    launch.parameters = arguments.bytes();
    launch.cooperative = cooperative;
    return launch;
  }
};

}  // namespace lockstep::exec::test
