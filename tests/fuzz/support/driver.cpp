// main() of a fuzz target where there is no libFuzzer: inputs made from a seed number, the same in every run,
// for some seconds or a number of inputs. `TARGET SECONDS INPUTS FILE...`: what starts with each FILE is
// changed in some places; without files inputs are random bytes.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

/// GCC's UndefinedBehaviorSanitizer has a library of its own, which does not know of the callback.
extern "C" const char* __ubsan_default_options() { return "abort_on_error=1"; }

namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr std::size_t kMaxBytes = 8192;
constexpr unsigned kSecondsForOne = 60;

Bytes input;  // the one in hand

/// With system calls alone: the heap and stdio may be broken, and this may stand in a signal handler.
void keep_input() {
  constexpr char kSaved[] = "the input is in ./fuzz-crash\n";
  const int file = open("fuzz-crash", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return;
  const bool saved = write(file, input.data(), input.size()) == static_cast<ssize_t>(input.size());
  if (close(file) == 0 && saved) (void)!write(STDERR_FILENO, kSaved, sizeof kSaved - 1);
}

void stop(int signal) {
  std::signal(signal, SIG_DFL);
  keep_input();
  std::raise(signal);
}

std::vector<Bytes> read_seeds(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(folder))
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.file_size() <= kMaxBytes) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Bytes> seeds;
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return seeds;
}

Bytes random_bytes(std::mt19937_64& random) {
  Bytes bytes(16 + random() % 112);
  for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(random());
  return bytes;
}

void change(Bytes& bytes, std::mt19937_64& random) {
  for (auto changes = 1 + random() % 6; changes > 0 && !bytes.empty(); --changes) {
    const std::size_t at = random() % bytes.size(), from = random() % bytes.size();
    const std::size_t length = 1 + random() % std::min<std::size_t>(40, bytes.size() - from);
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random() % 6) {
      case 0:
        *place = static_cast<std::uint8_t>(random());
        break;
      case 1:
        *place = static_cast<std::uint8_t>(*place ^ 1u << random() % 8);
        break;
      case 2:
        bytes.erase(place, place + static_cast<std::ptrdiff_t>(
                                       std::min<std::size_t>(random() % 20, bytes.size() - at)));
        break;
      case 3: {
        const Bytes part(bytes.begin() + static_cast<std::ptrdiff_t>(from),
                         bytes.begin() + static_cast<std::ptrdiff_t>(from + length));
        bytes.insert(place, part.begin(), part.end());
        break;
      }
      case 4:
        bytes.insert(place, static_cast<std::uint8_t>("{}[]()<>,;:=-#\"%0\n \xff"[random() % 20]));
        break;
      default:
        if (random() % 4 == 0) bytes.resize(at);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::chrono::seconds limit(std::atoi(argv[1]));
  const std::vector<Bytes> seeds = read_seeds(argv[2]);
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(keep_input);
  } else {
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE}) std::signal(signal, stop);
  }
  for (const int signal : {SIGALRM, SIGABRT, SIGTRAP, SIGILL}) std::signal(signal, stop);
  std::mt19937_64 random(1);
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t done = 0;
  for (; std::chrono::steady_clock::now() - start < limit; ++done) {
    if (seeds.empty()) {
      input = random_bytes(random);
    } else {
      input = seeds[random() % seeds.size()];
      change(input, random);
    }
    alarm(kSecondsForOne);
    (void)LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%llu inputs\n", static_cast<unsigned long long>(done));
  return 0;
}
