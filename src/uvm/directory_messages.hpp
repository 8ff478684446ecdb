// The messages between the directory of managed pages and the devices.
#pragma once

#include <cstdint>

#include "uvm/address_space.hpp"
#include "uvm/page_set.hpp"

namespace lockstep::uvm {

/// In place of a device's number.
inline constexpr std::uint16_t kHostPlace = 0xffff;

/// From a device, of pages of one tree.
struct DirectoryRequest {
  enum class Kind : std::uint8_t {
    kAcquire,    // `pages` are wanted, `alone` exclusively, `mapped` where they are
    kDone,       // the acquisition `id` is complete: all of its pages have arrived
    kRevoked,    // the pages of the kRevoke `id` have left, or are unused and wait for kGone
    kLeft,       // `pages` have left the device; `alone`, of these, to the host
    kBacked,     // `pages` stay, and the host has a copy of them from now on
    kFollow,     // `mapped`: pages that the device wants to map wherever they are (accessed by), from now on
    kAttracted,  // the reply to kAttract, whether the pages are there or not
    kCopied,     // from the peer port: the pages of the kCopy `id` are at the other device
  } kind = Kind::kAcquire;
  std::uint32_t id = 0;  // kAcquire, kDone: the device's own; otherwise the directory's
  TreeId tree = 0;
  Address base = 0;                   // kAcquire: first byte of the tree
  std::uint16_t prefer = kHostPlace;  // kAcquire: the device that should have what is to be mapped
  PageSet pages, alone, mapped;
};

/// To a device, of pages of one tree.
struct DirectoryCommand {
  enum class Kind : std::uint8_t {
    kGrant,    // acquisition `id`: `pages` come from the host; those wanted exclusively are nowhere else
    kArrived,  // acquisition `id`: `pages` have come from `place`
    kMapped,   // `pages` may be accessed at `place`; `id`: of the acquisition that requested it, or 0
    kRevoke,   // the device has to release the pages, as `how` says; kRevoked is the reply
    kGone,     // of the kRevoke with this `id`: `pages` have been copied to `place`
    kAttract,  // `pages` should be on this device: it may bring them; kAttracted is the reply
    kCopy,     // to the peer port: copies `pages`, of the tree at `base`, to `place`
  } kind = Kind::kGrant;
  enum class How : std::uint8_t {
    kDrop,    // they leave without a copy, since they are elsewhere as well
    kToHost,  // they leave to the host
    kBack,    // they are copied to the host and stay, read-only
    kMove,    // they are no longer used; they leave when they have been copied (kGone)
    kKeep,    // likewise, but they stay, read-only
    kUnmap,   // the device may not access them where they are
  } how = How::kDrop;
  std::uint16_t place = kHostPlace;
  std::uint32_t id = 0;
  TreeId tree = 0;
  Address base = 0;
  PageSet pages;
};

}  // namespace lockstep::uvm
