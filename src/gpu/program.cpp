#include "gpu/program.hpp"

namespace lockstep::gpu {

ProgramSource::ProgramSource(Program& program, const config::GpuConfig& config, const IdRanges& selection,
                             Plan& plan, core::Dispatcher& dispatcher)
    : program_(&program), plan_(&plan), dispatcher_(&dispatcher), planner_(config, selection, plan.managed) {}

void ProgramSource::more(core::HostQueue& queue) {
  const Program::News news = program_->listen(HostClock(*dispatcher_));
  std::vector<core::HostCommand> commands;
  for (const trace::Command& c : news.commands) {
    const bool is_kernel = c.kind == trace::Command::Kind::kKernel;
    const trace::KernelHeader* header = is_kernel ? &program_->header(c.kernel) : nullptr;
    const bool runs = planner_.add(c, header, commands);
    if (is_kernel) {  // in the order of their indices; those left out take up their place
      core::LaunchPlan launch;
      if (runs) launch = planner_.launch(*header);
      launch.log_clocks = runs && program_->asks_clocks(c.kernel);
      dispatcher_->add_plan(launch);
    }
    if (runs && is_kernel) ++plan_->kernel_commands;
  }
  plan_->remarks.assign(planner_.remarks().begin(), planner_.remarks().end());
  queue.append(commands, news.until);
  if (news.ended) queue.close();
}

}  // namespace lockstep::gpu
