// The axes of a study, from their TOML tables.
#pragma once

#include "study/study_file.hpp"
#include "study/toml_reader.hpp"

namespace lockstep::study {

/// The maximum number of values of one axis, and of runs of a study.
inline constexpr std::size_t kMaxValues = 10'000, kMaxRuns = 100'000;

/// `config`, `set` and `options` of a table: of the study, a workload, or a point of an axis.
[[nodiscard]] Settings read_settings(TableReader& table);

/// [[axis]]. Throws InputError.
[[nodiscard]] Axis read_axis(const TomlValue& table, const std::string& file);

}  // namespace lockstep::study
