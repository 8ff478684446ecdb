#include "ranks/local_group.hpp"

#include <chrono>
#include <utility>

namespace lockstep::ranks {

/// Two sides, in turn: who is done with an exchange may begin the next one while others still read.
struct LocalGroup::Table {
  explicit Table(unsigned ranks) : size(ranks) {
    for (Side& side : sides) {
      side.notices.resize(ranks);
      side.messages.resize(ranks);
    }
  }
  struct Side {
    std::vector<Notice> notices;
    std::vector<std::vector<std::string>> messages;  // by sender, then receiver
  };
  const unsigned size;
  std::mutex mutex;
  std::condition_variable changed;
  Side sides[2];
  unsigned come = 0;
  std::uint64_t round = 0;
};

std::vector<std::unique_ptr<LocalGroup>> LocalGroup::make(unsigned ranks) {
  const auto table = std::make_shared<Table>(ranks);
  std::vector<std::unique_ptr<LocalGroup>> groups;
  for (unsigned r = 0; r < ranks; ++r) groups.emplace_back(new LocalGroup(table, r));
  return groups;
}

unsigned LocalGroup::size() const { return table_->size; }

void LocalGroup::carry(const Notice& notice, std::span<const std::string> messages, Gathered& gathered) {
  std::unique_lock lock(table_->mutex);
  const std::uint64_t round = table_->round;
  Table::Side& side = table_->sides[round % 2];
  side.notices[rank_] = notice;
  side.messages[rank_].assign(messages.begin(), messages.end());
  if (++table_->come == table_->size) {
    table_->come = 0;
    ++table_->round;
    table_->changed.notify_all();
  }
  while (table_->round == round) {
    table_->changed.wait_for(lock, std::chrono::milliseconds(100));
    if (table_->round == round && must_give_up()) throw Failed("other ranks do not reply", 130);
  }
  gathered.notices = side.notices;
  for (unsigned r = 0; r < table_->size; ++r) gathered.messages[r] = side.messages[r][rank_];
}

}  // namespace lockstep::ranks
