#include "gpu/program.hpp"

namespace lockstep::gpu {

const Program::News& ProgramLog::listen(const HostClock& clock) {
  if (heard_ == news_.size()) news_.push_back(program_->listen(clock));
  return news_[heard_++];
}

ProgramSource::ProgramSource(ProgramLog& program, const config::GpuConfig& config, const RunOptions& options,
                             Plan& plan, core::Dispatcher& dispatcher)
    : program_(&program),
      listens_(options.managed.kind == ManagedOptions::Kind::kTrace),
      plan_(&plan),
      dispatcher_(&dispatcher),
      planner_(config, options.kernels, plan, options.managed) {}

void ProgramSource::more(core::HostQueue& queue) {
  const Program::News& news = program_->listen(HostClock(*dispatcher_));
  std::vector<core::HostCommand> commands;
  for (const trace::Command& c : news.commands) {
    if (c.kind == trace::Command::Kind::kManage && listens_ && !plan_->manages) {
      plan_->needs_gmmu = true;
      return queue.close();
    }
    add(c, commands);
  }
  plan_->remarks.assign(planner_.remarks().begin(), planner_.remarks().end());
  queue.append(commands, plan_->manages ? core::HostQueue::Until::kTaken : news.until);
  if (news.ended) queue.close();
}

void ProgramSource::add(const trace::Command& c, std::vector<core::HostCommand>& commands) {
  if (c.kind == trace::Command::Kind::kManage && listens_)
    manage(plan_->managed, c);  // the machine learns of it at the end of the window
  const bool is_kernel = c.kind == trace::Command::Kind::kKernel;
  const trace::KernelHeader* header = is_kernel ? &program_->program().header(c.kernel) : nullptr;
  const bool runs = planner_.add(c, header, commands);
  if (!is_kernel) return;
  core::LaunchPlan launch;  // in the order of their indices; those left out take up their place
  if (runs) launch = planner_.launch(*header);
  launch.log_clocks = runs && program_->program().asks_clocks(c.kernel);
  dispatcher_->add_plan(launch);
  if (runs) ++plan_->kernel_commands;
}

}  // namespace lockstep::gpu
