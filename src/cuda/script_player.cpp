#include "cuda/script_player.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "cuda/launch.hpp"
#include "util/console.hpp"
#include "util/error.hpp"

namespace lockstep::cuda {

namespace {

std::uint64_t splitmix64(std::uint64_t& state) {  // Steele, Lea, Flood, OOPSLA 2014
  std::uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

void put_element(std::byte* to, ElementType type, const ScriptNumber& number) {
  const auto f = static_cast<float>(number.real);
  if (type == ElementType::kF32) {
    std::memcpy(to, &f, sizeof f);
  } else if (type == ElementType::kF64) {
    std::memcpy(to, &number.real, sizeof number.real);
  } else {
    std::memcpy(to, &number.bits, bytes_of(type));  // little endian
  }
}

double real_of(const std::byte* from, ElementType type) {
  if (type == ElementType::kF32) {
    float f = 0;
    std::memcpy(&f, from, sizeof f);
    return static_cast<double>(f);
  }
  if (type == ElementType::kF64) {
    double d = 0;
    std::memcpy(&d, from, sizeof d);
    return d;
  }
  std::uint64_t bits = 0;
  const unsigned bytes = bytes_of(type);
  std::memcpy(&bits, from, bytes);
  const bool has_sign = type == ElementType::kS8 || type == ElementType::kS16 || type == ElementType::kS32 ||
                        type == ElementType::kS64;
  if (!has_sign) return static_cast<double>(bits);
  const unsigned unused = 64 - 8 * bytes;
  return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
}

class Player {
 public:
  Player(const LaunchScript& script, const std::string& ptx, const std::string& name, Runtime& runtime)
      : script_(script),
        runtime_(runtime),
        module_(runtime.modules.add(std::make_unique<Module>(
            name, std::vector<std::string>{ptx}, runtime.settings.ptx_limit(), runtime.memory))) {}

  int play() {
    for (const ScriptStep& step : script_.steps) {
      line_ = step.line;
      try {
        std::visit([this](const auto& what) { perform(what); }, step.what);
      } catch (const InputError&) {
        throw;
      } catch (const std::exception& e) {  // the runtime's errors, faults of the kernel
        fail(e.what());
      }
    }
    runtime_.wait_all();
    return failed_ ? 1 : 0;
  }

 private:
  struct Place {
    std::byte* address = nullptr;
    std::uint64_t bytes = 0;
  };

  [[noreturn]] void fail(const std::string& message) const { throw InputError(script_.file, line_, message); }

  void perform(const ScriptBuffer& buffer) {
    const auto address = runtime_.memory.allocate(buffer.bytes);
    if (!address) fail(fmt::format("no device memory is left for {} bytes", buffer.bytes));
    const Place place{reinterpret_cast<std::byte*>(*address), buffer.bytes};
    buffers_[buffer.name] = place;
    std::memset(place.address, 0, place.bytes);
    runtime_.memory.wrote(*address, place.bytes);
    if (buffer.data.kind == ScriptData::Kind::kZero) return;
    const std::uint64_t unit = buffer.data.kind == ScriptData::Kind::kFile ? 1 : bytes_of(buffer.data.type);
    const auto data = elements(buffer.data, place.bytes / unit);
    std::memcpy(place.address, data.data(), data.size());
  }

  void perform(const ScriptLaunch& l) {
    KernelLaunch launch;
    launch.grid = {l.grid.x, l.grid.y, l.grid.z};
    launch.block = {l.block.x, l.block.y, l.block.z};
    if (l.cluster) launch.cluster = {l.cluster->x, l.cluster->y, l.cluster->z};
    launch.dynamic_shared = l.shared;
    launch.cooperative = l.cooperative;
    const Kernel& kernel = runtime_.modules.kernel(module_, l.kernel);
    auto values = arguments(kernel.function(), l);
    std::vector<void*> pointers;
    pointers.reserve(values.size());
    for (auto& value : values) pointers.push_back(value.data());
    runtime_.submit(stream(l.stream),
                    prepare_launch(kernel, std::move(launch), pointers.data(), runtime_.settings.gpu));
  }

  void perform(const ScriptWait&) { runtime_.wait_all(); }

  void perform(const ScriptExpect& e) {
    runtime_.wait_all();
    const Place place = at(e.buffer, e.offset);
    const unsigned unit = bytes_of(e.data.type);
    const std::uint64_t count = e.count > 0 ? e.count : place.bytes / unit;
    const auto expected = elements(e.data, e.data.kind == ScriptData::Kind::kFile ? count * unit : count);
    if (expected.size() < count * unit)
      fail(fmt::format("{}: {} bytes; expected {}", e.data.file, expected.size(), count * unit));
    std::uint64_t wrong = 0, first = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (same(place.address + i * unit, expected.data() + i * unit, e)) continue;
      if (wrong++ == 0) first = i;
    }
    if (wrong == 0) return;
    failed_ = true;
    print_out("{}:{}: {} of {} elements of {} are not as expected; first element {}: {} instead of {}\n",
              script_.file, line_, wrong, count, e.buffer, first,
              real_of(place.address + first * unit, e.data.type),
              real_of(expected.data() + first * unit, e.data.type));
  }

  void perform(const ScriptPrint& p) {
    runtime_.wait_all();
    const Place place = at(p.buffer, p.offset);
    print_out("{}:", p.buffer);
    for (std::uint64_t i = 0; i < p.count; ++i)
      print_out(" {}", real_of(place.address + i * bytes_of(p.type), p.type));
    print_out("\n");
  }

  static bool same(const std::byte* found, const std::byte* wanted, const ScriptExpect& e) {
    if (std::memcmp(found, wanted, bytes_of(e.data.type)) == 0) return true;
    const double a = real_of(found, e.data.type), b = real_of(wanted, e.data.type);
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    const bool exact = e.within == 0 && !is_float(e.data.type);
    return !exact && std::abs(a - b) <= e.within * std::max(1.0, std::abs(b));
  }

  [[nodiscard]] Place at(const std::string& buffer, std::uint64_t offset) const {
    const Place& all = buffers_.at(buffer);
    return {all.address + offset, all.bytes - offset};
  }

  abi::Stream stream(std::uint64_t number) {
    if (number == 0) return nullptr;
    const auto [place, is_new] = streams_.try_emplace(number, nullptr);
    if (is_new) place->second = runtime_.streams.create_stream(0, 0);
    return place->second;
  }

  /// Bytes of `count` elements, or of the file, at most `count` of them.
  [[nodiscard]] std::vector<std::byte> elements(const ScriptData& data, std::uint64_t count) const {
    if (data.kind == ScriptData::Kind::kFile) return file_bytes(data.file, count);
    const unsigned unit = bytes_of(data.type);
    std::vector<std::byte> bytes(count * unit);
    std::uint64_t state = data.seed;
    for (std::uint64_t i = 0; i < count; ++i) {
      ScriptNumber n;
      if (data.kind == ScriptData::Kind::kSequence) {
        n.bits = data.first.bits + i * data.step.bits;
        n.real = data.first.real + static_cast<double>(i) * data.step.real;
      } else if (data.kind == ScriptData::Kind::kRandom) {
        const std::uint64_t r = splitmix64(state), span = data.high.bits - data.low.bits + 1;
        constexpr double kUnit = 0x1p-53;
        n.bits = data.low.bits + (span == 0 ? r : r % span);
        n.real = data.low.real + (data.high.real - data.low.real) * static_cast<double>(r >> 11) * kUnit;
      }
      put_element(bytes.data() + i * unit, data.type, n);
    }
    return bytes;
  }

  [[nodiscard]] std::vector<std::byte> file_bytes(const std::string& name, std::uint64_t most) const {
    const auto path = std::filesystem::path(script_.file).parent_path() / name;
    std::ifstream in(path, std::ios::binary);
    if (!in) fail(fmt::format("{}: cannot be read", path.string()));
    std::vector<std::byte> bytes(most);
    in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(most));
    bytes.resize(static_cast<std::size_t>(in.gcount()));
    return bytes;
  }

