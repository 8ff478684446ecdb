// Mailboxes between domains against lists of messages: notes of several threads, mail of other processes,
// checkpoints.
#include "sim/network.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/inbox.hpp"
#include "tests/persisted.hpp"

namespace lockstep::sim {
namespace {

using Mail = std::vector<std::tuple<std::uint32_t, Cycle, int>>;  // source, arrival, message
constexpr std::uint32_t kEnds = 150;                              // more than two words of bits
constexpr DomainId kDomains = 40;

std::vector<DomainId> ends_of(std::uint32_t step) {
  std::vector<DomainId> domains;
  for (std::uint32_t i = 0; i < kEnds; ++i) domains.push_back(i * step % kDomains);
  return domains;
}
std::unique_ptr<Network<int>> make_network(unsigned threads = 1) {
  auto network = std::make_unique<Network<int>>("mail", ends_of(7), ends_of(3));
  network->set_threads(threads);
  return network;
}

Mail collected(const Network<int>& network, std::uint32_t destination) {
  Mail mail;
  network.collect(destination, [&](std::uint32_t source, Cycle arrival, int message) {
    mail.emplace_back(source, arrival, message);
  });
  return mail;
}

/// A network of several threads, with what was sent in the window.
class MailRig {
 public:
  MailRig(unsigned threads, std::uint32_t seed)
      : network(make_network(threads)), threads_(threads), random_(seed), due_(kDomains) {}
  /// A window in which about that many messages are sent.
  void window(unsigned messages) {
    sent_.clear();
    for (unsigned i = 0; i < messages; ++i) {
      const auto source = static_cast<std::uint32_t>(random_() % kEnds);
      const auto destination = static_cast<std::uint32_t>(random_() % kEnds);
      const Cycle arrival = random_() % 1000;
      network->send(source, destination, arrival, message_);
      sent_[{destination, source}].emplace_back(arrival, message_++);
    }
    for (DomainId d = 0; d < kDomains; ++d) network->note(d, static_cast<unsigned>(random_() % threads_));
    std::fill(due_.begin(), due_.end(), kNever);
    network->flip(++now_, due_);
  }
  /// The mail of the last window is what was sent, for each destination by source and in order.
  void check() const {
    std::vector<Time> due(kDomains, kNever);
    for (std::uint32_t d = 0; d < kEnds; ++d) {
      const Mail expected = expected_for(d);
      REQUIRE(collected(*network, d) == expected);
      REQUIRE(network->has_mail(d) == !expected.empty());
      if (!expected.empty()) due[network->destination_domains()[d]] = now_;
    }
    REQUIRE(due_ == due);
  }
  [[nodiscard]] Mail expected_for(std::uint32_t destination) const {
    Mail mail;
    for (auto i = sent_.lower_bound({destination, 0}); i != sent_.end() && i->first.first == destination; ++i)
      for (const auto& [arrival, message] : i->second) mail.emplace_back(i->first.second, arrival, message);
    return mail;
  }
  [[nodiscard]] Time now() const { return now_; }
  std::unique_ptr<Network<int>> network;

