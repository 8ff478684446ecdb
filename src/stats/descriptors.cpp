#include "stats/descriptors.hpp"

#include <fmt/format.h>

#include <array>

#include "stats/energy_parts.hpp"
#include "stats/profile.hpp"
#include "uvm/counter_table.hpp"

namespace lockstep::stats {
namespace {

#define AT(field) offsetof(KernelCounters, field)
#define PIPE(unit) (offsetof(KernelCounters, sm.pipes) + 8 * static_cast<std::size_t>(Pipe::unit))
#define LANES(unit) (offsetof(KernelCounters, sm.lanes) + 8 * static_cast<std::size_t>(UnitClass::unit))
#define STALL(reason) (offsetof(KernelCounters, sm.stalls) + 8 * static_cast<std::size_t>(Stall::reason))

constexpr std::array kCounters{
    Descriptor{"warp_instructions", "instructions",
               "dynamic instruction records of the trace that were issued", AT(sm.warp_instructions)},
    Descriptor{"thread_instructions", "instructions",
               "active lanes, summed over the issued warp instructions", AT(sm.thread_instructions)},

    Descriptor{"lanes.int", "lanes", "of thread_instructions: integer, logic, compare, select, move, shuffle",
               LANES(kInt)},
    Descriptor{"lanes.int_multiply", "lanes", "IMAD, IMUL, IDP, LEA, ISCADD, XMAD", LANES(kIntMultiply)},
    Descriptor{"lanes.fp", "lanes", "FP32 and FP16 that does not multiply; conversions", LANES(kFp)},
    Descriptor{"lanes.fp_multiply", "lanes", "FMUL, FFMA, HMUL2, HFMA2", LANES(kFpMultiply)},
    Descriptor{"lanes.fp64", "lanes", "FP64", LANES(kFp64)},
    Descriptor{"lanes.sfu", "lanes", "special functions", LANES(kSfu)},
    Descriptor{"lanes.tensor", "lanes", "matrix products", LANES(kTensor)},
    Descriptor{"lanes.texture", "lanes", "textures and surfaces", LANES(kTexture)},
    Descriptor{"lanes.other", "lanes", "memory, control flow, barriers", LANES(kOther)},

    Descriptor{"l1.accesses", "sectors",
               "32-byte sectors looked up in the L1 data caches: hits + misses + mshr_merges",
               AT(sm.l1.accesses)},
    Descriptor{"l1.hits", "sectors", "sectors found", AT(sm.l1.hits)},
    Descriptor{"l1.misses", "sectors", "sectors not found and requested", AT(sm.l1.misses)},
    Descriptor{"l1.mshr_merges", "sectors", "sectors already requested: the access waits for the same fill",
               AT(sm.l1.mshr_merges)},
    Descriptor{"l1.sectors_read", "sectors", "accesses of loads", AT(sm.l1.sectors_read)},
    Descriptor{"l1.sectors_written", "sectors", "accesses of stores and reductions",
               AT(sm.l1.sectors_written)},
    Descriptor{"l1.requests", "lookups", "128-byte lines looked up", AT(sm.l1.requests)},
    Descriptor{"l1.read_hits", "sectors", "hits of sectors_read", AT(sm.l1.read_hits)},
    Descriptor{"l1.write_hits", "sectors", "hits of sectors_written", AT(sm.l1.write_hits)},
    Descriptor{"l1.read_misses", "sectors", "misses of sectors_read", AT(sm.l1.read_misses)},
    Descriptor{"l1.write_misses", "sectors", "misses of sectors_written", AT(sm.l1.write_misses)},
    Descriptor{"l1.read_line_misses", "lookups",
               "reads with misses of a line of which no sector is there or under way",
               AT(sm.l1.read_line_misses)},
    Descriptor{"l1.write_line_misses", "lookups", "writes likewise", AT(sm.l1.write_line_misses)},
    Descriptor{"l1.load_sectors_sent", "sectors", "sectors that loads request from the L2",
               AT(sm.l1_load_sectors_sent)},
    Descriptor{"l1.store_sectors_sent", "sectors", "sectors that stores send to the L2",
               AT(sm.l1_store_sectors_sent)},
    Descriptor{"l1.atomic_sectors_sent", "sectors", "sectors that atomics and reductions send to the L2",
               AT(sm.l1_atomic_sectors_sent)},
    Descriptor{"l1.atomic_line_misses", "lookups", "part of write_line_misses", AT(sm.l1_atomic_line_misses)},
    Descriptor{"l1.local_read_hits", "sectors", "hits of loads from local memory, part of read_hits",
               AT(sm.l1_local.read_hits)},
    Descriptor{"l1.local_read_merges", "sectors", "of these loads, merged", AT(sm.l1_local.read_merges)},
    Descriptor{"l1.local_read_misses", "sectors", "of these loads, misses", AT(sm.l1_local.read_misses)},
    Descriptor{"l1.local_read_line_misses", "lookups", "of these loads, part of read_line_misses",
               AT(sm.l1_local.read_line_misses)},
    Descriptor{"l1.local_write_hits", "sectors", "hits of stores to local memory, part of write_hits",
               AT(sm.l1_local.write_hits)},
    Descriptor{"l1.local_write_misses", "sectors", "of these stores, misses", AT(sm.l1_local.write_misses)},
    Descriptor{"l1.local_write_line_misses", "lookups", "of these stores, part of write_line_misses",
               AT(sm.l1_local.write_line_misses)},

    Descriptor{"l2.accesses", "sectors",
               "32-byte sectors looked up in the L2 slices: hits + misses + mshr_merges",
               AT(mem.l2.accesses)},
    Descriptor{"l2.hits", "sectors", "sectors found", AT(mem.l2.hits)},
    Descriptor{"l2.misses", "sectors", "sectors not found and requested, or written without a fill",
               AT(mem.l2.misses)},
    Descriptor{"l2.mshr_merges", "sectors", "sectors already requested: the access waits for the same fill",
               AT(mem.l2.mshr_merges)},
    Descriptor{"l2.sectors_read", "sectors", "accesses of loads", AT(mem.l2.sectors_read)},
    Descriptor{"l2.sectors_written", "sectors", "accesses of stores, atomics and reductions",
               AT(mem.l2.sectors_written)},
    Descriptor{"l2.requests", "lookups", "128-byte lines looked up", AT(mem.l2.requests)},
    Descriptor{"l2.read_hits", "sectors", "hits of sectors_read", AT(mem.l2.read_hits)},
    Descriptor{"l2.write_hits", "sectors", "hits of sectors_written", AT(mem.l2.write_hits)},
    Descriptor{"l2.read_misses", "sectors", "misses of sectors_read", AT(mem.l2.read_misses)},
    Descriptor{"l2.write_misses", "sectors", "misses of sectors_written", AT(mem.l2.write_misses)},
    Descriptor{"l2.read_line_misses", "lookups",
               "reads with misses of a line of which no sector is there or under way",
               AT(mem.l2.read_line_misses)},
    Descriptor{"l2.write_line_misses", "lookups", "writes likewise", AT(mem.l2.write_line_misses)},
    Descriptor{"l2.atomics", "sectors", "sectors on which the atomic units worked", AT(mem.l2_atomics)},
    Descriptor{"l2.atomic_hits", "sectors", "of l2.atomics, hits; part of write_hits",
               AT(mem.l2_atomic_hits)},
    Descriptor{"l2.atomic_merges", "sectors", "of l2.atomics, merged", AT(mem.l2_atomic_merges)},
    Descriptor{"l2.atomic_line_misses", "lookups", "of atomics and reductions, part of write_line_misses",
               AT(mem.l2_atomic_line_misses)},
    Descriptor{"l2.writebacks", "sectors", "sectors sent to the DRAM: dirty ones, and what copies write",
               AT(mem.l2_writebacks)},
    Descriptor{"l2.fetches", "sectors", "accesses of instruction and constant fetches, part of sectors_read",
               AT(mem.l2_fetches)},
    Descriptor{"l2.fetch_hits", "sectors", "of these, found", AT(mem.l2_fetch_hits)},
    Descriptor{"l2.fetch_merges", "sectors", "of l2.fetches, merged", AT(mem.l2_fetch_merges)},
    Descriptor{"l2.fetch_line_misses", "lookups", "of these fetches, part of read_line_misses",
               AT(mem.l2_fetch_line_misses)},
    Descriptor{"l2.local_read_hits", "sectors", "hits of loads from local memory, part of read_hits",
               AT(mem.l2_local.read_hits)},
    Descriptor{"l2.local_read_merges", "sectors", "of these loads, merged", AT(mem.l2_local.read_merges)},
    Descriptor{"l2.local_read_misses", "sectors", "of these loads, misses", AT(mem.l2_local.read_misses)},
    Descriptor{"l2.local_read_line_misses", "lookups", "of these loads, part of read_line_misses",
               AT(mem.l2_local.read_line_misses)},
    Descriptor{"l2.local_write_hits", "sectors", "hits of stores to local memory, part of write_hits",
               AT(mem.l2_local.write_hits)},
    Descriptor{"l2.local_write_misses", "sectors", "of these stores, misses", AT(mem.l2_local.write_misses)},
    Descriptor{"l2.local_write_line_misses", "lookups", "of these stores, part of write_line_misses",
               AT(mem.l2_local.write_line_misses)},
    Descriptor{"l2.far_requests", "requests", "requests that crossed to the other half of the L2",
               AT(mem.far_requests)},

    Descriptor{"dram.reads", "bursts", "column reads", AT(mem.dram_reads)},
    Descriptor{"dram.writes", "bursts", "column writes", AT(mem.dram_writes)},
    Descriptor{"dram.row_hits", "bursts", "bursts served from a row that was open", AT(mem.dram_row_hits)},
    Descriptor{"dram.row_misses", "bursts", "bursts for which a row had to be opened",
               AT(mem.dram_row_misses)},
    Descriptor{"dram.bytes", "bytes", "data moved, both directions", AT(mem.dram_bytes)},
    Descriptor{"dram.activates", "commands", "row activations", AT(mem.dram_activates)},
    Descriptor{"dram.precharges", "commands", "row precharges", AT(mem.dram_precharges)},

    Descriptor{"icnt.requests", "messages", "messages from SMs to L2 slices", AT(icnt.requests)},
    Descriptor{"icnt.replies", "messages", "messages from L2 slices to SMs", AT(icnt.replies)},
    Descriptor{"icnt.flits", "flits", "flits of both directions", AT(icnt.flits)},
    Descriptor{"icnt.stall_cycles", "cycles", "cycles in which a port held a message that it could not send",
               AT(icnt.stall_cycles)},

    Descriptor{"stalls.issued", "cycles", "an instruction was issued", STALL(kIssued)},
    Descriptor{"stalls.math_pipe", "cycles", "a ready warp's execution unit is busy", STALL(kMathPipe)},
    Descriptor{"stalls.mio_throttle", "cycles", "a ready warp's memory or MIO queue is full",
               STALL(kMioThrottle)},
    Descriptor{"stalls.register_port", "cycles",
               "operand reads of an earlier instruction hold the register ports", STALL(kRegisterPort)},
    Descriptor{"stalls.wait", "cycles", "fixed-latency dependence", STALL(kWait)},
    Descriptor{"stalls.short_scoreboard", "cycles",
               "result of shared memory, shuffle, constant or special register; a register that a queued "
               "instruction still reads",
               STALL(kShortScoreboard)},
    Descriptor{"stalls.long_scoreboard", "cycles", "result of global, local or texture memory",
               STALL(kLongScoreboard)},
    Descriptor{"stalls.barrier", "cycles", "CTA barrier", STALL(kBarrier)},
    Descriptor{"stalls.mem_bar", "cycles", "memory fence", STALL(kMemBar)},
    Descriptor{"stalls.dep_bar", "cycles", "wait for a group of asynchronous copies", STALL(kDepBar)},
    Descriptor{"stalls.sleep", "cycles", "NANOSLEEP", STALL(kSleep)},
    Descriptor{"stalls.branch", "cycles", "branch target not yet known", STALL(kBranch)},
    Descriptor{"stalls.no_instruction", "cycles", "instruction buffer empty: fetch or instruction-cache miss",
               STALL(kNoInstruction)},
    Descriptor{"stalls.drain", "cycles", "every resident warp has exited, memory accesses are outstanding",
               STALL(kDrain)},
    Descriptor{"stalls.empty", "cycles", "no warp on this sub-core", STALL(kEmpty)},

    Descriptor{"pipes.alu", "cycles", "integer and logic unit taken", PIPE(kAlu)},
    Descriptor{"pipes.fma", "cycles", "FP32 and integer multiply unit taken", PIPE(kFma)},
    Descriptor{"pipes.fma2", "cycles", "second FP32 unit taken", PIPE(kFma2)},
    Descriptor{"pipes.fp16", "cycles", "FP16 unit taken", PIPE(kFp16)},
    Descriptor{"pipes.fp64", "cycles", "FP64 unit taken", PIPE(kFp64)},
    Descriptor{"pipes.xu", "cycles", "unit for special functions and conversions taken", PIPE(kXu)},
    Descriptor{"pipes.tensor", "cycles", "tensor unit taken", PIPE(kTensor)},
    Descriptor{"pipes.uniform", "cycles", "uniform datapath taken", PIPE(kUniform)},
    Descriptor{"pipes.branch", "cycles", "branch unit taken", PIPE(kBranch)},
    Descriptor{"pipes.mio", "cycles", "way into the memory queue taken", PIPE(kMio)},

    Descriptor{"sm.ctas", "CTAs", "thread blocks run", AT(sm.ctas)},
    Descriptor{"sm.warps", "warps", "warps run", AT(sm.warps)},
    Descriptor{"sm.warp_cycles", "warp-cycles", "resident warps, summed over cycles", AT(sm.warp_cycles)},
    Descriptor{"sm.shared_instructions", "instructions", "warp instructions on shared memory",
               AT(sm.shared_instructions)},
    Descriptor{"sm.shared_wavefronts", "wavefronts",
               "passes over the shared-memory banks; one an instruction without conflicts",
               AT(sm.shared_wavefronts)},
    Descriptor{"sm.global_instructions", "instructions",
               "warp instructions on global memory, and texture fetches whose addresses are known",
               AT(sm.global_instructions)},
    Descriptor{"sm.local_instructions", "instructions", "warp instructions on local memory",
               AT(sm.local_instructions)},
    Descriptor{"sm.const_instructions", "instructions", "warp instructions on constant memory",
               AT(sm.const_instructions)},
    Descriptor{
        "sm.const_passes", "passes",
        "distinct addresses of a constant load, served one after the other; one where they are not known",
        AT(sm.const_passes)},
    Descriptor{"sm.const_l1_misses", "passes", "of these, not found in the L1 constant cache",
               AT(sm.const_l1_misses)},
    Descriptor{"sm.const_l15_misses", "lines", "of these, not found in the L1.5 constant cache either",
               AT(sm.const_l15_misses)},
    Descriptor{"sm.tlb_waits", "lines",
               "lines of device memory that waited for their translation (not of managed memory)",
               AT(sm.tlb_waits)},
    Descriptor{"sm.l0i_accesses", "lines", "lines looked up in the L0 instruction caches",
               AT(sm.l0i_accesses)},
    Descriptor{"sm.l0i_misses", "lines", "of these, not found", AT(sm.l0i_misses)},
    Descriptor{"sm.l1i_accesses", "lines", "lines looked up in the L1 instruction caches",
               AT(sm.l1i_accesses)},
    Descriptor{"sm.l1i_misses", "lines", "of these, not found", AT(sm.l1i_misses)},
    Descriptor{"sm.ifetch_prefetches", "lines", "lines that the stream buffers fetched ahead",
               AT(sm.ifetch_prefetches)},
    Descriptor{"sm.rf_reads", "operands", "operands read from the register-file banks", AT(sm.rf_reads)},
    Descriptor{"sm.rfc_hits", "operands", "operands found in the register-file cache", AT(sm.rfc_hits)},
    Descriptor{"sm.rf_conflict_cycles", "cycles", "cycles lost to register-bank conflicts",
               AT(sm.rf_conflict_cycles)},
    Descriptor{"sm.barriers", "instructions", "CTA barrier instructions", AT(sm.barriers)},
    Descriptor{"sm.unknown_instructions", "instructions", "instructions whose opcode is not in the table",
               AT(sm.unknown_instructions)},
};
#undef AT
#undef LANES
#undef STALL
#undef PIPE
static_assert(kCounters.size() * sizeof(std::uint64_t) == sizeof(KernelCounters), "each counter has one row");

constexpr std::array kKernelFields{
    FieldHelp{"name", "", "the kernel's name in the trace, as a rule mangled; `c++filt` makes it readable"},
    FieldHelp{"id", "", "the kernel's id in the trace"},
    FieldHelp{"stream", "", "CUDA stream"},
    FieldHelp{"grid", "CTAs", "x, y, z"},
    FieldHelp{"block", "threads", "x, y, z"},
    FieldHelp{"start_cycle", "core cycles", "dispatch of the first CTA, from the start of the run"},
    FieldHelp{"launch_cycles", "core cycles",
              "the launch floor: launch.latency_ns, of a kernel behind the first work of a graph "
              "launch.graph_node_ns"},
    FieldHelp{"cycles", "core cycles", "from the first CTA's dispatch to the last one's completion"},
    FieldHelp{"time_ns", "ns", "cycles in time, exact to three decimals"},
    FieldHelp{"elapsed_ns", "ns",
              "launch_cycles + cycles in time: what a profiler shows as the kernel's duration"},
    FieldHelp{"ipc", "instructions/cycle", "warp_instructions / cycles, six decimals"},
    FieldHelp{"stalls.idle", "cycles",
              "sub-core cycles that no reason covers: with it the reasons add up to cycles * sub-cores"},
    FieldHelp{"occupancy.ctas_per_sm", "CTAs", "how many CTAs of the kernel fit an SM"},
    FieldHelp{"occupancy.limiter", "",
              "what sets that limit: warps, registers, shared, ctas, threads or grid"},
    FieldHelp{"occupancy.subcores", "", "sub-cores of the GPU"},
    FieldHelp{"occupancy.warps_per_subcore", "warps", "resident warps on average, three decimals"},
    FieldHelp{"partial", "", "true: the run ended before the kernel did"},
    FieldHelp{"estimated", "",
              "of a run by samples; true: it was not timed, cycles and counters are predicted"},
    FieldHelp{"ctas_left_out", "CTAs",
              "of a run by samples: CTAs that were not timed; their part is predicted"},
};

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
`l1.*_sectors_sent`; `sm.shared_wavefronts`). Profiling changes no other number.

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
| its `operations`, by kind | `count`, how many were `blocking`, and their time, `total_ps`, from the kernel's first store to the entry on. That is the sum of stages, each named after its end and with its maximum: `written` (the store of the status word leaves the SM), `visible` (it is where the agent reads it), `seen` (the thread has read it), `issued` (the call's code has run), `rung` (the doorbell has reached the NIC), `fetched` (the NIC has the command), `sent` (its first message has been sent), `complete` (everything is acknowledged), `noticed` (the thread has read the completion record), `dealt` (it writes the status of a blocking one), `returned` (the work-group has read that) |
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

std::span<const Descriptor> descriptors() { return kCounters; }
std::span<const FieldHelp> kernel_fields() { return kKernelFields; }

std::string_view stall_name(Stall stall) {
  const std::size_t offset = offsetof(KernelCounters, sm.stalls) + 8 * static_cast<std::size_t>(stall);
  for (const Descriptor& d : kCounters) {
    if (d.offset == offset) return d.name.substr(d.name.find('.') + 1);
  }
  return "";
}

std::string markdown() {
  std::string text(kPreface);
  text += kTableHead;
  for (const FieldHelp& field : kKernelFields) text += table_row(field);
  std::string_view group = "none yet";
  for (const Descriptor& d : kCounters) {
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
