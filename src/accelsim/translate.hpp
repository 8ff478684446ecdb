// Accel-Sim's options to Lockstep's configuration: each is mapped, ignored with a reason, or unknown.
#pragma once

#include <string>
#include <vector>

#include "accelsim/option.hpp"
#include "config/config.hpp"
#include "config/ini.hpp"

namespace lockstep::accelsim {

struct Ignored {
  Option option;
  std::string reason;
  bool differs = false;  // the option asks for something that Lockstep does otherwise
};

struct Translation {
  std::string base;                             // GPU model or file that gives all other values
  std::vector<config::Assignment> assignments;  // note: the options that a value comes from
  // Each option of the files is in exactly one of these, in the order of the files.
  std::vector<Option> mapped;
  std::vector<Ignored> ignored;
  std::vector<Option> unknown;
};

/// The model of the files' compute capability: the nearest at or below it. v100 where they name none.
[[nodiscard]] std::string base_gpu_model(const std::vector<Option>& options);

/// `base`: a GPU model or file for what the options do not say; empty = base_gpu_model(). Throws UserError,
/// with the option's place where a value cannot be read or is out of range.
[[nodiscard]] Translation translate(const std::vector<Option>& options, const std::string& base = "");

/// Throws UserError where an option is unknown.
void require_known(const Translation& translation);

/// The base with the mapped values and then the texts of --set, checked as config::resolve() does.
[[nodiscard]] config::Resolved resolve_with_origins(const Translation& translation,
                                                    const std::vector<std::string>& overrides = {});
[[nodiscard]] config::GpuConfig resolve(const Translation& translation,
                                        const std::vector<std::string>& overrides = {});

/// Every key as an INI text that config::resolve() reads, with the options that each value comes from, then,
/// as comments, what was ignored and why, and what is unknown.
[[nodiscard]] std::string annotated_ini(const Translation& translation, const config::Resolved& resolved);

/// "61 options mapped, 143 ignored (2 of them differ from the model), 1 unknown: -foo".
[[nodiscard]] std::string summary(const Translation& translation);

/// docs/accelsim.md, generated.
[[nodiscard]] std::string markdown();

}  // namespace lockstep::accelsim
