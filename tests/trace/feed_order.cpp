// The CTA feed: the same result for any order of tasks, any team and any read-ahead; errors in CTA order;
// bounded memory.
#include <algorithm>
#include <random>
#include <set>
#include <thread>

#include "reader_generator.hpp"

using namespace lockstep;
using namespace lockstep::trace;
using namespace lockstep::trace::test;
using Catch::Matchers::Contains;

namespace {

/// All that a simulation could see: the dynamic stream, the records as stored and the static table.
struct Outcome {
  std::vector<Seen> seen;
  std::vector<std::uint32_t> insts;
  std::vector<std::uint32_t> table;
  bool operator==(const Outcome&) const = default;
};

void run_tasks(CtaFeed& feed, std::size_t tasks, unsigned threads, std::mt19937& random) {
  std::vector<std::size_t> order(tasks);
  for (std::size_t i = 0; i < tasks; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::thread> team;
  for (unsigned t = 0; t < threads; ++t) {
    team.emplace_back([&, t] {
      for (std::size_t i = t; i < tasks; i += threads) feed.run(order[i]);
    });
  }
  for (std::thread& thread : team) thread.join();
}

Outcome play(const std::string& text, unsigned threads, std::uint64_t step, const FeedOptions& options) {
  std::mt19937 random(threads);
  const auto feed = feed_of(text, options);
  Outcome out;
  const std::uint64_t total = feed->header().grid.count();
  std::vector<CtaTrace*> held;
  std::uint64_t taken = 0, due = 0;
  while (taken < total) {
    feed->settle();
    for (; taken < due; ++taken) {
      held.push_back(feed->take(taken));
      append_seen(*held.back(), feed->instructions(), out.seen);
      for (const Record& record : held.back()->records) out.insts.push_back(record.inst());
    }
    while (held.size() > 3) {  // released late, and not in order
      const std::size_t which = random() % held.size();
      feed->release(held[which]);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
    }
    due = std::min(total, due + step);
    feed->want(due);
    run_tasks(*feed, feed->plan(), threads, random);
  }
  for (std::uint32_t i = 0; i < feed->instructions().size(); ++i)
    out.table.push_back(feed->instructions()[i].pc);
  return out;
}

}  // namespace

TEST_CASE("Tasks may run in any order on any thread") {
  RandomTrace trace;
  trace.ctas = 60;
  trace.instructions = 400;  // so that later CTAs go on bringing new ones
  const std::string text = trace.text();
  FeedOptions alone;
  alone.ahead_ctas = 0;
  const Outcome expected = play(text, 1, 1, alone);
  std::istringstream in(text);
  CHECK((expected.seen == naive_parse(in)));
  CHECK(expected.table.size() > 100);
  for (const unsigned threads : {1u, 2u, 4u}) {
    for (const std::uint64_t step : {1u, 5u, 60u}) {
      for (const std::uint64_t ahead : {0u, 1u, 7u, 64u}) {
        FeedOptions options;
        options.ahead_ctas = ahead;
        INFO(threads << " threads, step " << step << ", ahead " << ahead);
        REQUIRE((play(text, threads, step, options) == expected));
      }
    }
  }
}

TEST_CASE("An error is delivered when its CTA is wanted, the first one first") {
  RandomTrace trace;
  trace.ctas = 20;
  std::string text = trace.text();
  const auto break_cta = [&](const std::string& id) {
    const std::size_t at = text.find("thread block = " + id);
    text.replace(at, 12, "thread bloke");
  };
  break_cta("5,0,0");
  break_cta("9,0,0");
  const std::size_t offset = text.find("thread bloke");
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
  for (const std::uint64_t ahead : {0u, 1u, 3u, 64u}) {
    FeedOptions options;
    options.ahead_ctas = ahead;
    const auto feed = feed_of(text, options);
    for (std::uint64_t i = 0; i < 5; ++i) {
      feed->decode_now(i + 1);
      CHECK(feed->take(i)->index == i);
    }
    CHECK_THROWS_WITH(feed->decode_now(6),
                      Contains("k.traceg:" + std::to_string(line) + ": found 'thread bloke"));
    CHECK_THROWS_AS(feed->decode_now(7), InputError);
  }
  const auto feed = feed_of(text);
  CHECK_THROWS_WITH(feed->decode_now(20), Contains("k.traceg:" + std::to_string(line) + ":"));
}

TEST_CASE("Unknown opcodes are counted in the CTAs that were wanted, whatever was read ahead") {
  HeaderText header;
  header.grid = "(8,1,1)";
  std::string text = header.text();
  for (int c = 0; c < 8; ++c) {
    text += block_text(
        std::to_string(c) + ",0,0",
        warp_text(0, {"0000 ffffffff 0 XYZZY 0 0", "00" + std::to_string(10 + c) + " ffffffff 0 FROB 0 0"}));
  }
  for (const std::uint64_t ahead : {0u, 64u}) {
    FeedOptions options;
    options.ahead_ctas = ahead;
    const auto feed = feed_of(text, options);
    feed->decode_now(3);
    feed->decode_now(3);
    const std::vector<std::pair<std::string, std::uint64_t>> expected{{"FROB", 3}, {"XYZZY", 3}};
    CHECK(feed->notes().unknown_opcodes == expected);
  }
}

TEST_CASE("Memory is used again: it does not grow with the number of CTAs") {
  RandomTrace trace;
  trace.ctas = 3000;
  trace.warps = 1;
  trace.lines = 10;
  const auto feed = feed_of(trace.text());
  std::set<const CtaTrace*> objects;
  std::set<const Record*> buffers;
  std::size_t buffers_late = 0;
  for (std::uint64_t i = 0; i < trace.ctas; ++i) {
    feed->decode_now(i + 1);
    CtaTrace* cta = feed->take(i);
    objects.insert(cta);
    if (i > 2000 && !cta->records.empty()) buffers_late += buffers.insert(cta->records.data()).second;
    feed->release(cta);
  }
  CHECK(objects.size() <= 64 + 4);        // read-ahead and the one in use
  CHECK(buffers_late <= objects.size());  // no reallocation once warm
}

TEST_CASE("A thread block larger than a piece is decoded piece by piece") {
  RandomTrace trace;
  trace.ctas = 4;
  trace.lines = 3000;
  const std::string text = trace.text();
  std::istringstream in(text);
  const auto expected = naive_parse(in);
  for (const std::size_t piece : {1u, 1000u, 300000u}) {
    TextStream stream(open_memory(text), "k.traceg");
    KernelFile kernel = read_header(stream);
    const auto feed = make_text_feed(std::move(kernel),
                                     std::make_unique<FileCtaSource>(std::move(stream), piece), "k.traceg");
    CHECK((read_all(*feed, 2) == expected));
  }
  // Errors name the right line in a later piece too.
  const std::size_t at = text.rfind("#END_TB");
  const std::string broken = text.substr(0, at) + "oops\n" + text.substr(at);
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  TextStream stream(open_memory(broken), "k.traceg");
  KernelFile kernel = read_header(stream);
  const auto feed =
      make_text_feed(std::move(kernel), std::make_unique<FileCtaSource>(std::move(stream), 1000), "k.traceg");
  CHECK_THROWS_WITH(read_all(*feed), Contains("k.traceg:" + std::to_string(line) + ": found 'oops'"));
}

TEST_CASE("A grid of any size costs nothing before its CTAs are read") {
  HeaderText header;
  header.grid = "(2147483647,65535,65535)";
  const auto feed = feed_of(header.text() + block_text("0,0,0", warp_text(0, {"0000 ffffffff 0 EXIT 0 0"})));
  feed->decode_now(1);
  CHECK(feed->take(0)->records.size() == 1);
  CHECK_THROWS_WITH(feed->decode_now(2), Contains("ends after 1 thread blocks"));
}
