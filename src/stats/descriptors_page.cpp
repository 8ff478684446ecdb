// docs/stats.md: the table of counters, and what else the files of a run contain.
#include <fmt/format.h>

#include <array>

#include "stats/descriptors.hpp"
#include "stats/energy_parts.hpp"
#include "stats/profile.hpp"
#include "uvm/counter_table.hpp"

namespace lockstep::stats {
namespace {

std::string_view group_of(std::string_view name) {
  const auto dot = name.find('.');
  return dot == std::string_view::npos ? std::string_view{} : name.substr(0, dot);
}

std::string_view group_title(std::string_view group) {
  struct Title {
    std::string_view group, title;
  };
  constexpr std::array kTitles{Title{"", "Instructions"},
                               Title{"lanes", "Lanes by unit"},
                               Title{"l1", "L1 data caches"},
                               Title{"l2", "L2 slices"},
                               Title{"dram", "DRAM"},
                               Title{"icnt", "Interconnect"},
                               Title{"stalls", "Issue stalls"},
                               Title{"pipes", "Execution units, of all sub-cores together"},
                               Title{"sm", "SMs"}};
  for (const Title& t : kTitles) {
    if (t.group == group) return t.title;
  }
  return group;
}

template <class Row>
std::string table_row(const Row& row) {
  return fmt::format("| `{}` | {} | {} |\n", row.name, row.unit, row.help);
}

constexpr std::string_view kTableHead = "| name | unit | meaning |\n|---|---|---|\n";

constexpr std::string_view kProfilePreface = R"(
## Instructions

With `--profile` there is `profile.json`, the same bytes for every host, thread count, schedule and window: `schema` (1), `version`,
`gpu`, `config_hash` and `trace` as in stats.json; `columns`; `codes`, the instructions of kernels (`pc`, `text` as in the trace, and
where they are known `ptx`, the statement, with `file` and `line` of the source), which launches of the same code share;
and `kernels`, each with its index among stats.json's `kernels`, its `id`, its `code`, for each instruction a row of `columns`, and for
each sub-core, numbered in its SM and summed over SMs, a row of `subcore_columns` (issues and the reasons for stalls).
PTX is known of programs that are simulated while they run (`exec`, `run --launch`); source lines where the program was
compiled with `-lineinfo`.

A cycle in which a sub-core issues nothing is attributed to the next instruction of the warp that has the stall reason; if several warps
have it, to that of the warp in the lowest slot. `drain` is attributed to a warp's last instruction. So each column's sum over a
kernel's instructions is the kernel's counter (`stalls.*` but `empty` and `idle`, which have no warp; `l1.accesses`; the three
`l1.*_sectors_sent`; `sm.shared_wavefronts` but those of bulk copies to other CTAs). Profiling changes no other number.

)";

constexpr std::string_view kManagedPreface = R"(
## Managed memory

With `lockstep run --managed` stats.json has `managed`: counters of the whole run, after `allocations`, `footprint_bytes`
(rounded up to trees of 64 KiB to 2 MiB), `device_bytes` (device memory for managed pages), `kernel_cycles` (sum over
kernels), `added_fault_cycles` (`uvm.fault_cost = additive`: fault handling that the simulated time does not contain) and
`kernel_and_fault_cycles`, the sum of both. `by_allocation` has for each allocation `transfers` to the device, the
`faulted_pages` among them, `bytes_to_device`, `write_backs`, `bytes_to_host` and `evictions` (runs of pages that left to
make room); `residency`, with `--interval`, pairs of cycle and frames in use. Prefetch accuracy is `prefetched_used` /
`prefetched_pages`; coverage is `prefetched_used` / (`prefetched_used` + `faults`); `prefetched_late` counts those that
arrived when an access was already waiting for them.

With several devices `managed` is a list with the same for each `device`, its kernels and its frames. Beside these there are
`peer_lines`, lines that were read or written on another device, and `peers`, for each other device that has anything:
`pages_in` and `pages_out` that migrated from it and to it, `copies_in` and `copies_out` that were read-only copies. The host
link's `transfers` and bytes do not contain them; the links of `system` do.

)";

