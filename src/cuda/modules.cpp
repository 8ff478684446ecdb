#include "cuda/modules.hpp"

#include <errno.h>  // program_invocation_short_name
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cuda/context.hpp"
#include "cuda/error.hpp"
#include "ptx/linker.hpp"
#include "ptx/parser.hpp"
#include "util/console.hpp"
#include "util/error.hpp"

namespace lockstep::cuda {

const ptx::Function& Kernel::function() const {
  const auto id = module->program().find_function(name);
  if (!id || !module->program().functions[*id].entry) throw ApiError(Status::kErrorInvalidDeviceFunction);
  return module->program().functions[*id];
}

const exec::Executable& Kernel::executable() const {
  auto& executable = translated_[current_device()].executable;
  if (!executable) {
    const ptx::Function& entry = function();
    const auto id = static_cast<std::uint32_t>(&entry - module->program().functions.data());
    executable = std::make_unique<exec::Executable>(module->image(), id);
  }
  return *executable;
}

const CubinKernel* Kernel::machine_code() const {
  const auto& kernels = module->machine_code();
  const auto found = kernels.find(name);
  return found == kernels.end() ? nullptr : &found->second;
}

std::uint32_t Kernel::known_registers(const RegisterChoice& choice) const {
  if (const auto given = choice.kernels.find(name); given != choice.kernels.end()) return given->second;
  if (choice.source == RegisterChoice::Source::kCubin)
    if (const CubinKernel* code = machine_code(); code != nullptr) return code->registers;
  return 0;
}

const lower::Code& Kernel::code(std::uint32_t arch, const lower::Passes& passes) const {
  auto& codes = translated_[current_device()].codes;
  for (const auto& [made_by, code] : codes)
    if (made_by == passes) return *code;
  static const RegisterChoice choice = read_register_choice();
  auto code = std::make_unique<lower::Code>(executable(), arch, passes, known_registers(choice));
  return *codes.emplace_back(passes, std::move(code)).second;
}

Module::Module(std::string name, std::vector<std::span<const std::byte>> fatbins, PtxLimit limit,
               exec::DeviceMemory& memory)
    : name_(std::move(name)), fatbins_(std::move(fatbins)), limit_(std::move(limit)), memory_(&memory) {}

Module::Module(std::string name, std::vector<std::string> ptx, PtxLimit limit, exec::DeviceMemory& memory)
    : name_(std::move(name)), ptx_(std::move(ptx)), limit_(std::move(limit)), memory_(&memory) {}

namespace {

/// Programs that launch kernels in kernels carry the device's part of the runtime (libcudadevrt): the
/// executor has it itself.
bool is_device_runtime(const ptx::Module& module) {
  return std::ranges::any_of(module.functions, [](const ptx::Function& f) {
    return f.has_body && f.name == "__cudaCDP2LaunchDeviceV2";
  });
}

}  // namespace

// A fatbin without an image for the GPU: the driver API's documentation, CUDA_ERROR_NO_BINARY_FOR_GPU. PTX
// text for a later architecture: CUDA_ERROR_INVALID_PTX, as a GTX 1070 shows it for sm_75
// (github.com/Rust-GPU/rust-cuda, issue 410). CUDA_ERROR_UNSUPPORTED_PTX_VERSION is of a PTX version that
// the driver does not know.
void Module::check_target(const ptx::Module& ptx, bool has_machine_code) {
  const auto target = parse_target(ptx.target);
  if (!target || accepts(limit_.arch, *target)) return;
  if (limit_.refuse && !has_machine_code) {
    const auto entry = std::ranges::find_if(ptx.functions, [](const ptx::Function& f) { return f.entry; });
    throw ApiError(fatbins_.empty() ? Status::kErrorInvalidPtx : Status::kErrorNoKernelImageForDevice,
                   refusal_of(ptx.target, fmt::format("{} ({})", name_, program_invocation_short_name),
                              entry == ptx.functions.end() ? "" : entry->name, limit_));
  }
  if (!taken_) taken_ = {ptx.target, has_machine_code};
}

std::vector<ptx::Module> Module::parse() {
  std::vector<ptx::Module> modules;
  const auto add = [&](const std::string& text, bool has_machine_code) {
    ptx::Module ptx = ptx::parse(text, name_);
    if (is_device_runtime(ptx)) return;
    check_target(ptx, has_machine_code);
    modules.push_back(std::move(ptx));
  };
  for (const std::string& text : ptx_) add(text, false);
  bool any = false;
  for (const auto& fatbin : fatbins_) {
    const auto images = read_fatbin(fatbin, name_);
    any = any || !images.empty();
    if (const FatbinImage* ptx = choose_ptx(images, limit_.arch))
      add(ptx->bytes, choose_cubin(images, limit_.arch) != nullptr);
  }
  if (any && modules.empty())
    throw ApiError(
        Status::kErrorNoKernelImageForDevice,
        name_ + " has no PTX, only machine code; build it with -gencode arch=compute_XX,code=compute_XX");
  return modules;
}

const exec::ProgramImage& Module::image() {
  const unsigned device = current_device();
  auto& image = images_[device];
  if (image) return *image;
  if (!program_) program_ = std::make_unique<ptx::Program>(ptx::link(parse()));
  image = std::make_unique<exec::ProgramImage>(*program_, *memory_, device, first_);
  if (first_ != nullptr) return *image;
  first_ = image.get();
  for (const auto& [host, variable_name] : managed)
    if (const auto found = variable(variable_name)) *host = reinterpret_cast<void*>(found->address);
  return *image;
}

const std::map<std::string, CubinKernel>& Module::machine_code() {
  if (machine_code_) return *machine_code_;
  machine_code_.emplace();
  for (const auto& fatbin : fatbins_) {
    try {
      const auto images = read_fatbin(fatbin, name_);
      if (const FatbinImage* cubin = choose_cubin(images, limit_.arch))
        machine_code_->merge(read_cubin(std::as_bytes(std::span(cubin->bytes)), name_));
    } catch (const UserError& e) {
      print_err("lockstep: {}; registers are estimated\n", e.what());
    }
  }
  return *machine_code_;
}

std::optional<DeviceVariable> Module::variable(const std::string& name) {
  const exec::ProgramImage& loaded = image();
  const auto id = loaded.program().find_variable(name);
  if (!id || loaded.address(*id) == 0) return std::nullopt;
  return DeviceVariable{loaded.address(*id), loaded.program().variables[*id].size};
}

bool Module::owns(Address address) const {
  for (const auto& [device, image] : images_)
    for (std::uint32_t v = 0; image && v < program_->variables.size(); ++v)
      if (image->address(v) == address) return true;
  return false;
}

Module& Modules::add(std::unique_ptr<Module> module) {
  modules_.push_back(std::move(module));
  return *modules_.back();
}

void Modules::remove(Module* module) {
  std::erase_if(handles_, [module](const auto& entry) { return entry.first->module == module; });
  std::erase_if(variables_, [module](const auto& entry) { return entry.second.module == module; });
  const auto retire = [module, this](auto& kernels) {
    for (auto& [key, kernel] : kernels)
      if (kernel && kernel->module == module) retired_kernels_.push_back(std::move(kernel));
    std::erase_if(kernels, [](const auto& entry) { return entry.second == nullptr; });
  };
  retire(named_);
  retire(kernels_);
  for (auto& owned : modules_)
    if (owned.get() == module) retired_modules_.push_back(std::move(owned));
  std::erase(modules_, nullptr);
}

bool Modules::contains(const Module* module) const {
  return std::ranges::any_of(modules_, [module](const auto& owned) { return owned.get() == module; });
}

void Modules::register_kernel(Module& module, const void* host, const std::string& name) {
  auto kernel = std::make_unique<Kernel>();
  kernel->name = name;
  kernel->module = &module;
  handles_[kernel.get()] = kernel.get();
  kernels_[host] = std::move(kernel);
}

void Modules::register_variable(Module& module, const void* host, const std::string& name) {
  variables_[host] = {&module, name};
}

Kernel& Modules::kernel(const void* host_or_handle) {
  if (const auto host = kernels_.find(host_or_handle); host != kernels_.end()) return *host->second;
  if (const auto handle = handles_.find(static_cast<const Kernel*>(host_or_handle)); handle != handles_.end())
    return *handle->second;
  throw ApiError(Status::kErrorInvalidDeviceFunction);
}

Kernel& Modules::kernel(Module& module, const std::string& name) {
  auto& named = named_[{&module, name}];
  if (!named) {
    auto kernel = std::make_unique<Kernel>();
    kernel->name = name;
    kernel->module = &module;
    (void)kernel->function();
    handles_[kernel.get()] = kernel.get();
    named = std::move(kernel);
  }
  return *named;
}

DeviceVariable Modules::variable(const void* host) const {
  const auto found = variables_.find(host);
  if (found == variables_.end()) throw ApiError(Status::kErrorInvalidSymbol);
  const auto variable = found->second.module->variable(found->second.name);
  if (!variable) throw ApiError(Status::kErrorInvalidSymbol);
  return *variable;
}

bool Modules::owns(Address address) const {
  return std::ranges::any_of(modules_, [address](const auto& module) { return module->owns(address); });
}

void Modules::reset(unsigned device) {
  for (const auto& module : modules_) module->reset(device);
}

}  // namespace lockstep::cuda
