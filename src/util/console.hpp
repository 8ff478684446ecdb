// Standard output and standard error, for all commands.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace lockstep {

/// To be called first by main(). A standard stream that is closed gets a descriptor that cannot be written,
/// so that no file takes its number. Writing to a pipe without a reader, or past the limit of a file's size
/// (ulimit -f), becomes an error instead of the process's end; programs that are started from here find these
/// signals, SIGPIPE and SIGXFSZ, as they were.
void open_console();

/// Appends to standard output. The first failure is remembered and what follows is dropped; nothing is
/// thrown.
void write_out(std::string_view text);

/// Flushes standard output.
void flush_out();

/// errno of the first failure of standard output so far; 0: none. EPIPE: its reader has gone.
[[nodiscard]] int lost_output();

/// At the end of a command: flushes, has the file system report late failures, and gives lost_output().
[[nodiscard]] int finish_out();

/// Appends to standard error. Failures are ignored: a lost message must not end a run.
void write_err(std::string_view text);

template <class... Values>
void print_out(fmt::format_string<Values...> format, Values&&... values) {
  write_out(fmt::format(format, std::forward<Values>(values)...));
}

template <class... Values>
void print_err(fmt::format_string<Values...> format, Values&&... values) {
  write_err(fmt::format(format, std::forward<Values>(values)...));
}

}  // namespace lockstep
