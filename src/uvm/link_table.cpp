#include <iterator>

#include "uvm/link.hpp"

namespace lockstep::uvm {
namespace {

struct Point {
  std::uint64_t bytes, picoseconds;
};
/// cudaMemcpy of a pageable buffer, GTX 1080 Ti, PCIe 3 x16: Table 1 of the V100 report on UVMSmart;
/// times = size / its bandwidth of 3.2219, 6.4437, 8.4771, 10.508 and 11.223 GiB/s.
constexpr Point kPoints[] = {{4 << 10, 1184000},
                             {16 << 10, 2368000},
                             {64 << 10, 7200000},
                             {256 << 10, 23234000},
                             {1024 << 10, 87014000}};

std::uint64_t picoseconds(std::uint64_t bytes) {
  const Point& last = kPoints[std::size(kPoints) - 1];
  if (bytes <= kPoints[0].bytes) return kPoints[0].picoseconds;
  if (bytes >= last.bytes)  // bytes / KiB first: the product stays below 2^64 for terabytes
    return bytes / 1024 * last.picoseconds / (last.bytes / 1024) +
           bytes % 1024 * last.picoseconds / last.bytes;
  const Point* upper = kPoints + 1;
  while (upper->bytes < bytes) ++upper;
  const Point& lower = upper[-1];
  return lower.picoseconds +
         (bytes - lower.bytes) * (upper->picoseconds - lower.picoseconds) / (upper->bytes - lower.bytes);
}

}  // namespace

/// Linear in time between measured points; constant time below 4 KB, constant speed above 1 MB.
constinit const LinkModel kTableLink{"table", "measured points of a PCIe 3 x16 memcpy, linear between them",
                                     [](std::uint64_t bytes, Direction, const LinkParameters& parameters) {
                                       return cycles_of_ps(picoseconds(bytes), parameters);
                                     }};

}  // namespace lockstep::uvm
