// What a program registers before main: its fatbins, and host names of kernels and variables.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cuda/cubin.hpp"
#include "cuda/image_choice.hpp"
#include "cuda/register_choice.hpp"
#include "exec/device_memory.hpp"
#include "exec/executable.hpp"
#include "lower/code.hpp"
#include "ptx/ir.hpp"

namespace lockstep::cuda {

class Module;

struct Kernel {
  std::string name;  // as in PTX
  Module* module = nullptr;
  std::uint32_t max_dynamic_shared = 48 * 1024;  // bytes; cudaFuncSetAttribute
  int carveout = -1;                             // percent; -1 is the default
  bool large_clusters = false;                   // of more CTAs than every GPU can place

  /// Translated for the calling thread's device at first use there. Throws ApiError(InvalidDeviceFunction)
  /// when the PTX has no such kernel, InputError when the kernel needs what the executor does not have.
  [[nodiscard]] const exec::Executable& executable() const;
  /// The PTX entry, without translating it.
  [[nodiscard]] const ptx::Function& function() const;
  /// What ptxas made of it, where the fatbin has machine code that this GPU could load; else nullptr.
  [[nodiscard]] const CubinKernel* machine_code() const;
  /// Registers of a thread that `choice` gives it, or those of its machine code; 0: neither does.
  [[nodiscard]] std::uint32_t known_registers(const RegisterChoice& choice) const;
  /// Its machine code in the timing model, scheduled for the registers that are known, lowered at first use.
  /// `arch`: of the configured GPU, in every call.
  [[nodiscard]] const lower::Code& code(std::uint32_t arch, const lower::Passes& passes = {}) const;

 private:
  struct Translated {
    std::unique_ptr<exec::Executable> executable;
    std::vector<std::pair<lower::Passes, std::unique_ptr<lower::Code>>> codes;
  };
  mutable std::map<unsigned, Translated> translated_;  // by device
};

struct DeviceVariable {
  Address address = 0;
  std::uint64_t bytes = 0;
};

/// One registered fatbin or loaded image. Its PTX is parsed, linked and put into a device's memory at its
/// first use there. Each device has its own variables but for managed ones.
class Module {
 public:
  /// `fatbins`: one, or with RDC those of all objects.
  Module(std::string name, std::vector<std::span<const std::byte>> fatbins, PtxLimit limit,
         exec::DeviceMemory& memory);
  /// PTX texts, which are linked.
  Module(std::string name, std::vector<std::string> ptx, PtxLimit limit, exec::DeviceMemory& memory);

  /// Loads it for the calling thread's device where that has not happened yet.
  [[nodiscard]] const exec::ProgramImage& image();
  [[nodiscard]] const ptx::Program& program() { return image().program(); }
  /// The calling thread's device's. Nothing where the PTX has no such variable.
  [[nodiscard]] std::optional<DeviceVariable> variable(const std::string& name);

  [[nodiscard]] bool owns(Address address) const;

  /// Resources of the kernels of its machine code, by name. Machine code that cannot be read is as none.
  [[nodiscard]] const std::map<std::string, CubinKernel>& machine_code();

  /// Of its PTX, what the configured GPU's driver would not compile.
  [[nodiscard]] const std::optional<TakenPtx>& taken() const { return taken_; }
  [[nodiscard]] const PtxLimit& limit() const { return limit_; }

  /// A device's variables back to their initial values.
  void reset(unsigned device) {
    if (const auto found = images_.find(device); found != images_.end() && found->second)
      found->second->initialise();
  }

  std::vector<std::pair<void**, std::string>> managed;  // host pointers to set when the module is loaded

 private:
  [[nodiscard]] std::vector<ptx::Module> parse();
  void check_target(const ptx::Module& ptx, bool has_machine_code);

  std::string name_;
  std::vector<std::span<const std::byte>> fatbins_;
  std::vector<std::string> ptx_;
  PtxLimit limit_;
  std::optional<TakenPtx> taken_;
  exec::DeviceMemory* memory_;
  std::unique_ptr<ptx::Program> program_;
  std::map<unsigned, std::unique_ptr<exec::ProgramImage>> images_;  // by device
  const exec::ProgramImage* first_ = nullptr;  // of them, which has the managed variables
  std::optional<std::map<std::string, CubinKernel>> machine_code_;
};

class Modules {
 public:
  Module& add(std::unique_ptr<Module> module);
  /// Its handles are gone; what it was stays, since records and graphs may name its kernels.
  void remove(Module* module);
  [[nodiscard]] bool contains(const Module* module) const;

  void register_kernel(Module& module, const void* host, const std::string& name);
  void register_variable(Module& module, const void* host, const std::string& name);

  /// By host stub or by handle. Throws ApiError(InvalidDeviceFunction).
  [[nodiscard]] Kernel& kernel(const void* host_or_handle);
  /// By name, for the driver API. Throws ApiError(SymbolNotFound).
  [[nodiscard]] Kernel& kernel(Module& module, const std::string& name);
  /// By the host variable's address. Throws ApiError(InvalidSymbol).
  [[nodiscard]] DeviceVariable variable(const void* host) const;
  /// Whether a variable of a loaded module begins at `address`.
  [[nodiscard]] bool owns(Address address) const;
  /// A device's variables of all loaded modules back to their initial values.
  void reset(unsigned device);

 private:
  struct HostVariable {
    Module* module;
    std::string name;
  };
  std::vector<std::unique_ptr<Module>> modules_, retired_modules_;
  std::vector<std::unique_ptr<Kernel>> retired_kernels_;
  std::map<const void*, std::unique_ptr<Kernel>> kernels_;  // by host stub
  std::map<const Kernel*, Kernel*> handles_;
  std::map<std::pair<Module*, std::string>, std::unique_ptr<Kernel>> named_;
  std::map<const void*, HostVariable> variables_;
};

}  // namespace lockstep::cuda
