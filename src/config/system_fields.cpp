#include "config/system_fields.hpp"

#include <type_traits>

namespace lockstep::config {
namespace {

template <auto Field>
LinkField link_number(const char* key, Measure measure, std::uint64_t min, std::uint64_t max,
                      const char* help, bool optional = false) {
  return {integer(key, measure, min, max, help, {}),
          [](const LinkKind& k) -> std::uint64_t { return k.*Field; },
          [](LinkKind& k, std::uint64_t v) {
            k.*Field = static_cast<std::remove_reference_t<decltype(k.*Field)>>(v);
          },
          optional};
}

}  // namespace

const std::vector<LinkField>& link_fields() {
  using M = Measure;
  static const std::vector<LinkField> fields = {
      link_number<&LinkKind::bytes_per_second>("bytes_per_second", M::kBytesPerSecond, 100'000'000,
                                               10'000'000'000'000, "of one link, in each direction"),
      link_number<&LinkKind::latency_ps>(
          "latency_ps", M::kPicoseconds, 20'000, 1'000'000'000,
          "from a message's last byte on the wire to its arrival at the other end"),
      link_number<&LinkKind::packet_bytes>("packet_bytes", M::kBytes, 32, 4096,
                                           "payload per header when data are contiguous (copies)"),
      link_number<&LinkKind::header_bytes>("header_bytes", M::kBytes, 1, 256, "per packet"),
      link_number<&LinkKind::store_bytes>("store_bytes", M::kBytes, 0, 256,
                                          "further bytes of a store's packet"),
      link_number<&LinkKind::ack_bytes>("ack_bytes", M::kBytes, 1, 256, "per acknowledgement"),
      link_number<&LinkKind::flit_bytes>("flit_bytes", M::kBytes, 1, 256, "size of a flit (model = flits)",
                                         true),
      link_number<&LinkKind::request_credit_bytes>(
          "request_credit_bytes", M::kBytes, 0, 1 << 30,
          "receive buffer of a link for requests, in each direction; 0: senders never wait for it", true),
      link_number<&LinkKind::reply_credit_bytes>("reply_credit_bytes", M::kBytes, 0, 1 << 30,
                                                 "the same for replies", true),
      link_number<&LinkKind::ordered_replies>("ordered_replies", M::kNone, 0, 1,
                                              "1: replies with data do not pass writes (PCI Express)", true),
  };
  return fields;
}

const std::vector<PortField>& port_fields() {
  static const std::vector<PortField> fields = {
      {integer("lanes", Measure::kNone, 1, 16, "ports of the crossbar between a device's SMs and its links",
               {}),
       &SystemConfig::port_lanes},
      {integer("lane_bytes", Measure::kBytes, 16, 128, "of each of them, per cycle", {}),
       &SystemConfig::port_lane_bytes},
      {integer("accesses", Measure::kNone, 1, 1 << 20,
               "accesses of a device's SMs to other devices in flight", {}),
       &SystemConfig::port_accesses},
      {integer("copy_lines", Measure::kNone, 1, 1 << 20, "lines in flight of one copy to another device", {}),
       &SystemConfig::copy_lines},
      {integer("copy_start_ps", Measure::kPicoseconds, 0, 1'000'000'000,
               "from when a copy to another device is due in its stream until its first line", {}),
       &SystemConfig::copy_start_ps},
  };
  return fields;
}

}  // namespace lockstep::config
