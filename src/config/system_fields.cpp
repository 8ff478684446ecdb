#include "config/system_fields.hpp"

#include <type_traits>

namespace lockstep::config {
namespace {

template <auto Field>
LinkField link_number(const char* key, Measure measure, std::uint64_t min, std::uint64_t max,
                      bool optional = false) {
  return {integer(key, measure, min, max, "", {}),
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
                                               10'000'000'000'000),
      link_number<&LinkKind::latency_ps>("latency_ps", M::kPicoseconds, 20'000, 1'000'000'000),
      link_number<&LinkKind::packet_bytes>("packet_bytes", M::kBytes, 32, 4096),
      link_number<&LinkKind::header_bytes>("header_bytes", M::kBytes, 1, 256),
      link_number<&LinkKind::store_bytes>("store_bytes", M::kBytes, 0, 256),
      link_number<&LinkKind::ack_bytes>("ack_bytes", M::kBytes, 1, 256),
      link_number<&LinkKind::flit_bytes>("flit_bytes", M::kBytes, 1, 256, true),
      link_number<&LinkKind::request_credit_bytes>("request_credit_bytes", M::kBytes, 0, 1 << 30, true),
      link_number<&LinkKind::reply_credit_bytes>("reply_credit_bytes", M::kBytes, 0, 1 << 30, true),
      link_number<&LinkKind::ordered_replies>("ordered_replies", M::kNone, 0, 1, true),
  };
  return fields;
}

const std::vector<PortField>& port_fields() {
  static const std::vector<PortField> fields = {
      {integer("lanes", Measure::kNone, 1, 16, "", {}), &SystemConfig::port_lanes},
      {integer("lane_bytes", Measure::kBytes, 16, 128, "", {}), &SystemConfig::port_lane_bytes},
      {integer("accesses", Measure::kNone, 1, 1 << 20, "", {}), &SystemConfig::port_accesses},
      {integer("copy_lines", Measure::kNone, 1, 1 << 20, "", {}), &SystemConfig::copy_lines},
      {integer("copy_start_ps", Measure::kPicoseconds, 0, 1'000'000'000, "", {}),
       &SystemConfig::copy_start_ps},
  };
  return fields;
}

}  // namespace lockstep::config
