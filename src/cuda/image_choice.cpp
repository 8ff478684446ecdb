#include "cuda/image_choice.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace lockstep::cuda {

std::optional<PtxTarget> parse_target(std::string_view text) {
  constexpr std::string_view kPrefix = "sm_";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  PtxTarget target;
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data() + kPrefix.size(), end, target.sm);
  if (error != std::errc{}) return std::nullopt;
  if (after == end) return target;
  target.suffix = *after;
  if (after + 1 != end || (target.suffix != 'a' && target.suffix != 'f')) return std::nullopt;
  return target;
}

bool accepts(std::uint32_t arch, const PtxTarget& target) {
  if (target.suffix == 'a') return target.sm == arch;
  if (target.suffix == 'f' && target.sm / 10 != arch / 10) return false;
  return target.sm <= arch;
}

namespace {

std::string capability(std::uint32_t arch) { return fmt::format("{}.{}", arch / 10, arch % 10); }

/// The fatbin's entry has the number, its text the suffix.
PtxTarget target_of(const FatbinImage& image) {
  const std::string_view text = image.bytes;
  const std::string name = fmt::format("sm_{}", image.sm);
  PtxTarget target{image.sm, '\0'};
  const std::size_t at = text.find(".target");
  if (at == std::string_view::npos) return target;
  const std::string_view line = text.substr(at, text.find('\n', at) - at);
  const std::size_t found = line.find(name);
  if (found == std::string_view::npos || found + name.size() >= line.size()) return target;
  const char letter = line[found + name.size()];
  if (letter == 'a' || letter == 'f') target.suffix = letter;
  return target;
}

/// Is PTX for `a` a better choice for `arch` than PTX for `b`?
bool is_better(const PtxTarget& a, const PtxTarget& b, std::uint32_t arch) {
  const bool fits = accepts(arch, a);
  if (fits != accepts(arch, b)) return fits;
  if (a.sm != b.sm) return fits ? a.sm > b.sm : a.sm < b.sm;
  return fits ? a.suffix != '\0' && b.suffix == '\0' : a.suffix == '\0' && b.suffix != '\0';
}

}  // namespace

const FatbinImage* choose_cubin(std::span<const FatbinImage> images, std::uint32_t arch) {
  const FatbinImage* best = nullptr;
  for (const FatbinImage& image : images)
    if (image.kind == FatbinImage::Kind::kCubin && image.sm / 10 == arch / 10 && image.sm <= arch &&
        (best == nullptr || image.sm > best->sm))
      best = &image;
  return best;
}

const FatbinImage* choose_ptx(std::span<const FatbinImage> images, std::uint32_t arch) {
  const FatbinImage* best = nullptr;
  for (const FatbinImage& image : images)
    if (image.kind == FatbinImage::Kind::kPtx &&
        (best == nullptr || is_better(target_of(image), target_of(*best), arch)))
      best = &image;
  return best;
}

std::string remark_on(const TakenPtx& taken, const std::string& kernel, const PtxLimit& limit) {
  const std::string text = fmt::format("{}: PTX for {} runs on {}, a GPU of compute capability {}", kernel,
                                       taken.target, limit.gpu, capability(limit.arch));
  if (taken.has_machine_code) return text + ", where hardware would run the program's machine code instead";
  return text + ": hardware would refuse it, as --ptx-above refuse does";
}

std::string refusal_of(const std::string& target, const std::string& owner, const std::string& kernel,
                       const PtxLimit& limit) {
  return fmt::format(
      "{}{}: PTX for {}, which {}, a GPU of compute capability {}, does not run; build it with -gencode "
      "arch=compute_{},code=compute_{} or for an earlier one, or leave out --ptx-above refuse",
      kernel.empty() ? "" : fmt::format("kernel {} of ", kernel), owner, target, limit.gpu,
      capability(limit.arch), limit.arch, limit.arch);
}

}  // namespace lockstep::cuda
