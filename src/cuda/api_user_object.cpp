// Objects of the program that graphs keep alive.
#include "cuda/api.hpp"
#include "cuda/graph_functions.hpp"

namespace lockstep::cuda {

LOCKSTEP_CUDA_API cudaUserObjectCreate(UserObject** object, void* data, abi::HostFn destructor,
                                       unsigned count, unsigned flags) {
  return api([&](Runtime& rt) {
    constexpr unsigned kNoDestructorSync = 1;  // the only flag, which has to be given
    require(object != nullptr && destructor != nullptr && flags == kNoDestructorSync);
    *object = rt.user_objects.create(data, destructor, count);
  });
}
LOCKSTEP_CUDA_API cudaUserObjectRetain(UserObject* object, unsigned count) {
  return api([&](Runtime& rt) { rt.user_objects.retain(object, count); });
}
LOCKSTEP_CUDA_API cudaUserObjectRelease(UserObject* object, unsigned count) {
  return api([&](Runtime& rt) { rt.user_objects.release(object, count); });
}
LOCKSTEP_CUDA_API cudaGraphRetainUserObject(void* graph, UserObject* object, unsigned count, unsigned flags) {
  return api([&](Runtime& rt) {
    constexpr unsigned kMove = 1;  // the program's own references become the graph's
    require(flags <= kMove);
    rt.graphs.at(graph).objects.retain(rt.user_objects.at(object), count);
    if (flags == kMove) rt.user_objects.release(object, count);
  });
}
LOCKSTEP_CUDA_API cudaGraphReleaseUserObject(void* graph, UserObject* object, unsigned count) {
  return api([&](Runtime& rt) { rt.graphs.at(graph).objects.release(object, count); });
}

}  // namespace lockstep::cuda
