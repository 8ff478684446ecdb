// Ranks that are threads of one process: for tests, and to see what ranks do without MPI.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "ranks/group.hpp"

namespace lockstep::ranks {

class LocalGroup final : public Group {
 public:
  /// All ranks of a group, one for each thread.
  [[nodiscard]] static std::vector<std::unique_ptr<LocalGroup>> make(unsigned ranks);

  [[nodiscard]] unsigned rank() const override { return rank_; }
  [[nodiscard]] unsigned size() const override;

 private:
  struct Table;
  LocalGroup(std::shared_ptr<Table> table, unsigned rank) : table_(std::move(table)), rank_(rank) {}
  void carry(const Notice& notice, std::span<const std::string> messages, Gathered& gathered) override;

  std::shared_ptr<Table> table_;
  unsigned rank_;
};

}  // namespace lockstep::ranks
