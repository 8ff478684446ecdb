// docs/stats.schema.json, from the tables of counters.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stats/descriptors.hpp"
#include "stats/energy_parts.hpp"
#include "stats/network_report.hpp"
#include "uvm/counter_table.hpp"

namespace lockstep::stats {
namespace {

using Json = nlohmann::ordered_json;

Json integer() { return {{"type", "integer"}, {"minimum", 0}}; }
Json number() { return {{"type", "number"}, {"minimum", 0}}; }
Json text() { return {{"type", "string"}}; }
Json flag() { return {{"type", "boolean"}}; }
Json reference(const char* name) { return {{"$ref", std::string("#/$defs/") + name}}; }
Json list(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }
Json hash() { return {{"type", "string"}, {"pattern", "^[0-9a-f]{16}$"}}; }
Json map_of(Json values) { return {{"type", "object"}, {"additionalProperties", std::move(values)}}; }

Json dimensions() {
  Json three = list(integer());
  three.update({{"minItems", 3}, {"maxItems", 3}});
  return three;
}

Json described(Json type, std::string_view unit, std::string_view help) {
  type["description"] = unit.empty() ? std::string(help) : std::string(unit) + ": " + std::string(help);
  return type;
}

/// An object of which all properties but the `optional` ones are required. Others may be added by later
/// versions.
Json object(Json properties, std::initializer_list<const char*> optional = {}) {
  Json required = Json::array();
  for (const auto& [name, unused] : properties.items())
    if (std::find(optional.begin(), optional.end(), name) == optional.end()) required.push_back(name);
  return {{"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
}

/// An object for each group of counters, by its name.
std::vector<std::pair<std::string, Json>> groups() {
  std::vector<std::pair<std::string, Json>> all;
  for (const Descriptor& d : descriptors()) {
    const std::string name(d.name);
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos) continue;
    if (all.empty() || all.back().first != name.substr(0, dot))
      all.emplace_back(name.substr(0, dot), Json::object());
    all.back().second[name.substr(dot + 1)] = described(integer(), d.unit, d.help);
  }
  for (auto& [name, properties] : all) {
    if (name == "stalls")
      properties["idle"] = described(integer(), "cycles", "sub-core cycles that no reason covers");
    properties = object(std::move(properties));
  }
  return all;
}

/// All counters, plain ones and groups, into `properties`.
void add_counters(Json& properties) {
  properties["ipc"] = described(number(), "instructions/cycle", "warp_instructions / cycles, six decimals");
  for (const Descriptor& d : descriptors())
    if (d.name.find('.') == std::string_view::npos)
      properties[std::string(d.name)] = described(integer(), d.unit, d.help);
  for (const auto& [name, unused] : groups()) properties[name] = reference(name.c_str());
}

void add_times(Json& properties) {
  properties["launch_cycles"] = described(integer(), "core cycles",
                                          "the launch floor: launch.latency_ns, of a kernel behind the first "
                                          "work of a graph launch.graph_node_ns");
  properties["cycles"] = described(integer(), "core cycles", "first dispatch to last completion");
  properties["time_ns"] = described(number(), "ns", "cycles in time");
  properties["elapsed_ns"] = described(number(), "ns", "launch_cycles + cycles in time");
}

Json energy() {
  Json p = {{"total_pj", integer()}, {"average_mw", integer()}};
  for (const EnergyRow& row : energy_rows())
    p[std::string(row.name) + "_pj"] = described(integer(), "pJ", row.help);
  return object(std::move(p));
}

Json kernel() {
  Json p = {{"name", text()},       {"id", integer()},       {"device", integer()},     {"stream", integer()},
            {"grid", dimensions()}, {"block", dimensions()}, {"start_cycle", integer()}};
  add_times(p);
  add_counters(p);
  p["occupancy"] =
      object({{"ctas_per_sm", integer()},
              {"limiter", {{"enum", {"warps", "registers", "shared", "ctas", "threads", "grid", ""}}}},
              {"subcores", integer()},
              {"warps_per_subcore", number()}});
  p["energy"] = reference("energy");
  p["partial"] = flag();
  p["estimated"] = described(flag(), "", "with --sample: it was not timed");
  p["ctas_left_out"] = described(integer(), "CTAs", "with --sample: they were not timed");
  for (const FieldHelp& field : kernel_fields()) {
    const std::string name(field.name);
    if (p.contains(name) && !p[name].contains("description"))
      p[name] = described(p[name], field.unit, field.help);
  }
  return object(std::move(p), {"device", "energy", "estimated", "ctas_left_out"});
}

Json copy() {
  const Json kinds = {"host_to_device", "device_to_host", "fill", "device_to_device", "peer_to_peer"};
  return object({{"kind", {{"enum", kinds}}},
                 {"device", integer()},
                 {"address", hash()},
                 {"bytes", integer()},
                 {"start_cycle", integer()},
                 {"cycles", integer()},
                 {"time_ns", number()}},
                {"device"});
}

Json total() {
  Json p = {{"kernels", integer()}, {"copies", integer()}};
  add_times(p);
  add_counters(p);
  p["energy"] = reference("energy");
  return object(std::move(p), {"energy"});
}

Json unattributed() {
  Json p = {{"cycles", {{"const", 0}}}};
  add_counters(p);
  return object(std::move(p));
}

Json allocation() {
  return object({{"base", {{"type", "string"}, {"pattern", "^0x[0-9a-f]+$"}}},
                 {"bytes", integer()},
                 {"transfers", integer()},
                 {"faulted_pages", integer()},
                 {"bytes_to_device", integer()},
                 {"write_backs", integer()},
                 {"bytes_to_host", integer()},
                 {"evictions", integer()}});
}

Json managed() {
  Json p = {{"device", integer()},
            {"allocations", integer()},
            {"footprint_bytes", integer()},
            {"device_bytes", integer()},
            {"kernel_cycles", integer()},
            {"added_fault_cycles", integer()},
            {"kernel_and_fault_cycles", integer()}};
  for (const uvm::CounterRow& row : uvm::counter_rows())
    p[std::string(row.name)] = described(integer(), row.unit, row.help);
  p["by_allocation"] = list(allocation());
  p["peer_lines"] = integer();
  p["peers"] = list(object({{"device", integer()},
                            {"pages_in", integer()},
                            {"pages_out", integer()},
                            {"copies_in", integer()},
                            {"copies_out", integer()}}));
  p["residency"] = list(list(integer()));
  return object(std::move(p), {"device", "peer_lines", "peers", "residency"});
}

/// Operations of one kind.
Json network_operations() {
  Json operation = {
      {"count", integer()}, {"blocking", integer()}, {"total_ps", integer()}, {"max_total_ps", integer()}};
  for (const std::string_view stage : kNetworkStages) {
    operation[fmt::format("{}_ps", stage)] = integer();
    operation[fmt::format("max_{}_ps", stage)] = integer();
  }
  return object(std::move(operation));
}

/// How many were in queues of one sort.
Json queue_depth() {
  return object({{"queues", integer()},
                 {"entered", integer()},
                 {"max", described(integer(), "", "at a time in one queue")},
                 {"mean", described(number(), "", "of one queue, over the run, six decimals")},
                 {"total_ps", described(integer(), "ps", "depth integrated over time")},
                 {"times_ps", described(list(integer()), "ps", "with 2^b to less than 2^(b+1) in a queue")}});
}

Json network() {
  Json operations, l2, thread = {{"node", text()}};
  for (const std::string_view kind : kNetworkKinds)
    operations[std::string(kind)] = reference("network_operations");
  for (const std::string_view name : kCoreAccessNames)
    l2[std::string(name)] = object({{"accesses", integer()}, {"misses", integer()}});
  for (const char* name : {"number", "polls", "found", "record_polls", "records", "instructions", "active_ps",
                           "energy_pj", "leak_pj", "base_pj", "instruction_pj"})
    thread[name] = integer();
  thread["l2"] = object(l2);
  thread["queues"] = thread["completion_queues"] = reference("queue_depth");
  thread["operations"] = object(operations, {"put", "get", "atomic", "quiet"});
  const Json task = object({{"count", integer()}, {"total_ps", integer()}, {"max_ps", integer()}});
  Json tasks, process = {{"node", text()}};
  for (const std::string_view name : kHostTaskNames) tasks[std::string(name)] = task;
  for (const char* name : {"device", "instructions", "memory_bytes", "bytes_sent"}) process[name] = integer();
  process["tasks"] = object(tasks);
  process["completion_queues"] = reference("queue_depth");
  process["clock_ps"] = process["event_ps"] = list(integer());
  process["operations"] = object({{"put", reference("network_operations")}}, {"put"});
  Json nic = {{"node", text()}};
  for (const char* name : {"puts", "gets", "atomics", "doorbells", "commands", "records", "bytes_put",
                           "bytes_got", "served_reads", "served_writes", "served_atomics"})
    nic[name] = integer();
  nic["commands_open"] = nic["commands_waiting"] = reference("queue_depth");
  Json locks = {{"node", text()}, {"times", list(integer())}};
  for (const char* name :
       {"stores", "degraded", "updates", "held", "max", "max_together", "unlocked", "total_ps", "max_ps"})
    locks[name] = integer();
  return object({{"design", text()},
                 {"locks", list(object(locks))},
                 {"threads", list(object(thread, {"l2", "completion_queues"}))},
                 {"processes", list(object(process, {"clock_ps", "event_ps"}))},
                 {"nics", list(object(nic))}},
                {"locks", "processes"});
}

Json system() {
  const Json device = object({{"gpu", text()}, {"config_hash", hash()}, {"core_khz", integer()}});
  const Json link = object(
      {{"from", text()},
       {"to", text()},
       {"kind", text()},
       {"count", integer()},
       {"bytes_per_second", integer()},
       {"messages", integer()},
       {"bytes", integer()},
       {"data_bytes", integer()},
       {"busy_ps", described(integer(), "ps", "bytes / bytes_per_second")},
       {"utilisation", described(number(), "", "busy_ps / the run's time, six decimals")},
       {"request_stall_ps", described(integer(), "ps",
                                      "time in which a request could have begun but for credits of the "
                                      "receive buffer, and nothing else was sent")},
       {"reply_stall_ps", described(integer(), "ps", "the same for replies and acknowledgements")},
       {"energy_pj", integer()}},
      {"energy_pj"});
  return object({{"name", text()}, {"devices", list(device)}, {"links", list(link)}, {"network", network()}},
                {"network"});
}

/// With --sample: values with the half-widths of their intervals.
Json sampling() {
  Json quantity = list({{"type", "number"}});
  quantity.update({{"minItems", 2}, {"maxItems", 2}});
  Json estimates = {{"cycles", quantity}, {"time_ns", quantity}};
  for (const Descriptor& d : descriptors()) estimates[std::string(d.name)] = quantity;
  const Json group = object({{"name", text()},
                             {"first_id", integer()},
                             {"launches", integer()},
                             {"timed", integer()},
                             {"warp_instructions", integer()},
                             {"model", text()},
                             {"cycles", quantity}});
  return object({{"error", number()},
                 {"confidence", number()},
                 {"seed", integer()},
                 {"warm_up", integer()},
                 {"launches", integer()},
                 {"launches_timed", integer()},
                 {"ctas", integer()},
                 {"ctas_timed", integer()},
                 {"overlap", flag()},
                 {"estimates", object(std::move(estimates))},
                 {"groups", list(group)}});
}

Json root_properties() {
  Json p;
  p["schema"] = described({{"enum", {1, 2}}}, "", "2: of several devices");
  p["version"] = described(text(), "", "of the program that wrote it");
  p["gpu"] = text();
  p["config_hash"] = hash();
  p["trace"] = object({{"name", text()}, {"hash", hash()}});
  p["kernels"] = list(reference("kernel"));
  p["copies"] = list(reference("copy"));
  p["total"] = reference("total");
  p["unattributed"] = reference("unattributed");
  p["overrides"] = map_of(text());
  p["core_khz"] = integer();
  p["total_cycles"] = integer();
  p["partial"] = flag();
  p["partial_reason"] = {
      {"enum",
       {"", "interrupted", "max-cycles", "max-instructions", "deadlock", "program", "running", "error"}}};
  p["energy_source"] = described(text(), "", "of the coefficients; none: there is no energy");
  p["unknown_opcodes"] = map_of(integer());
  p["remarks"] = list(text());
  p["managed"] = {{"anyOf", {reference("managed"), list(reference("managed"))}}};
  p["system"] = reference("system");
  p["sampling"] = reference("sampling");
  p["intervals"] = object({{"columns", list(text())}, {"rows", list(list(integer()))}});
  return p;
}

}  // namespace

std::string json_schema() {
  Json root = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
               {"title", "stats.json of lockstep"},
               {"description",
                "Generated by `lockstep stats --schema`. Later versions may add properties; docs/stats.md "
                "says more of each."}};
  root.update(object(root_properties(), {"managed", "system", "sampling", "intervals"}));
  root["$defs"] = {{"kernel", kernel()},
                   {"copy", copy()},
                   {"total", total()},
                   {"unattributed", unattributed()},
                   {"managed", managed()},
                   {"network_operations", network_operations()},
                   {"queue_depth", queue_depth()},
                   {"system", system()},
                   {"energy", energy()},
                   {"sampling", sampling()}};
  for (auto& [name, group] : groups()) root["$defs"][name] = std::move(group);
  return root.dump(1) + "\n";
}

}  // namespace lockstep::stats
