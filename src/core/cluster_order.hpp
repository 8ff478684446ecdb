// The order in which CTAs are dispatched: cluster after cluster.
#pragma once

#include <cstdint>

#include "trace/kernel_trace.hpp"

namespace lockstep::core {

/// Clusters in the order of their numbers, x fastest, and within one its CTAs by rank, likewise (PTX ISA,
/// %clusterid and %cluster_ctarank). Where a cluster is one CTA, that of the CTAs' numbers.
class ClusterOrder {
 public:
  explicit ClusterOrder(const trace::KernelHeader& header)
      : grid_(header.grid),
        cluster_(header.cluster),
        size_(static_cast<std::uint32_t>(header.cluster.count())) {}

  /// CTAs of a cluster.
  [[nodiscard]] std::uint32_t size() const { return size_; }
  /// The number in the kernel of the CTA that is dispatched as the n-th, from 0.
  [[nodiscard]] std::uint64_t cta(std::uint64_t n) const {
    if (cluster_.y * cluster_.z == 1) return n;
    const std::uint64_t number = n / size_, rank = n % size_;
    const std::uint64_t across = grid_.x / cluster_.x, down = grid_.y / cluster_.y;
    const std::uint64_t x = number % across * cluster_.x + rank % cluster_.x;
    const std::uint64_t y = number / across % down * cluster_.y + rank / cluster_.x % cluster_.y;
    const std::uint64_t z = number / across / down * cluster_.z + rank / cluster_.x / cluster_.y;
    return x + grid_.x * (y + grid_.y * z);
  }

 private:
  Dim3 grid_, cluster_;
  std::uint32_t size_;
};

}  // namespace lockstep::core
