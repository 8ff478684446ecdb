// [[figure]] of a study, and the labels of axes that it and [speedup] refer to.
#pragma once

#include "study/study_file.hpp"
#include "study/toml_reader.hpp"

namespace lockstep::study {

/// { AXIS = LABEL }: the axes and labels must be those of `study`. Throws InputError.
[[nodiscard]] Where read_where(const TableReader& reader, const std::string& key, const TomlValue& table,
                               const Study& study);

/// Throws InputError if it refers to something that does not exist, or would show several runs at one place.
[[nodiscard]] Figure read_figure(const TomlValue& table, const Study& study);

}  // namespace lockstep::study
