#include "libraries/fft/plan.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "libraries/common/error.hpp"
#include "libraries/common/kernels.hpp"

namespace lockstep::libraries::fft {

std::string_view embedded_ptx(std::string_view file);

namespace {

Kernels& kernels() {
  static auto& all = *new Kernels(embedded_ptx("fft"));
  return all;
}

void* upload(const void* values, std::size_t bytes) {
  void* memory = nullptr;
  check(runtime().cudaMalloc(&memory, bytes), "cufft: memory for a table");
  check(runtime().cudaMemcpy(memory, values, bytes, kHostToDevice), "cufft: copying a table");
  return memory;
}

}  // namespace

Plan::~Plan() { release(); }

void Plan::release() {
  for (const auto& entry : tables_) runtime().cudaFree(entry.second);
  tables_.clear();
  if (own_work_ != nullptr) runtime().cudaFree(own_work_);
  own_work_ = nullptr;
}

void Plan::make(const Request& request) {
  const std::lock_guard lock(mutex_);
  if (schedules_) throw Refused{kInvalidPlan};
  Schedules schedules(request);
  check(runtime().cudaGetDevice(&device_), "cudaGetDevice");
  schedules_.emplace(std::move(schedules));
  try {
    add_tables(schedules_->apart);
    add_tables(schedules_->in_place);
    if (automatic_ && schedules_->work_bytes() > 0)
      check(runtime().cudaMalloc(&own_work_, schedules_->work_bytes()), "cufft: memory for a work area");
  } catch (...) {
    schedules_.reset();
    release();
    throw;
  }
}

void Plan::add_tables(const Schedule& schedule) {
  for (const Step& step : schedule.steps)
    for (const Table* wanted :
         {&step.roots, &step.in_factors, &step.out_factors, &step.low_twiddles, &step.high_twiddles})
      if (wanted->of != 0 && tables_.count(*wanted) == 0) add_table(*wanted);
}

void Plan::add_table(const Table& table) {
  const std::vector<double> values = make_table(table);
  if (schedules_->twice) {
    tables_[table] = upload(values.data(), values.size() * sizeof(double));
  } else {
    const std::vector<float> rounded(values.begin(), values.end());
    tables_[table] = upload(rounded.data(), rounded.size() * sizeof(float));
  }
}

const void* Plan::table(const Table& which) const { return which.of == 0 ? nullptr : tables_.at(which); }

void Plan::execute(int type, const void* in, void* out, int direction) {
  const std::lock_guard lock(mutex_);
  if (!schedules_) throw Refused{kInvalidPlan};
  if (schedules_->type != type) throw Refused{kInvalidType};
  if (in == nullptr || out == nullptr || (direction != kForward && direction != kInverse))
    throw Refused{kInvalidValue};
  const Schedule& schedule = in == out ? schedules_->in_place : schedules_->apart;
  auto* const work = static_cast<char*>(given_work_ != nullptr ? given_work_ : own_work_);
  if (schedule.work_areas > 0 && work == nullptr) throw Refused{kNoWorkspace};
  const std::size_t area = schedule.work_elements * (schedules_->twice ? 16 : 8);
  void* const places[] = {const_cast<void*>(in), out, work, work + area};
  const OnDevice on_device(device_);
  for (const Step& step : schedule.steps) launch(step, places, direction == kInverse);
}

void Plan::launch(const Step& step, void* const* places, bool inverse) const {
  Pass pass = step.pass;
  pass.in = places[static_cast<int>(step.from)];
  pass.out = places[static_cast<int>(step.to)];
  pass.roots = table(step.roots);
  pass.in_factors = table(step.in_factors);
  pass.out_factors = table(step.out_factors);
  pass.twiddles_low = table(step.low_twiddles);
  pass.twiddles_high = table(step.high_twiddles);
  pass.conjugate_in ^= inverse && step.begins_axis;
  pass.conjugate_out ^= inverse && step.ends_axis;
  const std::string name = std::string(step.wide ? "lockstep_fft_wide_pass_" : "lockstep_fft_pass_") +
                           (schedules_->twice ? "d" : "f");
  kernels().launch(name.c_str(), {step.blocks, 1, 1}, {step.threads, 1, 1}, step.shared_bytes, stream_, pass);
}

void Plan::set_stream(Stream stream) {
  const std::lock_guard lock(mutex_);
  stream_ = stream;
}

void Plan::set_work_area(void* area) {
  const std::lock_guard lock(mutex_);
  if (own_work_ != nullptr && area != nullptr) {
    check(runtime().cudaFree(own_work_), "cufft: freeing a work area");
    own_work_ = nullptr;
  }
  given_work_ = area;
}

void Plan::set_auto_allocation(bool automatic) {
  const std::lock_guard lock(mutex_);
  automatic_ = automatic;
}

std::size_t Plan::work_bytes() const {
  const std::lock_guard lock(mutex_);
  return schedules_ ? schedules_->work_bytes() : 0;
}

}  // namespace lockstep::libraries::fft
