// Pivots of 32 bits, which factorisations have, as the 64 bits of the generic interface, and back.
extern "C" __global__ void __launch_bounds__(256)
    lockstep_solver_widen(const int* from, long long* to, int count) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < count) to[i] = from[i];
}
extern "C" __global__ void __launch_bounds__(256)
    lockstep_solver_narrow(const long long* from, int* to, int count) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < count) to[i] = static_cast<int>(from[i]);
}
