#include "messages/pmpi/collective_calls.hpp"

namespace lockstep_pmpi {
namespace {

using Sizes = std::vector<std::uint64_t>;

/// Of the group that the counts are for.
std::size_t size_of(MPI_Comm c) {
  int size = 0, is_inter = 0;
  PMPI_Comm_test_inter(c, &is_inter);
  is_inter != 0 ? PMPI_Comm_remote_size(c, &size) : PMPI_Comm_size(c, &size);
  return static_cast<std::size_t>(size);
}

bool is_root(MPI_Comm c, int root) {
  int rank = 0;
  PMPI_Comm_rank(c, &rank);
  return rank == root;
}

Sizes each(MPI_Comm c, std::uint64_t bytes) { return Sizes(size_of(c), bytes); }
Sizes each(MPI_Comm c, const int* counts, MPI_Datatype type) {
  Sizes bytes;
  for (std::size_t i = 0; i < size_of(c); ++i) bytes.push_back(bytes_of(counts[i], type));
  return bytes;
}

/// A process's block, whichever of its two buffers it is said for.
std::uint64_t block(const void* send, int sn, MPI_Datatype st, int rn, MPI_Datatype rt) {
  return send == MPI_IN_PLACE ? bytes_of(rn, rt) : bytes_of(sn, st);
}

void add_cartesian(MPI_Comm c, CollectiveCall& call) {
  int dimensions = 0;
  PMPI_Cartdim_get(c, &dimensions);
  for (int d = 0; d < dimensions; ++d) {
    int before = MPI_PROC_NULL, after = MPI_PROC_NULL;
    PMPI_Cart_shift(c, d, 1, &before, &after);
    for (std::vector<int>* const list : {&call.to, &call.from}) {
      list->push_back(before);
      list->push_back(after);
    }
  }
}

void add_graph(MPI_Comm c, CollectiveCall& call) {
  int rank = 0, count = 0;
  PMPI_Comm_rank(c, &rank);
  PMPI_Graph_neighbors_count(c, rank, &count);
  call.to.resize(static_cast<std::size_t>(count));
  PMPI_Graph_neighbors(c, rank, count, call.to.data());
  call.from = call.to;
}

void add_distributed_graph(MPI_Comm c, CollectiveCall& call) {
  int in = 0, out = 0, weighted = 0;
  PMPI_Dist_graph_neighbors_count(c, &in, &out, &weighted);
  call.from.resize(static_cast<std::size_t>(in));
  call.to.resize(static_cast<std::size_t>(out));
  std::vector<int> from_weights(call.from.size()), to_weights(call.to.size());
  PMPI_Dist_graph_neighbors(c, in, call.from.data(), from_weights.data(), out, call.to.data(),
                            to_weights.data());
}

/// `bytes(i)`: to neighbour i. Edges to no process are left out.
template <class Bytes>
CollectiveCall to_neighbors(const void* s, void* r, MPI_Comm c, const Bytes& bytes) {
  CollectiveCall call{kNeighborhood, c, 0, s, r};
  int topology = MPI_UNDEFINED;
  PMPI_Topo_test(c, &topology);
  if (topology == MPI_CART) add_cartesian(c, call);
  if (topology == MPI_GRAPH) add_graph(c, call);
  if (topology == MPI_DIST_GRAPH) add_distributed_graph(c, call);
  for (std::size_t i = 0; i < call.to.size(); ++i)
    if (call.to[i] != MPI_PROC_NULL) call.bytes.push_back(bytes(i));
  std::erase(call.to, MPI_PROC_NULL);
  std::erase(call.from, MPI_PROC_NULL);
  return call;
}

}  // namespace

CollectiveCall barrier(MPI_Comm c) { return {"MPI_Barrier", c}; }
CollectiveCall broadcast(void* b, int n, MPI_Datatype t, int root, MPI_Comm c) {
  return {"MPI_Bcast", c, root, b, b, {bytes_of(n, t)}};
}
CollectiveCall reduce(const void* s, void* r, int n, MPI_Datatype t, int root, MPI_Comm c) {
  return {"MPI_Reduce", c, root, s, is_root(c, root) ? r : s, {bytes_of(n, t)}};
}
CollectiveCall all_reduce(const void* s, void* r, int n, MPI_Datatype t, MPI_Comm c) {
  return {"MPI_Allreduce", c, 0, s, r, {bytes_of(n, t)}};
}
CollectiveCall reduce_scatter(const void* s, void* r, int n, MPI_Datatype t, MPI_Comm c) {
  return {"MPI_Reduce_scatter", c, 0, s, r, each(c, bytes_of(n, t))};
}
CollectiveCall reduce_scatter(const void* s, void* r, const int* n, MPI_Datatype t, MPI_Comm c) {
  return {"MPI_Reduce_scatter", c, 0, s, r, each(c, n, t)};
}
CollectiveCall scan(const void* s, void* r, int n, MPI_Datatype t, MPI_Comm c) {
  return {"MPI_Scan", c, 0, s, r, {bytes_of(n, t)}};
}
CollectiveCall exclusive_scan(const void* s, void* r, int n, MPI_Datatype t, MPI_Comm c) {
  return {"MPI_Exscan", c, 0, s, r, {bytes_of(n, t)}};
}
CollectiveCall all_gather(const void* s, void* r, int n, MPI_Datatype t, MPI_Comm c) {
  return {"MPI_Allgather", c, 0, s, r, each(c, bytes_of(n, t))};
}
CollectiveCall all_gather(const void* s, void* r, const int* n, MPI_Datatype t, MPI_Comm c) {
  return {"MPI_Allgather", c, 0, s, r, each(c, n, t)};
}
CollectiveCall all_to_all(const void* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt,
                          MPI_Comm c) {
  return {"MPI_Alltoall", c, 0, s, r, each(c, block(s, sn, st, rn, rt))};
}
CollectiveCall all_to_all(const void* s, const int* sn, MPI_Datatype st, void* r, const int* rn,
                          MPI_Datatype rt, MPI_Comm c) {
  return {"MPI_Alltoall", c, 0, s, r, s == MPI_IN_PLACE ? each(c, rn, rt) : each(c, sn, st)};
}
CollectiveCall all_to_all(const void* s, const int* sn, const MPI_Datatype* st, void* r, const int* rn,
                          const MPI_Datatype* rt, MPI_Comm c) {
  CollectiveCall call{"MPI_Alltoall", c, 0, s, r};
  for (std::size_t i = 0; i < size_of(c); ++i)
    call.bytes.push_back(s == MPI_IN_PLACE ? bytes_of(rn[i], rt[i]) : bytes_of(sn[i], st[i]));
  return call;
}
CollectiveCall gather(const void* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt, int root,
                      MPI_Comm c) {
  return {"MPI_Gather", c, root, s, is_root(c, root) ? r : s, {block(s, sn, st, rn, rt)}};
}
CollectiveCall gather(const void* s, int sn, MPI_Datatype st, void* r, int root, MPI_Comm c) {
  const std::uint64_t bytes = s == MPI_IN_PLACE ? 0 : bytes_of(sn, st);
  return {"MPI_Gather", c, root, s, is_root(c, root) ? r : s, {bytes}};
}
CollectiveCall scatter(const void* s, int sn, MPI_Datatype st, void* r, int root, MPI_Comm c) {
  const bool mine = is_root(c, root);
  return {"MPI_Scatter", c, root, mine ? s : r, r, each(c, mine ? bytes_of(sn, st) : 0)};
}
CollectiveCall scatter(const void* s, const int* sn, MPI_Datatype st, void* r, int root, MPI_Comm c) {
  const bool mine = is_root(c, root);
  return {"MPI_Scatter", c, root, mine ? s : r, r, mine ? each(c, sn, st) : each(c, 0)};
}
CollectiveCall neighbors(const void* s, int n, MPI_Datatype t, void* r, MPI_Comm c) {
  return to_neighbors(s, r, c, [&](std::size_t) { return bytes_of(n, t); });
}
CollectiveCall neighbors(const void* s, const int* n, MPI_Datatype t, void* r, MPI_Comm c) {
  return to_neighbors(s, r, c, [&](std::size_t i) { return bytes_of(n[i], t); });
}
CollectiveCall neighbors(const void* s, const int* n, const MPI_Datatype* t, void* r, MPI_Comm c) {
  return to_neighbors(s, r, c, [&](std::size_t i) { return bytes_of(n[i], t[i]); });
}

}  // namespace lockstep_pmpi
