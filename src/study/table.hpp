// The result of a study: a row for each of its runs, in the order of the plan whatever order they ran in.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/plan.hpp"
#include "study/run_store.hpp"
#include "study/runner.hpp"
#include "study/study_file.hpp"

namespace lockstep::study {

using Cell = nlohmann::ordered_json;  // a number, a string, a boolean; null if there is no value

struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
  /// The column's index; columns.size() if there is none.
  [[nodiscard]] std::size_t column(std::string_view name) const;
  /// Null if there is no such column.
  [[nodiscard]] const Cell& at(std::size_t row, std::string_view column_name) const;
};

/// Columns: the workload, the axes, `state`, `error`, `run` (the folder), and the statistics of the runs that
/// are complete: the sums of `total` under their own names, other values of stats.json for the whole run by
/// their path ("trace.name"), `run_ns` (total_cycles in time) and, where the study asks for it, `speedup`.
/// `keys`: of each planned run. Throws UserError for results that cannot be read.
[[nodiscard]] Table make_table(const Study& study, std::span<const PlannedRun> runs,
                               std::span<const std::string> keys, const RunStore& store);

/// Before the first run: throws UserError if the study names a column that no run can have, or an axis as a
/// statistic is named.
void check_names_of_columns(const Study& study);
/// Throws UserError if the study names a column (`columns`, `speedup`, figures) that no complete run has.
void check_columns(const Study& study, const Table& table);

/// RFC 4180.
[[nodiscard]] std::string to_csv(const Table& table);
/// One object per row; missing values are left out.
[[nodiscard]] std::string to_json_lines(const Table& table);
/// {"schema":1,"title":...,"runs":[rows as to_json_lines()]}.
[[nodiscard]] std::string to_json(const Study& study, const Table& table);
/// {"schema":1,"runs":[{"task":1,"state":...,"key":...,"run":...}]}: the states of the runs; `names`: of the
/// jobs.
[[nodiscard]] std::string jobs_json(std::span<const Job> jobs, std::span<const std::string> names,
                                    const RunStore& store);
/// A table for people: the workload if there are several, axes, state, the study's `columns` and errors.
[[nodiscard]] std::string to_text(const Study& study, const Table& table);

}  // namespace lockstep::study
