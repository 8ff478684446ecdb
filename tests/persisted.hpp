// A component's state, written and read as in a checkpoint.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "util/archive.hpp"

namespace lockstep::test {

template <class Component>
[[nodiscard]] std::string persisted(Component& component) {
  Archive archive;
  archive(component);
  return archive.bytes();
}

/// `to`, made from the same configuration, gets the state of `from`; whatever it had before is lost.
template <class Component>
void restore(Component& from, Component& to) {
  const std::string bytes = persisted(from);
  Archive archive(bytes);
  archive(to);
  CHECK(archive.at_end());
}

}  // namespace lockstep::test