constexpr std::string_view kEnergyPreface = R"(
## Energy

Where the configuration has coefficients (`energy.source` is not `none`; [config.md](config.md), group energy) each kernel
and `total` have `energy`, after `energy.total_pj`, the sum, and `energy.average_mw`, the sum over `cycles`, each of the
following as `energy.NAME_pj`. `stats.csv` and `intervals` have the sum and the mean power, links between devices `energy_pj`.
`energy_source`, beside `partial`, says where the coefficients come from. Kernels that run side by side bear the board, the
memory's constant power and idle SMs once each, so that `total` counts these several times; the samples of `--interval` do not, and
contain the time between kernels. What the coefficients are worth: [studies/energy.md](studies/energy.md).

)";

constexpr std::string_view kPreface =
    R"(# Statistics

Generated by `lockstep stats --markdown` from the table in `src/stats/descriptors.cpp`.

A run with `-o OUT` writes

| file | content |
|---|---|
| `stats.json` | everything below, per kernel and in total; the same bytes for every host, thread count, schedule and window |
| `stats.csv` | a row for each launch of a kernel; nested names are joined by a dot. `tools/lockstep_stats.py` makes pandas data frames of results |
| `intervals.csv` | with `--interval N`: one row per interval, counters as differences to the row before |
| `config.ini` | the resolved configuration (with several devices that of the first); `-c OUT/config.ini` uses it again |
| `system.ini` | with several devices: the system; `-c OUT/system.ini` uses it again, with GPU models as they ship |
| `profile.json` | with `--profile`: issues, stalls and memory traffic of each instruction |
| `host.json` | what depends on the host: wall time, speed, threads, memory |
| `deadlock.txt` | after a deadlock: the state of each warp and queue |

docs/stats.schema.json (`lockstep stats --schema`) is a JSON Schema of `stats.json`, whose members are:

| member | content |
|---|---|
| `schema` | 1, or 2 with several devices. It changes when a name is removed or changes its meaning, not when one is added |
| `version`, `gpu`, `config_hash` | of the program; name and hash of the configuration |
| `overrides` | the parameters that differ from those of the model `gpu`, by name; empty for a configuration with a name of its own |
| `trace` | `name` and the `hash` of its content |
| `kernels` | in order of completion, with the counters below |
| `copies` | between host and device, fills and copies within the device |
| `total` | the sums over all kernels |
| `unattributed` | counters that belong to no kernel: those of copies, of write-backs after the end of the kernel that wrote, of accesses by other devices |
| `core_khz`, `total_cycles` | core clock; length of the whole run |
| `partial`, `partial_reason` | whether, and why, the run did not reach the end of the trace |
| `unknown_opcodes` | with their dynamic counts |
| `remarks` | on what the trace lacks or the model does not cover |
| `intervals` | with `--interval`: `columns` and `rows` |
| `sampling` | with `--sample`, see below |
| `system` | with several devices, see below |

Counters are integers of at most 64 bits. Every sub-core is in exactly one of the states under `stalls` in each cycle; the first that applies counts. `idle` is
the rest, up to `cycles` times the number of sub-cores.

