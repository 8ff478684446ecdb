#include "gpu/rank_report.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <stdexcept>
#include <utility>

#include "util/archive.hpp"

namespace lockstep::gpu {
namespace {

void add(stats::IntervalSample& to, const stats::IntervalSample& from) {
  if (to.end_cycle != from.end_cycle) throw std::logic_error("samples of ranks are of different times");
  stats::add(to.counters, from.counters);
  stats::add(to.energy, from.energy);
}

}  // namespace

void RankReport::gather(const System& system, FeedSet& feeds, stats::RunReport& report) {
  const std::vector<std::string> all =
      ranks_->gather(ranks_->is_first() ? std::string() : news(system, feeds, report));
  for (std::size_t r = 1; r < all.size(); ++r) take(all[r], feeds, intervals_, report);
  kernels_ = report.kernels.size();
  intervals_ = report.intervals.size();
}

std::string RankReport::news(const System& system, FeedSet& feeds, stats::RunReport& report) {
  Archive archive;
  FeedSet::Notes notes = feeds.take_notes();
  archive(notes.unknown, notes.remarks, report.unattributed);
  report.unattributed = {};
  std::uint64_t count = 0;
  for (std::size_t i = kernels_; i < report.kernels.size(); ++i)
    if (system.is_here(report.kernels[i].device)) ++count;
  archive(count);
  for (std::uint64_t i = kernels_; i < report.kernels.size(); ++i)
    if (system.is_here(report.kernels[i].device)) archive(i, report.kernels[i]);
  std::vector<stats::IntervalSample> samples(
      report.intervals.begin() + static_cast<std::ptrdiff_t>(intervals_), report.intervals.end());
  archive(samples);
  return archive.bytes();
}

void RankReport::take(const std::string& news, FeedSet& feeds, std::size_t first_interval,
                      stats::RunReport& report) {
  Archive archive{std::string_view(news)};
  FeedSet::Notes notes;
  stats::KernelCounters unattributed;
  std::uint64_t count = 0;
  archive(notes.unknown, notes.remarks, unattributed, count);
  feeds.add_notes(notes);
  stats::add(report.unattributed, unattributed);
  for (; count > 0; --count) {
    std::uint64_t place = 0;
    stats::KernelResult kernel;
    archive(place, kernel);
    stats::KernelResult& known = report.kernels.at(place);
    if (known.id != kernel.id || known.device != kernel.device || known.cycles != kernel.cycles)
      throw std::logic_error("ranks disagree on kernel " + std::to_string(kernel.id));
    known = std::move(kernel);
  }
  std::vector<stats::IntervalSample> samples;
  archive(samples);
  for (std::size_t i = 0; i < samples.size(); ++i) add(report.intervals.at(first_interval + i), samples[i]);
}

/// Of another rank: adds up.
void RankReport::take_links(Archive& theirs, System& system, std::vector<stats::LinkResult>& links) {
  for (link::TrafficLog& log : system.link_logs()) {
    link::TrafficLog other;
    theirs(other);
    if (!other.spans().empty()) log = std::move(other);
  }
  for (stats::LinkResult& link : links) {
    std::uint64_t messages = 0, bytes = 0, data_bytes = 0, requests = 0, replies = 0;
    theirs(messages, bytes, data_bytes, requests, replies);
    link.messages += messages;
    link.bytes += bytes;
    link.data_bytes += data_bytes;
    link.request_stall_ps += requests;
    link.reply_stall_ps += replies;
  }
}

void RankReport::take_network(Archive& theirs, Networking& networking, stats::NetworkReport& network) {
  stats::NetworkReport report;
  std::deque<AgentLog> logs;
  theirs(report, logs);
  networking.join(network, std::move(report));
  networking.add_logs(std::move(logs));
}

/// Of the devices that are here.
void RankReport::put_managed(Archive& mine, const System& system, std::vector<stats::ManagedReport>& managed,
                             std::vector<TimelineEvent>& events) {
  std::vector<std::uint16_t> here;
  for (std::uint16_t d = 0; d < managed.size(); ++d)
    if (system.is_here(d)) here.push_back(d);
  mine(here);
  for (const std::uint16_t d : here) mine(managed[d]);
  mine(events);
}

void RankReport::take_managed(Archive& theirs, std::vector<stats::ManagedReport>& managed,
                              std::vector<TimelineEvent>& events) {
  std::vector<std::uint16_t> there;
  theirs(there);
  for (const std::uint16_t d : there) theirs(managed.at(d));
  std::vector<TimelineEvent> more;
  theirs(more);
  events.insert(events.end(), more.begin(), more.end());
  std::ranges::stable_sort(events, {}, &TimelineEvent::device);
}

void RankReport::gather_end(System& system, stats::RunReport& report, std::vector<TimelineEvent>& managed,
                            std::string& dump) {
  Archive mine;
  std::vector<stats::LinkResult>& links = report.system->links;
  std::optional<stats::NetworkReport>& network = report.system->network;
  mine(dump);
  for (link::TrafficLog& log : system.link_logs()) mine(log);
  for (stats::LinkResult& link : links)
    mine(link.messages, link.bytes, link.data_bytes, link.request_stall_ps, link.reply_stall_ps);
  if (network) mine(*network, system.networking()->logs());
  put_managed(mine, system, report.system->managed, managed);
  const std::vector<std::string> all = ranks_->gather(mine.bytes());
  for (std::size_t r = 1; r < all.size(); ++r) {
    Archive theirs{std::string_view(all[r])};
    std::string text;
    theirs(text);
    if (!text.empty()) dump += "rank " + std::to_string(r) + ":\n" + text;
    take_links(theirs, system, links);
    if (network) take_network(theirs, *system.networking(), *network);
    take_managed(theirs, report.system->managed, managed);
  }
}

}  // namespace lockstep::gpu
