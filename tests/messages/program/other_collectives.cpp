// Collective calls that reduce to parts, those with a request, and those of neighbours.
#include <vector>

#include "checks.hpp"

namespace mpi_calls {
namespace {

struct Ring {
  explicit Ring(MPI_Comm c) : communicator(c) {
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &members);
    sum = members * (members - 1) / 2;
    counts.assign(static_cast<std::size_t>(members), 1);
    types.assign(counts.size(), MPI_INT);
    for (int i = 0; i < members; ++i) {
      places.push_back(i);
      bytes.push_back(4 * i);
    }
    own.assign(counts.size(), rank);
    got.assign(counts.size(), -1);
  }
  /// What every process gave to all.
  void check_all(const char* what) const {
    for (int i = 0; i < members; ++i) check(got[static_cast<std::size_t>(i)] == i, what);
  }
  MPI_Comm communicator;
  int rank = 0, members = 0, sum = 0;
  std::vector<int> counts, places, bytes, own, got;
  std::vector<MPI_Datatype> types;
};

}  // namespace

void other_collectives(MPI_Comm c) {
  Ring r(c);
  int value = -1;
  MPI_Reduce_scatter(r.own.data(), &value, r.counts.data(), MPI_INT, MPI_SUM, c);
  check(value == r.sum, "MPI_Reduce_scatter");
  MPI_Reduce_scatter_block(r.own.data(), &value, 1, MPI_INT, MPI_SUM, c);
  check(value == r.sum, "MPI_Reduce_scatter_block");
  MPI_Scan(&r.rank, &value, 1, MPI_INT, MPI_SUM, c);
  check(value == r.rank * (r.rank + 1) / 2, "MPI_Scan");
  MPI_Exscan(&r.rank, &value, 1, MPI_INT, MPI_SUM, c);
  check(r.rank == 0 || value == r.rank * (r.rank - 1) / 2, "MPI_Exscan");
  MPI_Alltoallw(r.own.data(), r.counts.data(), r.bytes.data(), r.types.data(), r.got.data(), r.counts.data(),
                r.bytes.data(), r.types.data(), c);
  r.check_all("MPI_Alltoallw");
}

void nonblocking_collectives(MPI_Comm c) {
  Ring r(c);
  MPI_Request q[4];
  int root = r.rank == 0 ? 42 : 0, sum = -1, all = -1;
  MPI_Ibarrier(c, &q[0]);
  MPI_Ibcast(&root, 1, MPI_INT, 0, c, &q[1]);
  MPI_Ireduce(&r.rank, &sum, 1, MPI_INT, MPI_SUM, 0, c, &q[2]);
  MPI_Iallreduce(&r.rank, &all, 1, MPI_INT, MPI_SUM, c, &q[3]);
  MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
  check(root == 42 && (r.rank != 0 || sum == r.sum) && all == r.sum, "MPI_Iallreduce");
  const auto wait = [&](const char* what) {
    int flag = 0;
    while (flag == 0) MPI_Test(&q[0], &flag, MPI_STATUS_IGNORE);
    r.check_all(what);
    r.got.assign(r.got.size(), -1);
  };
  MPI_Iallgather(&r.rank, 1, MPI_INT, r.got.data(), 1, MPI_INT, c, &q[0]);
  wait("MPI_Iallgather");
  MPI_Iallgatherv(&r.rank, 1, MPI_INT, r.got.data(), r.counts.data(), r.places.data(), MPI_INT, c, &q[0]);
  wait("MPI_Iallgatherv");
  MPI_Ialltoall(r.own.data(), 1, MPI_INT, r.got.data(), 1, MPI_INT, c, &q[0]);
  wait("MPI_Ialltoall");
  MPI_Ialltoallv(r.own.data(), r.counts.data(), r.places.data(), MPI_INT, r.got.data(), r.counts.data(),
                 r.places.data(), MPI_INT, c, &q[0]);
  wait("MPI_Ialltoallv");
  MPI_Ialltoallw(r.own.data(), r.counts.data(), r.bytes.data(), r.types.data(), r.got.data(), r.counts.data(),
                 r.bytes.data(), r.types.data(), c, &q[0]);
  wait("MPI_Ialltoallw");
  MPI_Igather(&r.rank, 1, MPI_INT, r.got.data(), 1, MPI_INT, 0, c, &q[0]);
  MPI_Wait(&q[0], MPI_STATUS_IGNORE);
  int one = -1;
  MPI_Iscatter(r.got.data(), 1, MPI_INT, &one, 1, MPI_INT, 0, c, &q[0]);
  MPI_Wait(&q[0], MPI_STATUS_IGNORE);
  check(one == r.rank, "MPI_Iscatter");
  MPI_Igatherv(&r.rank, 1, MPI_INT, r.got.data(), r.counts.data(), r.places.data(), MPI_INT, 0, c, &q[0]);
  MPI_Wait(&q[0], MPI_STATUS_IGNORE);
  MPI_Iscatterv(r.got.data(), r.counts.data(), r.places.data(), MPI_INT, &one, 1, MPI_INT, 0, c, &q[0]);
  MPI_Wait(&q[0], MPI_STATUS_IGNORE);
  check(one == r.rank, "MPI_Iscatterv");
  int values[4] = {-1, -1, -1, -1};
  MPI_Ireduce_scatter(r.own.data(), &values[0], r.counts.data(), MPI_INT, MPI_SUM, c, &q[0]);
  MPI_Ireduce_scatter_block(r.own.data(), &values[1], 1, MPI_INT, MPI_SUM, c, &q[1]);
  MPI_Iscan(&r.rank, &values[2], 1, MPI_INT, MPI_SUM, c, &q[2]);
  MPI_Iexscan(&r.rank, &values[3], 1, MPI_INT, MPI_SUM, c, &q[3]);
  MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
  check(values[0] == r.sum && values[1] == r.sum && values[2] == r.rank * (r.rank + 1) / 2, "MPI_Iscan");
}

