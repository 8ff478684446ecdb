#include "api/machine.hpp"

#include "api/guarded.hpp"
#include "config/config.hpp"

namespace lockstep {

Machine::Machine(const std::string& name_or_file, const std::vector<std::string>& settings) {
  auto description = std::make_shared<Description>();
  guarded([&] {
    if (config::means_system(name_or_file)) {
      description->system = config::resolve_system(name_or_file, 0, settings);
      description->gpu = description->system->devices.front();
    } else {
      description->gpu = config::resolve(name_or_file, settings);
    }
  });
  description_ = std::move(description);
}

unsigned Machine::devices() const {
  return description_->system ? static_cast<unsigned>(description_->system->devices.size()) : 1;
}

std::string Machine::ini() const {
  return description_->system ? config::to_ini(*description_->system) : config::to_ini(description_->gpu);
}

}  // namespace lockstep
