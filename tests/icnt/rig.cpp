#include "tests/icnt/rig.hpp"

#include <algorithm>
#include <tuple>

namespace lockstep::icnt::test {
namespace {

struct Message {
  std::uint32_t source = 0, id = 0, flits = 1;
};

std::vector<sim::DomainId> ids(std::uint32_t count, std::uint32_t from) {
  std::vector<sim::DomainId> v(count);
  std::iota(v.begin(), v.end(), from);
  return v;
}

class Ports {
 public:
  Ports(const Crossbar& x, const Traffic& traffic, const Readiness& ready, bool sleep)
      : x_(x),
        traffic_(traffic),
        ready_(ready),
        sleep_(sleep),
        network_("messages", ids(x.sources, 0), ids(x.sinks, x.sources)),
        credits_("credits", ids(x.sinks, x.sources), ids(x.sources, 0)),
        next_id_(x.sources) {
    const auto [a, b, c] = std::tuple(x.source_khz, x.sink_khz, x.icnt_khz);
    outcome_.refused.resize(x.sources);
    for (std::uint32_t s = 0; s < x.sources; ++s)
      sources_.push_back(std::make_unique<InjectionPort<Message>>(
          network_, credits_, s,
          InjectionPort<Message>::Spec{{{a, c}, {c, a}, {c, b}, x.latency}, x.capacity, x.credits, kSpan}));
    for (std::uint32_t d = 0; d < x.sinks; ++d)
      sinks_.push_back(std::make_unique<EjectionPort<Message>>(
          network_, credits_, d,
          EjectionPort<Message>::Spec{{b, c}, {c, b}, {{b, c}, {c, b}, {c, a}, x.latency}, kSpan}));
  }

  void window(Cycle from, Cycle to) {
    const sim::ClockRatio to_sink(x_.source_khz, x_.sink_khz);
    for (std::uint32_t s = 0; s < x_.sources; ++s) source(s, from, to);
    for (std::uint32_t d = 0; d < x_.sinks; ++d) sink(d, to_sink.ceil(from), to_sink.ceil(to));
    std::vector<Cycle> next(x_.sources + x_.sinks);
    const auto everyone = ids(x_.sources + x_.sinks, 0);
    network_.flip(everyone, to, next);
    credits_.flip(everyone, to, next);
  }

  Outcome take() {
    std::ranges::sort(outcome_.arrivals, {},
                      [](const Arrival& a) { return std::pair(a.edge, a.destination); });
    for (auto& s : sources_) {
      outcome_.stalls.push_back(s->take_stall_cycles());
      outcome_.flits.push_back(s->take_flits());
      outcome_.credits_out += s->credits_out();
    }
    return outcome_;
  }

 private:
  static constexpr Cycle kSpan = 4096;

  void source(std::uint32_t s, Cycle from, Cycle to) {
    InjectionPort<Message>& port = *sources_[s];
    port.gather(from);
    Cycle due = from == 0 ? 0 : port.next_event(from - 1);
    for (Cycle t = from; t < to; ++t) {
      const Offer offer = traffic_(s, t);
      const bool pushed = offer.flits > 0 && !port.full();
      if (pushed) port.push(t, offer.destination, offer.flits, {s, next_id_[s]++, offer.flits});
      outcome_.refused[s] += offer.flits > 0 && !pushed;
      if (sleep_ && !pushed && t < due) continue;
      port.tick(t);
      due = port.next_event(t);
    }
  }

  void sink(std::uint32_t d, Cycle from, Cycle to) {
    EjectionPort<Message>& port = *sinks_[d];
    port.gather(from);
    Cycle due = from == 0 ? 0 : port.next_event(from - 1, true);
    for (Cycle t = from; t < to; ++t) {
      if (sleep_ && t < due) continue;
      port.tick(
          t, ready_(d, t), [](const Message& m) { return m.flits; },
          [&](const Message& m) {
            outcome_.arrivals.push_back({t, d, m.source, m.id});
          });
      due = port.next_event(t, true);
    }
  }

  Crossbar x_;
  const Traffic& traffic_;
  const Readiness& ready_;
  bool sleep_;
  sim::Network<Message> network_;
  sim::Network<Credit> credits_;
  std::vector<std::unique_ptr<InjectionPort<Message>>> sources_;
  std::vector<std::unique_ptr<EjectionPort<Message>>> sinks_;
  std::vector<std::uint32_t> next_id_;
  Outcome outcome_;
};

/// Time in units of which every clock's period is a whole number.
class Reference {
 public:
  Reference(const Crossbar& x, const Traffic& traffic, const Readiness& ready)
      : x_(x),
        traffic_(traffic),
        ready_(ready),
        unit_(std::lcm(std::lcm(x.source_khz, x.sink_khz), x.icnt_khz)),
        source_period_(unit_ / x.source_khz),
        sink_period_(unit_ / x.sink_khz),
        icnt_period_(unit_ / x.icnt_khz),
        sources_(x.sources),
        sinks_(x.sinks) {
    for (Source& s : sources_) s.credits.assign(x.sinks, x.credits);
    for (Sink& d : sinks_) d.waiting.resize(x.sources);
    outcome_.stalls.resize(x.sources);
    outcome_.flits.resize(x.sources);
    outcome_.refused.resize(x.sources);
  }