namespace {

/// In and out: the ring's two neighbours.
void exchange(MPI_Comm c, int before, int behind, const char* what) {
  int out[2] = {me, me + 100}, in[2] = {-1, -1}, counts[2] = {1, 1}, places[2] = {0, 1};
  MPI_Aint bytes[2] = {0, 4};
  MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  MPI_Request q[5];
  const auto right = [&](bool same) {
    const bool first = before == MPI_PROC_NULL || in[0] == before + (same ? 0 : 100);
    check(first && (behind == MPI_PROC_NULL || in[1] == behind), what);
    in[0] = in[1] = -1;
  };
  MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, c);
  right(true);
  MPI_Neighbor_allgatherv(out, 1, MPI_INT, in, counts, places, MPI_INT, c);
  right(true);
  MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, c);
  right(false);
  MPI_Neighbor_alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, c);
  right(false);
  MPI_Neighbor_alltoallw(out, counts, bytes, types, in, counts, bytes, types, c);
  right(false);
  MPI_Ineighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, c, &q[0]);
  MPI_Wait(&q[0], MPI_STATUS_IGNORE);
  right(true);
  MPI_Ineighbor_allgatherv(out, 1, MPI_INT, in, counts, places, MPI_INT, c, &q[0]);
  MPI_Wait(&q[0], MPI_STATUS_IGNORE);
  right(true);
  MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, c, &q[0]);
  MPI_Wait(&q[0], MPI_STATUS_IGNORE);
  right(false);
  MPI_Ineighbor_alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, c, &q[0]);
  MPI_Wait(&q[0], MPI_STATUS_IGNORE);
  right(false);
  MPI_Ineighbor_alltoallw(out, counts, bytes, types, in, counts, bytes, types, c, &q[0]);
  MPI_Wait(&q[0], MPI_STATUS_IGNORE);
  right(false);
}

}  // namespace

void neighborhoods() {
  int dims[1] = {size}, periods[1] = {0}, before = 0, behind = 0;
  MPI_Comm line = MPI_COMM_NULL, graph = MPI_COMM_NULL, adjacent = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &line);
  MPI_Cart_shift(line, 0, 1, &before, &behind);
  exchange(line, before, behind, "a neighbourhood of a line");
  // The edges to all processes' two neighbours, one process's behind another's.
  std::vector<int> index, edges;
  for (int p = 0; p < size; ++p) {
    edges.push_back((p + size - 1) % size);
    edges.push_back((p + 1) % size);
    index.push_back(static_cast<int>(edges.size()));
  }
  MPI_Graph_create(MPI_COMM_WORLD, size, index.data(), edges.data(), 0, &graph);
  exchange(graph, after(-1), after(1), "a neighbourhood of a graph");
  int ends[2] = {after(-1), after(1)};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, ends, MPI_UNWEIGHTED, 2, ends, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &adjacent);
  exchange(adjacent, after(-1), after(1), "a neighbourhood of a distributed graph");
  MPI_Comm_free(&adjacent);
  int degree = 2;
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &me, &degree, ends, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &adjacent);
  MPI_Barrier(adjacent);
  for (MPI_Comm* const c : {&line, &graph, &adjacent}) MPI_Comm_free(c);
}

}  // namespace mpi_calls
