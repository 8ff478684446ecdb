// The figures of a study, drawn from its table.
#pragma once

#include <string>

#include "study/study_file.hpp"
#include "study/table.hpp"

namespace lockstep::study {

/// SVG. Runs that have no value yet are left out.
[[nodiscard]] std::string draw(const Study& study, const Figure& figure, const Table& table);

}  // namespace lockstep::study