  Outcome run(Cycle cycles) {
    for (std::uint64_t t = 0; t < cycles * source_period_; ++t) {
      for (std::uint32_t s = 0; t % source_period_ == 0 && s < x_.sources; ++s) source_edge(s, t);
      for (std::uint32_t d = 0; t % sink_period_ == 0 && d < x_.sinks; ++d) sink_edge(d, t);
    }
    for (const Source& s : sources_)
      for (const std::uint32_t c : s.credits) outcome_.credits_out += x_.credits - c;
    return outcome_;
  }

 private:
  using When = std::uint64_t;
  struct Item {
    std::uint32_t sink, flits, id;
  };
  struct Source {
    std::deque<Item> queue;
    std::vector<std::uint32_t> credits;
    std::multimap<When, std::uint32_t> coming;  // credits, by sink
    When free = 0, starved = 0;                 // starved: since when the head lacks nothing but a credit
    bool is_starved = false;
    std::uint32_t next_id = 0;
  };
  struct Sink {
    std::multimap<When, std::pair<std::uint32_t, Item>> coming;
    std::vector<std::deque<Item>> waiting;  // by source
    std::uint32_t last = 0;
    bool any = false;
    When free = 0;
  };

  static When at_or_after(When t, When period) { return (t + period - 1) / period * period; }

  void source_edge(std::uint32_t number, When t) {
    Source& s = sources_[number];
    while (!s.coming.empty() && s.coming.begin()->first <= t) {
      ++s.credits[s.coming.begin()->second];
      s.coming.erase(s.coming.begin());
    }
    const Offer offer = traffic_(number, t / source_period_);
    if (offer.flits > 0 && s.queue.size() == x_.capacity)
      ++outcome_.refused[number];
    else if (offer.flits > 0)
      s.queue.push_back({offer.destination, offer.flits, s.next_id++});
    const When edge = at_or_after(t, icnt_period_);
    if (s.queue.empty() || s.free > edge) return;
    const Item item = s.queue.front();
    if (s.credits[item.sink] == 0) {
      if (!s.is_starved) s.starved = edge;
      s.is_starved = true;
      return;
    }
    if (s.is_starved) outcome_.stalls[number] += (edge - s.starved) / icnt_period_;
    s.is_starved = false;
    s.queue.pop_front();
    --s.credits[item.sink];
    s.free = edge + item.flits * icnt_period_;
    outcome_.flits[number] += item.flits;
    const When arrival = edge + (item.flits - 1 + x_.latency) * icnt_period_;
    sinks_[item.sink].coming.emplace(at_or_after(arrival, sink_period_), std::pair(number, item));
  }

  void sink_edge(std::uint32_t number, When t) {
    Sink& d = sinks_[number];
    bool any = false;
    while (!d.coming.empty() && d.coming.begin()->first <= t) {
      d.waiting[d.coming.begin()->second.first].push_back(d.coming.begin()->second.second);
      d.coming.erase(d.coming.begin());
    }
    for (const auto& w : d.waiting) any |= !w.empty();
    const When edge = at_or_after(t, icnt_period_);
    if (!any || d.free > edge || !ready_(number, t / sink_period_)) return;
    std::uint32_t from = d.any ? (d.last + 1) % x_.sources : 0;
    while (d.waiting[from].empty()) from = (from + 1) % x_.sources;
    d.last = from;
    d.any = true;
    const Item item = d.waiting[from].front();
    d.waiting[from].pop_front();
    d.free = edge + item.flits * icnt_period_;
    sources_[from].coming.emplace(at_or_after(edge + x_.latency * icnt_period_, source_period_), number);
    outcome_.arrivals.push_back({t / sink_period_, number, from, item.id});
  }

  Crossbar x_;
  const Traffic& traffic_;
  const Readiness& ready_;
  When unit_, source_period_, sink_period_, icnt_period_;
  std::vector<Source> sources_;
  std::vector<Sink> sinks_;
  Outcome outcome_;
};

}  // namespace

std::uint32_t mixed(std::uint32_t seed, std::uint32_t place, Cycle edge) {
  // splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
  std::uint64_t z = (std::uint64_t{seed} << 48 ^ std::uint64_t{place} << 32 ^ edge) * 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return static_cast<std::uint32_t>((z ^ z >> 31) >> 16);
}

Outcome run_ports(const Crossbar& x, Cycle cycles, const Traffic& traffic, Cycle window, bool sleep,
                  const Readiness& ready) {
  Ports ports(x, traffic, ready, sleep);
  for (Cycle t = 0; t < cycles; t += window) ports.window(t, std::min(t + window, cycles));
  return ports.take();
}

Outcome run_reference(const Crossbar& x, Cycle cycles, const Traffic& traffic, const Readiness& ready) {
  return Reference(x, traffic, ready).run(cycles);
}

}  // namespace lockstep::icnt::test
