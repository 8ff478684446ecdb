#include <algorithm>

#include "libraries/fft/plan.hpp"

namespace lockstep::libraries::fft {
namespace {

constexpr int kInnermost = Layout::kDimensions - 1;

void check_request(const Request& request) {
  const int types[] = {kC2C, kR2C, kC2R, kZ2Z, kD2Z, kZ2D};
  if (std::find(std::begin(types), std::end(types), request.type) == std::end(types))
    throw Refused{kInvalidType};
  if (request.rank < 1 || request.rank > 3) throw Refused{kInvalidValue};
  for (int d = 0; d < request.rank; ++d)
    if (request.n[d] < 1) throw Refused{kInvalidSize};
  if (request.batch < 1) throw Refused{kInvalidSize};
  if (request.default_layout) return;
  if (request.in_stride < 1 || request.out_stride < 1) throw Refused{kInvalidValue};
  for (int d = 1; d < request.rank; ++d)
    if (request.in_embed[d] < 1 || request.out_embed[d] < 1) throw Refused{kInvalidValue};
}

/// `extent`: elements of each axis of what is stored, of which there is `distance` from one transform to the
/// next.
Layout layout_of(int rank, const long long* extent, long long stride, long long distance) {
  Layout layout;
  layout.stride[0] = distance;
  for (int d = rank - 1; d >= 0; --d) {
    layout.stride[kInnermost - (rank - 1 - d)] = stride;
    stride *= extent[d];
  }
  return layout;
}

Layout packed(const Request& request, long long innermost) {
  long long extent[3];
  std::copy(request.n, request.n + 3, extent);
  extent[request.rank - 1] = innermost;
  long long distance = 1;
  for (int d = 0; d < request.rank; ++d) distance *= extent[d];
  return layout_of(request.rank, extent, 1, distance);
}

Kind kind_of(int type) {
  if (type == kR2C || type == kD2Z) return Kind::kRealToComplex;
  return type == kC2R || type == kZ2D ? Kind::kComplexToReal : Kind::kComplex;
}

/// Whether each line's result takes the place of its input and of no other's.
bool same_places(const Problem& problem) {
  const long long in_parts = problem.kind == Kind::kRealToComplex ? 1 : 2;
  const long long out_parts = problem.kind == Kind::kComplexToReal ? 1 : 2;
  const bool complex = problem.kind == Kind::kComplex;
  for (int d = 0; d < kInnermost; ++d)
    if (problem.size[d] > 1 && problem.in.stride[d] * in_parts != problem.out.stride[d] * out_parts)
      return false;
  const long long in = problem.in.stride[kInnermost], out = problem.out.stride[kInnermost];
  return complex ? in == out : in == 1 && out == 1;
}

}  // namespace

Problem problem_of(const Request& request, bool in_place) {
  check_request(request);
  Problem problem;
  problem.kind = kind_of(request.type);
  problem.twice = request.type >= kZ2Z;
  problem.size[0] = request.batch;
  for (int d = 0; d < request.rank; ++d) problem.size[kInnermost - (request.rank - 1 - d)] = request.n[d];
  if (!request.default_layout) {
    problem.in = layout_of(request.rank, request.in_embed, request.in_stride, request.in_distance);
    problem.out = layout_of(request.rank, request.out_embed, request.out_stride, request.out_distance);
    return problem;
  }
  const long long innermost = request.n[request.rank - 1];
  const long long half = innermost / 2 + 1;
  const long long real = in_place ? 2 * half : innermost;
  problem.in = packed(request, problem.kind == Kind::kComplex         ? innermost
                               : problem.kind == Kind::kRealToComplex ? real
                                                                      : half);
  problem.out = packed(request, problem.kind == Kind::kComplex         ? innermost
                                : problem.kind == Kind::kRealToComplex ? half
                                                                       : real);
  return problem;
}

Schedules::Schedules(const Request& request) : type(request.type), twice(request.type >= kZ2Z) {
  apart = make_schedule(problem_of(request, false), false);
  const Problem problem = problem_of(request, true);
  in_place = make_schedule(problem, !same_places(problem));
}

std::size_t Schedules::work_bytes() const {
  const std::size_t element = twice ? 16 : 8;
  const auto bytes = [&](const Schedule& schedule) {
    return static_cast<std::size_t>(schedule.work_areas) * schedule.work_elements * element;
  };
  return std::max(bytes(apart), bytes(in_place));
}

}  // namespace lockstep::libraries::fft
