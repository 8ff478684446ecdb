// What a service thread knows of its queues, and writes to them, against lists of operations.
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "net/finished_entries.hpp"
#include "net/message_words.hpp"
#include "net/messages.hpp"
#include "tests/persisted.hpp"
#include "tests/random.hpp"

namespace lockstep::net {
namespace {

using OperationKind = trace::NetOperation::Kind;
using lockstep::test::Random32;

constexpr std::uint32_t kQueuesOfDevice[] = {2, 0, 3};  // by device
constexpr std::uint64_t kEntries = 4;

Address base_of(std::uint16_t device, std::uint32_t queue) {
  return 0x100000 * (device + 1u) + 0x1000 * queue;
}

/// Queues in the order in which they became known: device and number there.
using Known = std::vector<std::pair<std::uint16_t, std::uint32_t>>;

Known add_queues(ServedQueues& queues) {
  Known known;
  for (std::uint32_t q = 0; q < 3; ++q)
    for (std::uint16_t d = 0; d < 3; ++d) {
      if (q >= kQueuesOfDevice[d]) continue;
      AgentNews news;
      news.kind = AgentNews::Kind::kQueue;
      news.device = d;
      news.queue = q;
      news.address = base_of(d, q);
      news.bytes = kEntries * trace::kNetEntryBytes;
      news.index = base_of(d, q) + 0x800;
      queues.add(news);
      known.emplace_back(d, q);
    }
  return known;
}

AgentNews operation_news(std::uint16_t device, std::uint32_t queue, std::uint64_t bytes) {
  AgentNews news;
  news.device = device;
  news.operation.queue = queue;
  news.operation.bytes = bytes;
  news.operation.ready = static_cast<std::uint32_t>(bytes);
  return news;
}

/// One queue, all of whose operations are kept.
struct ListedQueue {
  std::uint64_t pushed = 0, taken = 0, indexed = 0;
  std::vector<bool> complete, finished, quiet;
  std::uint64_t completed_row = 0, finished_row = 0;  // how many in a row from the first
  void count_rows() {
    while (completed_row < taken && complete[completed_row]) ++completed_row;
    while (finished_row < taken && finished[finished_row]) ++finished_row;
  }
};

/// One of the first few numbers from `begin` for which `lacks` is true, or `end`.
template <class F>
std::uint64_t some(Random32& random, std::uint64_t begin, std::uint64_t end, F&& lacks) {
  for (int tries = 0; tries < 8 && begin < end; ++tries)
    if (const std::uint64_t n = begin + random() % std::min<std::uint64_t>(end - begin, 6); lacks(n))
      return n;
  return end;
}

TEST_CASE("Served queues: random operations against lists, with states that are kept and taken up again") {
  Random32 random(3);
  auto queues = std::make_unique<ServedQueues>();
  const Known known = add_queues(*queues);
  std::vector<ListedQueue> lists(known.size());
  std::uint64_t quiets = 0;
  for (int step = 0; step < 20'000; ++step) {
    const std::uint32_t q = random() % static_cast<std::uint32_t>(known.size());
    ListedQueue& list = lists[q];
    const auto [device, number] = known[q];
    switch (random() % 6) {
      case 0:
        queues->push(operation_news(device, number, list.pushed++));
        break;
      case 1: {
        if (!queues->any_waiting()) break;
        // The next one after q in a ring that has an operation waiting.
        std::uint32_t next = q;
        do next = (next + 1) % static_cast<std::uint32_t>(known.size());
        while (lists[next].taken == lists[next].pushed);
        REQUIRE(queues->next_waiting(q) == next);
        ListedQueue& of = lists[next];
        REQUIRE(queues->front(next).bytes == of.taken);
        REQUIRE(queues->next_number(next) == of.taken);
        REQUIRE(queues->next_entry(next) ==
                base_of(known[next].first, known[next].second) + of.taken % kEntries * trace::kNetEntryBytes);
        REQUIRE(queues->take(next, 0).number == of.taken++);
        of.complete.push_back(false);
        of.finished.push_back(false);
        of.quiet.push_back(random() % 5 == 0);
        if (of.quiet.back()) queues->wait_quiet({next, of.taken - 1});
        break;
      }
      case 2: {
        const auto n = some(random, list.completed_row, list.taken,
                            [&](auto i) { return !list.complete[i] && !list.quiet[i]; });
        if (n == list.taken) break;
        queues->set_complete({q, n});
        list.complete[n] = true;
        break;
      }
      case 3: {
        const auto n = some(random, list.finished_row, list.taken, [&](auto i) { return !list.finished[i]; });
        if (n == list.taken) break;
        queues->set_finished({q, n});
        list.finished[n] = true;
        break;
      }
      case 4: {
        const bool advances = list.indexed < list.finished_row;
        REQUIRE(queues->advance_index(q) == advances);
        list.indexed += advances;
        break;
      }
      default: {
        const std::uint64_t first = list.completed_row;
        OperationId id;
        const bool quiet = first < list.taken && list.quiet[first];
        REQUIRE(queues->take_quiet(q, id) == quiet);
        if (!quiet) break;
        REQUIRE((id.queue == q && id.number == first));
        list.complete[first] = true;
        ++quiets;
      }
    }
    std::uint64_t open = 0;
    for (std::uint32_t i = 0; i < known.size(); ++i) lists[i].count_rows();
    for (std::uint32_t i = 0; i < known.size(); ++i)
      open += lists[i].pushed - std::min(lists[i].completed_row, lists[i].indexed);
    REQUIRE(queues->open() == open);
    if (list.taken > 0) {
      const std::uint64_t n = list.taken - 1 - random() % std::min<std::uint64_t>(list.taken, 8);
      REQUIRE(queues->complete({q, n}) == list.complete[n]);
      REQUIRE(queues->first_incomplete({q, n}) == (list.completed_row == n));
    }
    if (step % 50 == 0) {
      auto fresh = std::make_unique<ServedQueues>();
      lockstep::test::restore(*queues, *fresh);
      queues = std::move(fresh);
    }
  }
  CHECK(quiets > 100);
}

TEST_CASE("Served queues: the dump names those with something open, and the signal that the next waits for") {
  ServedQueues queues;
  const Known known = add_queues(queues);
  std::string text;
  queues.dump(text);
  CHECK(text.empty());
  queues.push(operation_news(0, 1, 5));
  queues.push(operation_news(0, 1, 6));
  queues.push(operation_news(2, 0, 7));
  const OperationId taken = queues.take(1, 0);
  queues.set_complete(taken);
  queues.dump(text);
  CHECK(
      text ==
      "  queue 0 of device 2: 1 entries taken, 0 finished, 1 complete\n"
      "  queue 1 of device 0: 0 entries taken, 0 finished, 0 complete; waits for signal 5 of its next entry "
      "at 0x101000, 1 more behind it\n");
}

/// Keeps the stores of a thread.
struct StoringPort {
  std::vector<std::pair<std::uint16_t, Address>> stores;
  unsigned store(Cycle, std::uint16_t device, Address word) {
    stores.emplace_back(device, word);
    return 1;
  }
};

TEST_CASE("Finished entries: each status word is written once, and the read index as often, never ahead") {
  Random32 random(9);
  StoringPort port;
  ServedQueues queues;
  const Known known = add_queues(queues);
  ThreadCounters counters;
  const Clock clock(1'000'000);
  FinishedEntries<StoringPort> finished(port, queues, counters, clock);
  constexpr std::uint64_t kEach = 400;
  std::vector<OperationId> open;
  std::vector<std::uint64_t> left(known.size(), kEach);
  std::map<Address, std::uint64_t> status;  // stores of each word
  std::uint64_t counted = 0;
  Cycle now = 0;
  const auto write = [&] {
    const std::size_t before = port.stores.size();
    REQUIRE(finished.write_status(now) == 1);
    for (bool done = false; !done;) (void)finished.write_index(now, done);
    REQUIRE(port.stores.size() > before);
  };
  while (std::ranges::any_of(left, [](auto n) { return n > 0; }) || !open.empty()) {
    ++now;
    const std::uint32_t q = random() % static_cast<std::uint32_t>(known.size());
    if (left[q] > 0 && random() % 2 == 0) {
      queues.push(operation_news(known[q].first, known[q].second, 0));
      open.push_back(queues.take(q, clock.ps(now)));
      --left[q];
    } else if (!open.empty()) {  // some operation ends
      const std::size_t i = random() % open.size();
      FinishedEntry one;
      one.id = open[i];
      one.counts = random() % 2 == 0;
      counted += one.counts;
      one.at.fill(clock.ps(now));
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
      queues.set_complete(one.id);
      finished.push(one);
      if (random() % 2 == 0)
        while (!finished.empty()) write();
    }
  }
  while (!finished.empty()) write();
  // Replayed: a queue's index is written at most as often as its status words in a row.
  std::vector<std::uint64_t> indexed(known.size());
  for (const auto& [device, word] : port.stores) {
    for (std::uint32_t q = 0; q < known.size(); ++q) {
      if (known[q].first != device) continue;
      const Address base = base_of(device, known[q].second);
      if (word - base < kEntries * trace::kNetEntryBytes) ++status[word];
      if (word != base + 0x800) continue;
      const std::uint64_t number = indexed[q]++;
      REQUIRE(status[base + number % kEntries * trace::kNetEntryBytes] > number / kEntries);
    }
  }
  for (const std::uint64_t n : indexed) CHECK(n == kEach);
  for (const auto& [word, stores] : status) CHECK(stores == kEach / kEntries);
  CHECK(port.stores.size() == 2 * kEach * known.size());
  CHECK(counters.ended.size() == counted);
  CHECK(queues.open() == 0);
  CHECK(queues.depth(clock.ps(now)).entered == kEach * known.size());
}

TEST_CASE("Finished entries: a quiet comes when all before it are complete, at the time of the last") {
  StoringPort port;
  ServedQueues queues;
  (void)add_queues(queues);
  ThreadCounters counters;
  FinishedEntries<StoringPort> finished(port, queues, counters, Clock(1'000'000));
  std::vector<OperationId> ids;
  for (int i = 0; i < 4; ++i) {
    queues.push(operation_news(0, 0, 0));
    ids.push_back(queues.take(0, 0));
  }
  for (const std::size_t quiet : {1u, 3u}) {
    FinishedEntry entry;
    entry.id = ids[quiet];
    entry.operation.kind = OperationKind::kQuiet;
    entry.counts = true;
    finished.push_quiet(entry);
  }
  queues.set_complete(ids[2]);
  finished.take_quiets(0, 500);
  CHECK(finished.empty());
  queues.set_complete(ids[0]);
  finished.take_quiets(0, 700);  // both quiets: the first completes the row up to the second
  for (const std::uint64_t number : {1u, 3u}) {
    REQUIRE_FALSE(finished.empty());
    (void)finished.write_status(2);
    CHECK(port.stores.back().second == base_of(0, 0) + number * trace::kNetEntryBytes);
    bool done = false;
    CHECK(finished.write_index(2, done) == 0);  // the puts before it are not finished
    CHECK(done);
  }
  CHECK(finished.empty());
  const StageTimes& quiets = counters.kinds[static_cast<std::size_t>(OperationKind::kQuiet)];
  CHECK(quiets.operations == 2);
  CHECK(quiets.sum[static_cast<std::size_t>(Moment::kComplete)] == 2 * 700);
  CHECK(quiets.sum[static_cast<std::size_t>(Moment::kFinished)] == 2 * (2000 - 700));  // cycle 2: 2 ns
}

TEST_CASE("Doorbells, notices and message words: no two share a place, and all lie below hosts' memory") {
  std::set<Address> places;
  std::size_t count = 0;
  const auto add = [&](Address at, Address from, Address to) {
    CHECK((at >= from && at < to));
    places.insert(at);
    ++count;
  };
  constexpr std::uint16_t kDevices[] = {0, 1, 31, 63};
  for (const std::uint16_t node :
       {std::uint16_t{0}, std::uint16_t{1}, std::uint16_t{64}, std::uint16_t{190}}) {
    add(doorbells_of(node), kDoorbells, kNotices);
    add(doorbells_of(node) + kDoorbellBytes - kLineBytes, kDoorbells, kNotices);
  }
  for (const std::uint16_t from : kDevices)
    for (const std::uint16_t to : kDevices) {
      for (const std::uint64_t number : {0u, 1u, 4094u, 4095u})
        add(notice_of(from, to, number, 4096), kNotices, kMessageWords);
      CHECK(notice_of(from, to, 4095 + 7, 4095) == notice_of(from, to, 7, 4095));
      for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}, trace::kMaxMessages - 1})
        for (const MessageWord word : {MessageWord::kArrived, MessageWord::kOffered, MessageWord::kAccepted})
          add(message_word(word, from, to, number), kMessageWords, trace::kHostMemory);
    }
  CHECK(places.size() == count);
}

}  // namespace
}  // namespace lockstep::net
