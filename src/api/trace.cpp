#include "api/trace.hpp"

#include <utility>

#include "api/guarded.hpp"

namespace lockstep {

Trace::Trace(const std::string& path)
    : content_(guarded([&] {
        return std::make_shared<const Content>(Content{nullptr, trace::open_trace(path)});
      })) {}

}  // namespace lockstep
