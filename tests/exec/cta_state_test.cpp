// Mbarriers of the CTAs of a cluster: whose they are, and their numbers, against a table of all bytes.
#include "exec/cta_state.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <vector>

#include "tests/random.hpp"

namespace lockstep::exec {
namespace {

using lockstep::test::Random32;

struct Cluster {
  Cluster(unsigned count, Random32& random) {
    for (unsigned rank = 0; rank < count; ++rank) {
      ctas.push_back(std::make_unique<CtaState>());
      ctas.back()->shared.resize(random() % 4 == 0 ? 0 : 8 * (1 + random() % 16));
      ctas.back()->recorded = true;
    }
    for (const auto& cta : ctas)
      for (const auto& peer : ctas) cta->cluster.push_back(peer.get());
    outside.resize(64);
  }
  std::vector<std::unique_ptr<CtaState>> ctas;
  std::vector<std::byte> outside;
};

TEST_CASE("an mbarrier is that of the CTA whose shared memory it lies in, seen from any CTA of the cluster") {
  Random32 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    CAPTURE(trial);
    Cluster cluster(1 + random() % 8, random);
    auto& ctas = cluster.ctas;
    std::map<std::uint64_t, std::uint32_t> numbers;  // of an offset, by first use
    std::map<std::pair<unsigned, std::uint64_t>, MbarrierEvents::Mbarrier*> seen;
    std::vector<std::uint64_t> phases(ctas.size());
    for (int step = 0; step < 100; ++step) {
      const unsigned from = random() % static_cast<unsigned>(ctas.size());
      const unsigned of = random() % static_cast<unsigned>(ctas.size());
      auto& shared = ctas[of]->shared;
      if (shared.empty()) {
        REQUIRE(ctas[from]->mbarrier_at(cluster.outside.data() + random() % 64).events == nullptr);
        REQUIRE(ctas[from]->mbarrier_at(nullptr).events == nullptr);
        ctas[from]->phase_completed(cluster.outside.data());
        continue;
      }
      const std::uint64_t offset = random() % shared.size();
      const std::byte* const where = shared.data() + offset;
      if (ctas.size() == 1 || random() % 2 == 0) {
        const CtaState::Place place = ctas[from]->mbarrier_at(where);
        REQUIRE(place.events != nullptr);
        CHECK(place.rank == of);
        CHECK(place.own == (of == from));
        const auto next = static_cast<std::uint32_t>(numbers.size() + 1);
        CHECK(place.events->number == numbers.try_emplace(offset, next).first->second);
        const auto [known, fresh] = seen.try_emplace({of, offset}, place.events);
        CHECK(known->second == place.events);  // one object, whoever asks
        if (fresh) CHECK(place.events->events == 0);
        place.events->events += 1 + random() % 3;
        continue;
      }
      const auto next = static_cast<std::uint32_t>(numbers.size() + 1);
      numbers.try_emplace(offset, next);
      ctas[from]->phase_completed(where);
      ++phases[of];
      const MbarrierEvents::Mbarrier& found = ctas[of]->mbarriers.at(offset);
      CHECK(found.completed == found.events);
      seen.try_emplace({of, offset}, &ctas[of]->mbarriers.at(offset));
    }
    for (std::size_t rank = 0; rank < ctas.size(); ++rank) CHECK(ctas[rank]->phases == phases[rank]);
  }
}

TEST_CASE("the bytes in front of and behind shared memory are no CTA's") {
  CtaState alone;
  alone.shared.resize(24);
  const std::byte* const begin = alone.shared.data();
  CHECK(alone.owns(begin));
  CHECK(alone.owns(begin + 23));
  CHECK_FALSE(alone.owns(begin + 24));
  CHECK_FALSE(alone.owns(begin - 1));
  CHECK(alone.mbarrier_at(begin + 24).events == nullptr);
  CHECK(alone.peer(0) == nullptr);  // it is in no cluster
  alone.phase_completed(begin + 24);
  CHECK(alone.phases == 0);
  alone.phase_completed(begin);
  CHECK(alone.phases == 1);
}

TEST_CASE("of a CTA that is not recorded phases are counted, and nothing is kept of its mbarriers") {
  CtaState cta;
  cta.shared.resize(16);
  for (int i = 0; i < 3; ++i) cta.phase_completed(cta.shared.data() + 8);
  CHECK(cta.phases == 3);
  CHECK(cta.numbers.of(0) == 1);  // no number has been given
}

}  // namespace
}  // namespace lockstep::exec
