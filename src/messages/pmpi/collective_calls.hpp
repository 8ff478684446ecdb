// What each collective call says of itself, whether it blocks or has a request.
#pragma once

#include "messages/pmpi/log.hpp"

namespace lockstep_pmpi {

[[nodiscard]] CollectiveCall barrier(MPI_Comm c);
[[nodiscard]] CollectiveCall broadcast(void* b, int n, MPI_Datatype t, int root, MPI_Comm c);
[[nodiscard]] CollectiveCall reduce(const void* s, void* r, int n, MPI_Datatype t, int root, MPI_Comm c);
[[nodiscard]] CollectiveCall all_reduce(const void* s, void* r, int n, MPI_Datatype t, MPI_Comm c);
/// Every process's block has `n` elements.
[[nodiscard]] CollectiveCall reduce_scatter(const void* s, void* r, int n, MPI_Datatype t, MPI_Comm c);
[[nodiscard]] CollectiveCall reduce_scatter(const void* s, void* r, const int* n, MPI_Datatype t, MPI_Comm c);
[[nodiscard]] CollectiveCall scan(const void* s, void* r, int n, MPI_Datatype t, MPI_Comm c);
[[nodiscard]] CollectiveCall exclusive_scan(const void* s, void* r, int n, MPI_Datatype t, MPI_Comm c);
[[nodiscard]] CollectiveCall all_gather(const void* s, void* r, int n, MPI_Datatype t, MPI_Comm c);
[[nodiscard]] CollectiveCall all_gather(const void* s, void* r, const int* n, MPI_Datatype t, MPI_Comm c);
[[nodiscard]] CollectiveCall all_to_all(const void* s, int sn, MPI_Datatype st, void* r, int rn,
                                        MPI_Datatype rt, MPI_Comm c);
[[nodiscard]] CollectiveCall all_to_all(const void* s, const int* sn, MPI_Datatype st, void* r, const int* rn,
                                        MPI_Datatype rt, MPI_Comm c);
[[nodiscard]] CollectiveCall all_to_all(const void* s, const int* sn, const MPI_Datatype* st, void* r,
                                        const int* rn, const MPI_Datatype* rt, MPI_Comm c);
[[nodiscard]] CollectiveCall gather(const void* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt,
                                    int root, MPI_Comm c);
/// The blocks of the processes may differ.
[[nodiscard]] CollectiveCall gather(const void* s, int sn, MPI_Datatype st, void* r, int root, MPI_Comm c);
[[nodiscard]] CollectiveCall scatter(const void* s, int sn, MPI_Datatype st, void* r, int root, MPI_Comm c);
[[nodiscard]] CollectiveCall scatter(const void* s, const int* sn, MPI_Datatype st, void* r, int root,
                                     MPI_Comm c);
/// To each neighbour as much: of both all-gathers and of the all-to-all with one count.
[[nodiscard]] CollectiveCall neighbors(const void* s, int n, MPI_Datatype t, void* r, MPI_Comm c);
[[nodiscard]] CollectiveCall neighbors(const void* s, const int* n, MPI_Datatype t, void* r, MPI_Comm c);
[[nodiscard]] CollectiveCall neighbors(const void* s, const int* n, const MPI_Datatype* t, void* r,
                                       MPI_Comm c);

}  // namespace lockstep_pmpi
