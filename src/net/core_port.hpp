// A command processor's core at the crossbar of its device.
#pragma once

#include <array>
#include <cstdint>

#include "config/gpu_config.hpp"
#include "config/network_config.hpp"
#include "icnt/fabric.hpp"
#include "icnt/ports.hpp"
#include "mem/address_map.hpp"
#include "net/private_cache.hpp"
#include "net/queue_pair.hpp"
#include "net/service_port.hpp"
#include "util/bits.hpp"
#include "util/request_table.hpp"
#include "util/ring.hpp"

namespace lockstep::net {

/// Why a core accesses the L2.
enum class CoreAccess : std::uint8_t { kEntry, kRecord, kStore, kCommand, kDoorbell, kData, kCode, kUpdate };
inline constexpr std::size_t kCoreAccesses = 8;

struct CoreCounters {
  struct Class {
    std::uint64_t accesses = 0, misses = 0;  // misses: of the L2, as far as its replies show: reads
  };
  std::array<Class, kCoreAccesses> l2{};
  std::uint64_t data_lines = 0, code_lines = 0;  // that calls touched; those that missed are in l2
};

/// The ServiceThread's port of a core (see there). A poll of an entry or a record acquires: it empties the
/// data cache and goes to the line's home. Stores go to the L2 and are waited for, which is a release; the
/// doorbell is posted. A call's lines are loaded through the caches, `outstanding` at a time; its
/// read-modify-writes bypass them, one after the other, each a read that locks the line and the write that
/// unlocks it.
class CorePort {
 public:
  CorePort(const config::GpuConfig& gpu, const config::CommandProcessorGroup& core, icnt::Fabric& fabric,
           const mem::AddressMap& map, std::uint32_t number, std::uint8_t kernel);

  /// The core's own memory, which also holds its pair's rings; used from when the thread next moves. At most
  /// kMaxMoves times.
  void give_memory(Address begin) { given_.push(begin); }
  /// From now on, the word that the cores of the device share.
  void share(Address word) { shared_ = word; }
  static constexpr std::uint32_t kMaxMoves = trace::kNetEntryBytes / 4;

  // ServiceThread's.
  [[nodiscard]] bool wants_to_move() const { return !given_.empty(); }
  void move(QueuePair& pair);
  [[nodiscard]] bool elides() const { return elides_; }
  unsigned poll(Cycle now, std::uint16_t device, Address word, std::uint32_t signals, const PollRequest& how);
  unsigned read_entry(Cycle, std::uint16_t, Address) { return 0; }  // the poll has brought all of it
  unsigned run_call(Cycle now);
  unsigned store(Cycle now, std::uint16_t device, Address word);
  unsigned write_command(Cycle now, QueuePair& pair, std::uint64_t number);
  unsigned ring(Cycle now, QueuePair& pair);
  unsigned poll_record(Cycle now, QueuePair& pair, std::uint64_t number, const PollRequest& how);
  void stop_waiting(Cycle) {}

  void gather(Cycle from) {
    requests_.gather(from);
    replies_.gather(from);
  }
  /// Takes the replies that have arrived; calls done(again) for each complete access that was waited for.
  template <class Done>
  void receive(Cycle now, Done&& done) {
    replies_.tick(
        now, true,
        [&](const icnt::Reply& r) {
          const unsigned sectors = icnt::reply_carries_data(r.kind) ? bit_count(r.sectors) : 0;
          return icnt::Fabric::flits(sectors, in_bytes_);
        },
        [&](const icnt::Reply& r) {
          if (complete(r)) done(r.again);
        });
  }
  /// Calls noticed(what, whether the word has had its signals) for watches that have replied since the last
  /// call.
  template <class Noticed>
  void take_noticed(Noticed&& noticed) {
    for (; !noticed_.empty(); noticed_.pop()) noticed(noticed_.front().what, noticed_.front().has);
  }
  void send(Cycle now);
  [[nodiscard]] Cycle next_event(Cycle now) const;
  [[nodiscard]] bool idle() const;
  [[nodiscard]] const CoreCounters& counters() const { return counters_; }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(core_), a.given(map_), a.given(kernel_), a.given(reply_to_), a.given(out_bytes_),
              a.given(in_bytes_), requests_, replies_, data_, code_, given_, moves_, hot_, cold_, text_,
              hot_at_, cold_at_, text_at_, to_send_, loads_, loads_out_, shared_, updates_left_, out_,
              a.given(elides_), noticed_, counters_);
  }

 private:
  struct Out {
    CoreAccess what = CoreAccess::kEntry;
    SectorMask missing = 0;
    bool missed = false;
    enum class For : std::uint8_t { kThread, kWatch, kCount } whom = For::kThread;
    Watched watched{};
  };
  struct Notice {
    Watched what;
    bool has = false;
  };
  struct Load {
    Address line = 0;
    bool code = false;
  };
  void issue(CoreAccess what, icnt::Request request, Out::For whom = Out::For::kThread);
  void send_later(icnt::Request request, const Out& out);
  void begin_loads();
  unsigned await(CoreAccess what, Address word, std::uint32_t signals, const PollRequest& how);
  void touch(Address begin, std::uint64_t bytes, std::uint32_t lines, bool code, std::uint64_t& at);
  bool complete(const icnt::Reply& reply);
  void update(icnt::LineLock half);

  config::CommandProcessorGroup core_;
  const mem::AddressMap* map_;
  std::uint8_t kernel_;
  std::uint16_t reply_to_;
  std::uint32_t out_bytes_, in_bytes_;
  icnt::InjectionPort<icnt::Request> requests_;
  icnt::EjectionPort<icnt::Reply> replies_;
  PrivateCache data_, code_;
  Ring<Address> given_;      // memory that is not used yet
  std::uint32_t moves_ = 0;  // how often it has moved
  Address hot_ = 0, cold_ = 0, text_ = 0;
  std::uint64_t hot_at_ = 0, cold_at_ = 0, text_at_ = 0;  // bytes that calls have gone through
  Ring<icnt::Request> to_send_;
  Ring<Load> loads_;  // of the call, not requested yet
  std::uint32_t loads_out_ = 0;
  Address shared_ = 0;
  std::uint32_t updates_left_ = 0;  // of the call
  RequestTable<Out> out_;
  bool elides_;
  Ring<Notice> noticed_;
  CoreCounters counters_;
};

}  // namespace lockstep::net
