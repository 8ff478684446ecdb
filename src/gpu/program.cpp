#include "gpu/program.hpp"

namespace lockstep::gpu {

const Program::News& ProgramLog::listen(const HostClock& clock) {
  if (heard_ == news_.size()) news_.push_back(program_->listen(clock));
  return news_[heard_++];
}

ProgramSource::ProgramSource(ProgramLog& program, const config::SystemConfig& system,
                             const RunOptions& options, Plan& plan, host::Host& host)
    : program_(&program),
      listens_(options.managed.kind == ManagedOptions::Kind::kTrace),
      system_(&system),
      plan_(&plan),
      host_(&host),
      planner_(system, options.kernels, plan, options.managed) {}

void ProgramSource::more(host::HostQueue& queue) {
  const Program::News& news = program_->listen(HostClock(*host_));
  std::vector<host::HostCommand> commands;
  for (const trace::Command& c : news.commands) {
    if (c.kind == trace::Command::Kind::kManage && listens_ && !plan_->manages) {
      plan_->needs_gmmu = true;
      return queue.close();
    }
    add(c, commands);
  }
  plan_->remarks.assign(planner_.remarks().begin(), planner_.remarks().end());
  queue.append(commands, plan_->manages ? trace::Until::kTaken : news.until);
  if (news.ended) queue.close();
}

void ProgramSource::add(const trace::Command& c, std::vector<host::HostCommand>& commands) {
  if (c.kind == trace::Command::Kind::kManage && listens_)
    manage(plan_->managed, c);  // the machine learns of it at the end of the window
  place(c, *system_, plan_->apertures);
  const bool is_kernel = c.kind == trace::Command::Kind::kKernel;
  const trace::KernelHeader* header = is_kernel ? &program_->program().header(c.kernel) : nullptr;
  const bool runs = planner_.add(c, header, commands);
  if (!is_kernel) return;
  if (!runs) return;
  core::LaunchPlan launch = planner_.launch(*header, c.device);
  launch.log_clocks = program_->program().asks_clocks(c.kernel);
  host_->dispatcher(commands.back().device).set_plan(c.kernel, launch);
  ++plan_->kernel_commands;
}

}  // namespace lockstep::gpu
