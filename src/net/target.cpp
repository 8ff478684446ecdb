#include "net/target.hpp"

namespace lockstep::net {

Target::Target(NicPort& port, Cycle process, std::uint32_t nodes, std::uint32_t operations,
               std::uint32_t mark)
    : port_(&port),
      process_(process),
      operations_(operations),
      mark_(mark),
      writes_(std::size_t{nodes} * operations) {}

void Target::tick(Cycle now) {
  for (; !arrived_.empty() && arrived_.front().due <= now; arrived_.pop()) {
    const link::Message& request = arrived_.front().request;
    if (request.after_data && writes_of(request) > 0) {
      held_.push_back(request);
    } else {
      pass(request);
    }
  }
}

void Target::pass(const link::Message& request) {
  const icnt::Request& access = request.access;
  ++(icnt::is_read(access.kind)    ? counters_.reads
     : icnt::is_store(access.kind) ? counters_.writes
                                   : counters_.atomics);
  if (icnt::is_store(access.kind)) ++writes_of(request);
  link::Message message;
  message.access = access;
  message.access.tag = served_.add({access.tag, request.from, request.operation, access.sectors}) | mark_;
  port_->send(request.device(), message);
}

void Target::replied(const link::Message& reply) {
  const std::uint32_t place = reply.access.tag & ~mark_;
  Served& served = served_.at(place);
  const auto [tag, from, operation, missing] = served;
  const bool write = icnt::is_store(reply.access.kind);
  served.missing =
      static_cast<SectorMask>(icnt::is_read(reply.access.kind) ? missing & ~reply.access.sectors : 0);
  link::Message message;
  message.access = reply.access;
  message.access.tag = tag;
  message.is_reply = true;
  port_->send(from, message);
  if (write) --writes_of(from, operation);
  if (served.missing == 0) served_.free(place);
  if (write) release(from, operation);
}

void Target::release(std::uint16_t from, std::uint16_t operation) {
  for (std::size_t i = 0; i < held_.size(); ++i) {
    const link::Message request = held_[i];
    if (request.from != from || request.operation != operation || writes_of(request) > 0) continue;
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
    return pass(request);
  }
}

}  // namespace lockstep::net