**Several devices.** Kernels and copies have a `device`, and their cycles are those of its core clock (`total` adds cycles, and uses device 0's clock). `stats.csv` has a last
column `device`. `system` has a `name`, `devices` and `links`. For each direction of a link there are its `messages`, its `bytes`, the `data_bytes` among these, the time `busy_ps` that the
bytes take, that time as a share of the run (`utilisation`), and how
long the link waited for credits with requests or replies in its queues (`request_stall_ps`, `reply_stall_ps`: [add-a-system.md](add-a-system.md)).

**Networks.** `system.network` has its `design`, `threads`, `nics`, with command processors `locks` (locked lines of a device's L2: [networking-machine.md](networking-machine.md#locked-lines)), and in designs whose hosts
compute and communicate `processes`.

| of | members |
|---|---|
| a service thread | polls of entries (`polls`, and how many `found` one) and of completion records (`record_polls`, `records`); `instructions`; the time `active_ps` in which it had an operation to serve or in progress, and its energy in that time (`leak_pj`, `base_pj`, `instruction_pj`, in total `energy_pj`); of a command processor also accesses to the L2 by purpose, and the misses among reads (`l2`) |
| its `operations`, by kind | `count`, how many were `blocking`, and their time, `total_ps`, from the kernel's first store to the entry on. That is the sum of stages, each named after its end and with its maximum: `written` (the store of the status word leaves the SM), `visible` (it is where the agent reads it), `seen` (the thread has read it), `issued` (the call's code has run), `rung` (the doorbell has reached the NIC), `fetched` (the NIC has the command), `sent` (its first message has been sent), `complete` (everything is acknowledged), `noticed` (the thread has read the completion record), `finished` (it writes the status of a blocking one), `returned` (the work-group has read that) |
| a process | its `tasks` by kind (`count`, `total_ps`, `max_ps`), the `instructions` and `memory_bytes` of its computation, `bytes_sent`, and its messages (`operations`: puts, with the time since the beginning of the call); of an MPI program that asks for times also `clock_ps` and `event_ps`: when it read `MPI_Wtime` and when its events were complete, in its order ([mpi-programs.md](mpi-programs.md)) |
| a NIC | its operations by kind (`puts`, `gets`, `atomics`) with their bytes; doorbells, commands and completion records; what it served for other NICs or itself (`served_reads`, `served_writes`, `served_atomics`) |
| queues | one object for all queues of a kind: the number of `queues`, how many items have `entered`, the `max` at a time in one queue, the `mean` depth of a queue over the whole run, `total_ps` (depth integrated over time, the sum of all residence times), and `times_ps`, whose element b is the time with 2^b to less than 2^(b+1) items. A service thread has `queues` (entries that it has seen and not finished) and `completion_queues` (records written and not noticed), a process the latter; a NIC has `commands_open` (from the doorbell to the completion) and, among these, `commands_waiting` (the operation has not begun) |

**Sampled runs** ([studies/sampling.md](studies/sampling.md)). `sampling` has the options `error`, `confidence`, `seed` and `warm_up`;
`launches` and `ctas` with `launches_timed` and `ctas_timed`; `overlap` (whether kernels overlapped); `estimates`: for `cycles`, `time_ns` and each counter
the sum over kernels as a pair of estimate and half-width of its interval; and `groups` of similar launches. Each kernel says whether it is
`estimated` and how many CTAs were left out, and `total` is the sum of measured and predicted values.

## Kernel

)";

/// profile.json, and its columns.
std::string profile_markdown() {
  std::string text(kProfilePreface);
  text += kTableHead;
  for (const ProfileColumn& column : profile_columns()) text += table_row(column);
  return text;
}

}  // namespace

std::string markdown() {
  std::string text(kPreface);
  text += kTableHead;
  for (const FieldHelp& field : kernel_fields()) text += table_row(field);
  std::string_view group = "none yet";
  for (const Descriptor& d : descriptors()) {
    if (group_of(d.name) != group) {
      group = group_of(d.name);
      text += fmt::format("\n## {}\n\n{}", group_title(group), kTableHead);
    }
    text += table_row(d);
  }
  text += profile_markdown();
  text += kEnergyPreface;
  text += "| name | what |\n|---|---|\n";
  for (const EnergyRow& row : energy_rows()) text += fmt::format("| `{}` | {} |\n", row.name, row.help);
  text += kManagedPreface;
  text += kTableHead;
  for (const uvm::CounterRow& row : uvm::counter_rows()) text += table_row(row);
  return text;
}

}  // namespace lockstep::stats
