// Cubins built here from the measured layout; broken ones; which one a GPU takes, and where registers come
// from.
#include "cuda/cubin.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "cuda/modules.hpp"
#include "cuda/register_choice.hpp"
#include "support.hpp"
#include "util/error.hpp"

namespace lockstep::cuda {

namespace {

/// An ELF file section by section, as ptxas lays it out: names, symbols, .nv.info, .nv.info.k, .text.k,
/// .nv.shared.k.
class CubinWriter {
 public:
  CubinWriter() : bytes_(64) { section("", 0, {}, 0); }

  void section(const std::string& name, std::uint32_t type, const Bytes& contents, std::uint32_t link,
               std::uint64_t size = 0) {
    names_.push_back(names_text_.size());
    names_text_ += name + '\0';
    Bytes header(64);
    put<std::uint32_t>(header, 0, static_cast<std::uint32_t>(names_.back()));
    put<std::uint32_t>(header, 0x04, type);
    put<std::uint64_t>(header, 0x18, bytes_.size());
    put<std::uint64_t>(header, 0x20, size != 0 ? size : contents.size());
    put<std::uint32_t>(header, 0x28, link);
    headers_.push_back(header);
    bytes_.insert(bytes_.end(), contents.begin(), contents.end());
  }

  Bytes finish() {
    Bytes text;
    section(".shstrtab", 3, text, 0);
    text.resize(names_text_.size());
    std::memcpy(text.data(), names_text_.data(), text.size());
    put<std::uint64_t>(headers_.back(), 0x20, text.size());
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    put<std::uint32_t>(bytes_, 0, 0x464c457f);
    put<std::uint8_t>(bytes_, 4, 2);
    put<std::uint8_t>(bytes_, 5, 1);
    put<std::uint16_t>(bytes_, 0x12, 190);
    put<std::uint64_t>(bytes_, 0x28, bytes_.size());
    put<std::uint16_t>(bytes_, 0x3a, 64);
    put<std::uint16_t>(bytes_, 0x3c, static_cast<std::uint16_t>(headers_.size()));
    put<std::uint16_t>(bytes_, 0x3e, static_cast<std::uint16_t>(headers_.size() - 1));
    for (const Bytes& header : headers_) bytes_.insert(bytes_.end(), header.begin(), header.end());
    return bytes_;
  }

 private:
  Bytes bytes_;
  std::vector<Bytes> headers_;
  std::vector<std::size_t> names_;
  std::string names_text_;
};

void attribute(Bytes& info, std::uint8_t number, std::uint32_t symbol, std::uint32_t value) {
  const std::size_t at = info.size();
  put<std::uint8_t>(info, at, 4);
  put<std::uint8_t>(info, at + 1, number);
  put<std::uint16_t>(info, at + 2, 8);
  put<std::uint32_t>(info, at + 4, symbol);
  put<std::uint32_t>(info, at + 8, value);
}

Bytes cubin() {
  CubinWriter writer;
  const std::string names("\0kernel\0", 8);
  Bytes strings(names.size()), symbols(2 * 24), info, of_kernel;
  std::memcpy(strings.data(), names.data(), names.size());
  put<std::uint32_t>(symbols, 24, 1);
  attribute(info, 0x2f, 1, 42);
  attribute(info, 0x11, 1, 24);
  attribute(info, 0x12, 1, 64);
  put<std::uint32_t>(of_kernel, 0, 0x00034c02);  // format 2, attribute 0x4c, value 3
  writer.section(".strtab", 3, strings, 0);
  writer.section(".symtab", 2, symbols, 1);
  writer.section(".nv.info", 0x70000000, info, 2);
  writer.section(".nv.info.kernel", 0x70000000, of_kernel, 2);
  writer.section(".text.kernel", 1, Bytes(0x180), 2);
  writer.section(".nv.shared.kernel", 8, {}, 0, 1088);
  return writer.finish();
}

}  // namespace

TEST_CASE("a cubin says what ptxas gave its kernels") {
  const auto kernels = read_cubin(cubin(), "test");
  REQUIRE(kernels.size() == 1);
  const CubinKernel& k = kernels.at("kernel");
  CHECK(k.registers == 42);
  CHECK(k.frame_bytes == 24);
  CHECK(k.stack_bytes == 64);
  CHECK(k.barriers == 3);
  CHECK(k.shared_bytes == 1088);
  CHECK(k.code_bytes == 0x180);
}

TEST_CASE("messages say for which architecture a cubin is, and its kernels") {
  Bytes file = cubin();
  put<std::uint32_t>(file, 0x30, 0x6005004);  // flags as of ptxas 13.0 -arch=sm_80
  put<std::uint8_t>(file, 8, 8);
  CHECK(describe_cubin(file, "test") == "a cubin for sm_80, kernels kernel");
  put<std::uint32_t>(file, 0x30, 0x500556);  // as of CUDA 12 for sm_86: LLVM's ELF.h, EF_CUDA_SM86 is 0x56
  put<std::uint8_t>(file, 8, 7);
  CHECK(describe_cubin(file, "test") == "a cubin for sm_86, kernels kernel");
}

TEST_CASE("a cubin that ends too early, or whose bytes are wrong, is one clear error") {
  const Bytes whole = cubin();
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK_THROWS_AS(read_cubin(std::span(whole).first(size), "test"), UserError);
  std::uint32_t random = 1;
  unsigned refused = 0;
  for (unsigned i = 0; i < 20000; ++i) {  // must not crash; what is read is no matter
    Bytes broken = whole;
    for (unsigned n = 0; n < 3; ++n) {
      random = random * 1664525 + 1013904223;
      broken[(random >> 8) % broken.size()] = static_cast<std::byte>(random >> 24);
    }
    try {
      (void)read_cubin(broken, "test");
    } catch (const UserError& e) {
      ++refused;
      CHECK(std::string(e.what()).find("test: cubin, offset") == 0);
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("the driver takes machine code of the same major architecture, up to the GPU's") {
  std::vector<FatbinImage> images;
  for (const std::uint32_t sm : {75u, 80u, 86u, 89u, 90u}) {
    images.emplace_back();
    images.back().kind = FatbinImage::Kind::kCubin;
    images.back().sm = sm;
  }
  CHECK(choose_cubin(images, 90)->sm == 90);
  CHECK(choose_cubin(images, 87)->sm == 86);
  CHECK(choose_cubin(images, 80)->sm == 80);
  CHECK(choose_cubin(images, 75)->sm == 75);
  CHECK(choose_cubin(images, 70) == nullptr);
  images.front().kind = FatbinImage::Kind::kPtx;
  CHECK(choose_cubin(images, 75) == nullptr);
}

TEST_CASE("a choice of registers survives the way to the program, and a wrong one is an error") {
  const auto choice = make_register_choice("estimate", {"_Z1kv=32", "a=b=7"});
  CHECK(choice.kernels.at("_Z1kv") == 32);
  CHECK(choice.kernels.at("a=b") == 7);
  CHECK(to_text(choice) == "estimate,_Z1kv=32,a=b=7");
  CHECK_THROWS_AS(make_register_choice("ptxas", {}), UserError);
  for (const char* wrong : {"k", "k=", "k=0", "k=256", "k=3x", "=3"})
    CHECK_THROWS_AS(make_register_choice("cubin", {wrong}), UserError);
}

}  // namespace lockstep::cuda
