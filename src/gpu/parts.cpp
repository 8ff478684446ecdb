#include "core/sm.hpp"
#include "gpu/device.hpp"
#include "mem/partition.hpp"
#include "util/archive.hpp"

namespace lockstep::gpu {

Builder real_parts(bool profile) {
  Builder builder;
  builder.sm = [profile](const Wiring& w, std::uint32_t index) {
    Part part = make_part<core::Sm>(w.config, w.fabric, w.map, w.kernels, index, w.skip, w.managed, profile);
    auto& sm = static_cast<core::Sm&>(*part.domain);
    part.at_rest = [&sm] { return sm.at_rest(); };
    part.earliest_cta_end = [&sm](Cycle now) { return sm.earliest_cta_end(now); };
    part.entries = [&sm]() -> const icnt::EntryLog& { return sm.entries(); };
    part.learn = [&sm](Address line) { sm.learn(line); };
    part.persist = [&sm](Archive& a) { sm.persist(a); };
    return part;
  };
  builder.partition = [](const Wiring& w, std::uint32_t index) {
    Part part = make_part<mem::Partition>(w.config, w.fabric, w.map, index, w.skip);
    auto& partition = static_cast<mem::Partition&>(*part.domain);
    part.empty_caches = [&partition] { partition.empty_l2(); };
    part.touch = [&partition](std::uint32_t slice, const mem::Touch& touch) {
      partition.touch(slice, touch);
    };
    part.dump_idle_locks = [&partition](std::string& out) { partition.dump_idle_locks(out); };
    part.oldest_lock = [&partition] { return partition.oldest_lock(); };
    part.lock_changes = [&partition](std::vector<mem::LockChange>& to) { partition.add_lock_changes(to); };
    part.visible_entries = [&partition](std::vector<icnt::EntryTime>& to) {
      partition.add_visible_entries(to);
    };
    part.locks = [&partition] { return partition.locks(); };
    part.persist = [&partition](Archive& a) { partition.persist(a); };
    return part;
  };
  return builder;
}

}  // namespace lockstep::gpu
