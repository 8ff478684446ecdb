#include "core/gmmu_domain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "sim/clock.hpp"
#include "util/bits.hpp"

namespace lockstep::core {
namespace {

icnt::TranslationReply::Kind kind_of(uvm::AccessReply::Kind kind) {
  using Reply = icnt::TranslationReply::Kind;
  return kind == uvm::AccessReply::Kind::kLocal ? Reply::kResident : Reply::kRemote;
}

constexpr unsigned kToHost = 0, kToDevice = 1;  // the copy engine's directions
uvm::Direction link_direction(unsigned direction) {
  return direction == kToDevice ? uvm::Direction::kToDevice : uvm::Direction::kToHost;
}

}  // namespace

GmmuDomain::GmmuDomain(const config::GpuConfig& config, icnt::Fabric& fabric,
                       const uvm::AddressSpace& managed, std::uint64_t frames, CopyEngine& copies,
                       const DirectoryLink& directory, std::size_t devices)
    : fabric_(&fabric),
      managed_(&managed),
      copies_(&copies),
      shares_link_(config.uvm.shares_link),
      exits_wait_(config.uvm.exits_wait),
      sms_(config.gpu.sms),
      remote_lines_(config.gpu.sms),
      reply_latency_(config.uvm.reply_latency),
      done_latency_(sim::cycles_of_ps(config.host.data_latency_ps, config.clock.core_khz)),
      requests_(sim::inbox_span(config.uvm.request_latency + config.uvm.l1_shootdown)),
      commands_(sim::inbox_span(sim::cycles_of_ps(config.host.command_latency_ps, config.clock.core_khz))),
      directory_(directory),
      directory_commands_(directory.span),
      gmmu_({config.uvm, config.clock.core_khz, frames, config.gpu.sms, config.uvm.through_l2}, managed) {
  if (directory_) gmmu_.memory().join(devices);
  if (!shares_link_) return;
  copies_->share(link_);
  gmmu_.memory().lanes().share(link_);
}

Cycle GmmuDomain::advance(Cycle from, Cycle to) {
  requests_.gather(*fabric_->translation_request, 0, from);
  commands_.gather(*fabric_->managed_command, 0, from);
  if (directory_) directory_commands_.gather(*directory_.down, directory_.index, from);
  copies_->gather(from);
  const auto next = [&](Cycle earliest) {
    return std::max(
        earliest, std::min({copies_->next_event(earliest), requests_.next_arrival(), commands_.next_arrival(),
                            directory_commands_.next_arrival(), gmmu_.next()}));
  };
  Cycle now = next(from);
  while (now < to) {
    tick(now);
    now = next(now + 1);
  }
  return now;
}

void GmmuDomain::tick(Cycle now) {
  requests_.drain(now, [&](std::uint32_t sm, const icnt::TranslationRequest& r) { receive(sm, r, now); });
  commands_.drain(now, [&](std::uint32_t, const uvm::ManagedCommand& managed) {
    if (managed.kind == uvm::ManagedCommand::Kind::kKernel) return gmmu_.kernel_begins();
    if (managed.kind == uvm::ManagedCommand::Kind::kMemory) return gmmu_.enlarge_memory(managed.bytes);
    gmmu_.submit(managed);
  });
  directory_commands_.drain(
      now, [&](std::uint32_t, const uvm::DirectoryCommand& managed) { gmmu_.receive(managed, now); });
  copies_->tick(now);
  receive_remote();
  for (const unsigned direction : {kToHost, kToDevice})
    if (copies_->take_migrated(direction)) gmmu_.moved(link_direction(direction));
  if (shares_link_) gmmu_.arbitrate(now);
  gmmu_.tick(now);
  if (shares_link_) gmmu_.arbitrate(now);
  move_lines(now);
  send_replies(now);
  if (exits_wait_ && link_busy_ == gmmu_.link_idle()) tell_link(now);
}

void GmmuDomain::move_lines(Cycle now) {
  for (const uvm::Move& m : gmmu_.memory().lanes().moves())
    copies_->migrate(now, m.direction == uvm::Direction::kToDevice ? kToDevice : kToHost,
                     {managed_->address({m.tree, m.first}), std::uint64_t{m.pages} * uvm::kPageBytes,
                      m.cycles, m.discard, m.keep});
}

void GmmuDomain::receive(std::uint32_t sm, const icnt::TranslationRequest& r, Cycle now) {
  switch (r.kind) {
    case icnt::TranslationRequest::Kind::kMiss:
      return gmmu_.request(sm, r.token, {r.tree, r.page}, r.write);
    case icnt::TranslationRequest::Kind::kAccessed:
      return gmmu_.accessed({r.tree, r.page}, r.write);
    case icnt::TranslationRequest::Kind::kForgotten:
      return gmmu_.acknowledge(r.token, now);
  }
}

/// Lines of pages on the host, which their SMs sent through the crossbar.
void GmmuDomain::receive_remote() {
  for (const icnt::Reply& r : copies_->remote_asked()) {
    const std::uint32_t sm = icnt::sm_of_remote(r.tag), token = icnt::token_of_remote(r.tag);
    if (token >= remote_lines_[sm].size()) remote_lines_[sm].resize(token + 1);
    remote_lines_[sm][token] = r;
    const bool write = r.kind != icnt::AccessKind::kRemoteRead;
    const auto bytes = static_cast<std::uint16_t>(bit_count(r.sectors) * kSectorBytes);
    gmmu_.remote_request(sm, token, managed_->place(r.line), bytes, write,
                         r.kind != icnt::AccessKind::kRemoteWrite);
  }
  copies_->remote_asked().clear();
}

/// What has come over the link for an SM goes on through the crossbar.
void GmmuDomain::reply_remote(const uvm::AccessReply& reply) {
  const icnt::Reply& asked = remote_lines_[reply.source][reply.token];
  icnt::Request request;
  request.line = asked.line;
  request.tag = static_cast<std::uint32_t>(reply.token);
  request.reply_to = fabric_->reply_to_sm(reply.source);
  request.kind = asked.kind == icnt::AccessKind::kRemoteWrite ? icnt::AccessKind::kRemoteDone
                                                              : icnt::AccessKind::kRemoteData;
  request.sectors = asked.sectors;
  request.kernel = asked.kernel;
  copies_->reply_remote(request);
}

void GmmuDomain::send_replies(Cycle now) {
  icnt::TranslationReply reply;
  for (const uvm::AccessReply& a : gmmu_.replies()) {
    if (a.kind == uvm::AccessReply::Kind::kDone) {
      reply_remote(a);
      continue;
    }
    reply.kind = kind_of(a.kind);
    reply.read_only = a.read_only;
    reply.token = static_cast<std::uint32_t>(a.token);
    reply.granule = a.granule;
    reply.place = a.place;
    fabric_->translation_reply->send(0, a.source, now + reply_latency_, reply);
  }
  for (const uvm::Shootdown& s : gmmu_.shootdowns()) {
    reply = {};
    reply.kind = icnt::TranslationReply::Kind::kShootdown;
    reply.token = s.id;
    reply.tree = s.tree;
    reply.first = s.first;
    reply.pages = s.pages;
    for (std::uint32_t sm = 0; sm < sms_; ++sm)
      fabric_->translation_reply->send(0, sm, now + reply_latency_, reply);
  }
  for (const std::uint32_t index : gmmu_.completed())
    fabric_->managed_done->send(0, 0, now + done_latency_, {index});
  if (uvm::DirectoryClient* client = gmmu_.memory().directory()) {
    for (const uvm::DirectoryRequest& request : client->requests()) directory_.send(now, request);
    client->clear_requests();
  }
  gmmu_.clear_output();
}

void GmmuDomain::tell_link(Cycle now) {
  link_busy_ = !gmmu_.link_idle();
  icnt::TranslationReply reply;
  reply.kind = link_busy_ ? icnt::TranslationReply::Kind::kLinkBusy : icnt::TranslationReply::Kind::kLinkIdle;
  for (std::uint32_t sm = 0; sm < sms_; ++sm)
    fabric_->translation_reply->send(0, sm, now + reply_latency_, reply);
}

void GmmuDomain::dump(std::string& out) const {
  fmt::format_to(std::back_inserter(out), "GMMU: {} accesses wait for their page, host link {}\n",
                 gmmu_.waiting(), gmmu_.link_idle() ? "idle" : "busy");
}

}  // namespace lockstep::core
