// Requests that are started again and again, and messages that a probe has matched.
#include <vector>

#include "checks.hpp"

namespace mpi_calls {

void persistent_requests() {
  std::vector<int> out(5000), in(5000);
  MPI_Request requests[3];
  MPI_Recv_init(in.data(), 5000, MPI_INT, after(-1), 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(out.data(), 5000, MPI_INT, after(1), 3, MPI_COMM_WORLD, &requests[1]);
  MPI_Send_init(out.data(), 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &requests[2]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);  // inactive
  for (int round = 0; round < 4; ++round) {
    out[4999] = 10 * round + me;
    if (round % 2 == 0) {
      MPI_Startall(3, requests);
      MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    } else {
      int flag = 0;
      MPI_Start(&requests[1]);
      MPI_Start(&requests[0]);
      while (flag == 0) MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
      MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
    check(in[4999] == 10 * round + after(-1) && requests[0] != MPI_REQUEST_NULL, "MPI_Start");
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
  MPI_Ssend_init(out.data(), 1, MPI_INT, after(1), 4, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in.data(), 1, MPI_INT, after(-1), 4, MPI_COMM_WORLD, &requests[1]);
  MPI_Start(&requests[0]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Request_free(&requests[0]);
}

void matched_probes() {
  int out[2] = {me, me + 100}, first = -1, second = -1, flag = 0;
  MPI_Request requests[3];
  MPI_Isend(&out[0], 1, MPI_INT, after(1), 6, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&out[1], 1, MPI_INT, after(1), 6, MPI_COMM_WORLD, &requests[1]);
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Mprobe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Recv(&second, 1, MPI_INT, after(-1), 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // overtakes
  MPI_Mrecv(&first, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  check(first == after(-1) && second == after(-1) + 100, "MPI_Mrecv");
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Isend(&out[0], 1, MPI_INT, after(1), 7, MPI_COMM_WORLD, &requests[0]);
  while (flag == 0) MPI_Improbe(after(-1), MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
  MPI_Imrecv(&second, 1, MPI_INT, &message, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  check(second == after(-1), "MPI_Imrecv");
}

}  // namespace mpi_calls