 private:
  unsigned threads_;
  std::mt19937 random_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::pair<Cycle, int>>> sent_;
  std::vector<Time> due_;
  Time now_ = 0;
  int message_ = 0;
};

TEST_CASE("network: every window's mail comes in the order of sources, whichever thread noted it") {
  for (const unsigned threads : {1u, 2u, 5u}) {
    MailRig rig(threads, threads);
    for (unsigned w = 0; w < 300; ++w) {
      rig.window(w % 7 == 0 ? 0 : w % 5 == 0 ? 400 : w % 10);
      rig.check();
    }
  }
}

TEST_CASE("network: a state kept with mail that is not taken gives it, and goes on, with other threads too") {
  MailRig rig(3, 1);
  for (unsigned w = 0; w < 60; ++w) {
    rig.window(w % 20);
    auto fresh = make_network(w % 2 == 0 ? 3 : 4);
    lockstep::test::restore(*rig.network, *fresh);
    rig.network = std::move(fresh);
    rig.check();
  }
}

TEST_CASE("network: a state of another network is refused by its name") {
  auto mail = make_network();
  Network<int> post("post", ends_of(7), ends_of(3));
  const std::string bytes = lockstep::test::persisted(*mail);
  Archive archive(bytes);
  CHECK_THROWS_AS(archive(post), ArchiveError);
}

TEST_CASE("network: mail that is written in one process is put into another's, in order, beside its own") {
  MailRig here(1, 3);
  auto there = make_network();
  std::vector<Time> due(kDomains);
  for (unsigned w = 0; w < 100; ++w) {
    here.window(w % 30);
    // The other process sends to the same destinations from sources of its own: the last ten.
    Mail own;
    for (std::uint32_t source = kEnds - 10; source < kEnds; ++source) {
      there->send(source, source % 4, w, -1);
      if (source % 4 == 0) own.emplace_back(source, w, -1);
      there->note(there->source_domains()[source], 0);
    }
    there->flip(w, due);
    std::fill(due.begin(), due.end(), kNever);
    for (std::uint32_t d = 0; d < kEnds; ++d)
      here.network->write_mail(d, [&](std::uint32_t source, Cycle arrival, std::string_view message) {
        if (source < kEnds - 10) there->put_mail(source, d, arrival, message, w, due);
      });
    for (std::uint32_t d = 0; d < kEnds; ++d) {
      Mail expected;
      for (const auto& one : here.expected_for(d))
        if (std::get<0>(one) < kEnds - 10) expected.push_back(one);
      if (!expected.empty()) REQUIRE(due[there->destination_domains()[d]] == w);
      if (d == 0) expected.insert(expected.end(), own.begin(), own.end());
      if (d == 0 || d > 3) REQUIRE(collected(*there, d) == expected);
    }
  }
}

TEST_CASE("network: mail of another process that is no message, or from or to no end, is refused") {
  auto network = make_network();
  std::vector<Time> due(kDomains);
  const std::string message(sizeof(int), 0);
  CHECK_NOTHROW(network->put_mail(0, 0, 5, message, 1, due));
  CHECK_THROWS_WITH(network->put_mail(kEnds, 0, 5, message, 1, due), "not a message of 'mail'");
  CHECK_THROWS_WITH(network->put_mail(0, kEnds, 5, message, 1, due), "not a message of 'mail'");
  CHECK_THROWS_WITH(network->put_mail(0, 0, 5, message + "x", 1, due), "not a message of 'mail'");
  CHECK_THROWS_WITH(network->put_mail(0, 0, 5, "", 1, due), "not a message of 'mail'");
}

TEST_CASE("network: sending sets the domain's bit, once it has a word for it") {
  auto network = make_network();
  std::uint64_t word = 0;
  network->send(1, 0, 5, 1);  // of domain 7
  network->set_sent_word(7, word, 4);
  std::vector<Time> due(kDomains);
  network->flip(1, due);
  CHECK(word == 0);
  network->send(2, 0, 6, 1);  // of domain 14
  CHECK(word == 0);
  network->send(1, 0, 6, 1);
  CHECK(word == 4);
  word = 0;
  network->send(1, 3, 6, 2);  // every message does, as the domain may be advanced again in the window
  CHECK(word == 4);
  word = 0;
  network->flip(2, due);
  network->send(41, 3, 6, 3);  // 41 * 7 % 40 is 7, too
  CHECK(word == 4);
  CHECK_NOTHROW(network->set_sent_word(1000, word, 1));
}

TEST_CASE("an inbox restored between arrivals delivers what is left, and takes more") {
  using Arrived = std::tuple<Cycle, std::uint32_t, int>;
  for (const Cycle span : {10u, 64u, 500u}) {
    std::mt19937 random(static_cast<std::uint32_t>(span));
    // Its calendar begins at the last arrival, which may be long ago.
    const Cycle reach = 3 * span + 50;
    Inbox<int> inbox(reach), straight(reach);
    std::vector<Arrived> got, expected;
    int message = 0;
    for (Cycle now = 0; now < 3000; ++now) {
      for (auto n = random() % 3; n > 0; --n, ++message) {
        const auto source = static_cast<std::uint32_t>(random() % 9);
        const Cycle arrival = now + random() % span;
        inbox.insert(source, arrival, message);
        straight.insert(source, arrival, message);
      }
      if (now % 13 == 0) {
        Inbox<int> fresh(reach);
        lockstep::test::restore(inbox, fresh);
        inbox = std::move(fresh);
      }
      REQUIRE(inbox.next_arrival() == straight.next_arrival());
      inbox.drain(now, [&](std::uint32_t source, int m) { got.emplace_back(now, source, m); });
      straight.drain(now, [&](std::uint32_t source, int m) { expected.emplace_back(now, source, m); });
      REQUIRE(inbox.size() == straight.size());
    }
    CHECK(got == expected);
    CHECK(got.size() > 1000);
  }
}

}  // namespace
}  // namespace lockstep::sim