  /// Each argument as the bytes of its parameter.
  [[nodiscard]] std::vector<std::vector<std::byte>> arguments(const ptx::Function& entry,
                                                              const ScriptLaunch& l) const {
    if (l.arguments.size() != entry.parameters.size())
      fail(fmt::format("{} arguments; {} has {} parameters", l.arguments.size(), l.kernel,
                       entry.parameters.size()));
    std::vector<std::vector<std::byte>> values;
    for (std::size_t i = 0; i < l.arguments.size(); ++i) {
      const ptx::Parameter& p = entry.parameters[i];
      const ScriptArgument& a = l.arguments[i];
      if (p.array || p.size > sizeof(std::uint64_t))
        fail(fmt::format("parameter {} of {} is an array; expected a number or an address", i + 1, l.kernel));
      ScriptNumber n = a.number;
      if (!a.buffer.empty()) n.bits = reinterpret_cast<std::uint64_t>(at(a.buffer, a.offset).address);
      const bool floats = ptx::kind(p.type) == ptx::TypeKind::kFloat && p.size >= sizeof(float);
      if (!floats && !n.whole)
        fail(fmt::format("argument {} has a fraction; {} takes a whole number", i + 1, l.kernel));
      if (floats && !a.buffer.empty())
        fail(fmt::format("argument {} is an address; {} takes a number", i + 1, l.kernel));
      auto& bytes = values.emplace_back(p.size);
      if (floats) {
        put_element(bytes.data(), p.size == sizeof(float) ? ElementType::kF32 : ElementType::kF64, n);
      } else {
        std::memcpy(bytes.data(), &n.bits, p.size);
      }
    }
    return values;
  }

  const LaunchScript& script_;
  Runtime& runtime_;
  Module& module_;
  std::map<std::string, Place> buffers_;
  std::map<std::uint64_t, abi::Stream> streams_;
  std::uint64_t line_ = 0;
  bool failed_ = false;
};

}  // namespace

int play_script(const LaunchScript& script, const std::string& ptx, const std::string& name,
                Runtime& runtime) {
  return Player(script, ptx, name, runtime).play();
}

}  // namespace lockstep::cuda
