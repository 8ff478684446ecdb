// One-sided operations, with each way of ordering them.
#include <vector>

#include "checks.hpp"

namespace mpi_calls {
namespace {

constexpr int kCount = 3000;

/// Window of `kCount` integers, its own.
struct Shared {
  Shared() : values(kCount, me) {
    MPI_Win_create(values.data(), kCount * 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  }
  std::vector<int> values;
  MPI_Win window = MPI_WIN_NULL;
};

void fences(Shared& s) {
  std::vector<int> out(kCount, me + 10), in(kCount, -1);
  MPI_Win_fence(0, s.window);
  MPI_Put(out.data(), kCount / 2, MPI_INT, after(1), 0, kCount / 2, MPI_INT, s.window);
  MPI_Get(in.data(), 4, MPI_INT, after(-1), kCount - 4, 4, MPI_INT, s.window);
  MPI_Put(out.data(), 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, s.window);
  MPI_Win_fence(0, s.window);
  check(s.values[0] == after(-1) + 10 && s.values[kCount / 2 - 1] == after(-1) + 10, "MPI_Put");
  check(in[3] == after(-1), "MPI_Get");
  MPI_Win_fence(0, s.window);  // what follows must not come before this is checked
  MPI_Accumulate(out.data(), 5, MPI_INT, after(1), 0, 5, MPI_INT, MPI_SUM, s.window);
  MPI_Put(out.data(), 1, MPI_INT, me, kCount - 1, 1, MPI_INT, s.window);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, s.window);
  check(s.values[4] == 2 * (after(-1) + 10) && s.values[kCount - 1] == me + 10, "MPI_Accumulate");
}

/// All count in the window of process 0.
void locks(Shared& s) {
  if (me == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, s.window);
    s.values[0] = 0;
    s.values[1] = -1;
    MPI_Win_unlock(0, s.window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const int one = 1, none = -1;
  int old = -1, first = -1, sums[3] = {-1, -1, -1};
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, s.window);
  MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 0, MPI_SUM, s.window);
  MPI_Compare_and_swap(&me, &none, &first, MPI_INT, 0, 1, s.window);
  MPI_Win_flush(0, s.window);
  check(old >= 0 && old < size && first < size, "MPI_Fetch_and_op");
  MPI_Get_accumulate(&one, 1, MPI_INT, sums, 3, MPI_INT, 0, 2, 3, MPI_INT, MPI_NO_OP, s.window);
  MPI_Win_unlock(0, s.window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, s.window);
  MPI_Get(&old, 1, MPI_INT, 0, 0, 1, MPI_INT, s.window);
  MPI_Win_flush_local(0, s.window);
  check(old == size, "the sum of MPI_Fetch_and_op");
  MPI_Request requests[2];
  MPI_Rput(&me, 1, MPI_INT, after(1), 7, 1, MPI_INT, s.window, &requests[0]);
  MPI_Rget(&old, 1, MPI_INT, 0, 0, 1, MPI_INT, s.window, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Get_accumulate(&one, 1, MPI_INT, &sums, 1, MPI_INT, after(1), 8, 1, MPI_INT, MPI_MAX, s.window);
  MPI_Win_flush_all(s.window);
  MPI_Win_unlock_all(s.window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, me, MPI_MODE_NOCHECK, s.window);
  check(s.values[7] == after(-1), "MPI_Rput");
  MPI_Win_unlock(me, s.window);
  MPI_Barrier(MPI_COMM_WORLD);
}

/// To the next process, from the one before.
void epochs(Shared& s) {
  MPI_Group all, next, previous;
  MPI_Win_get_group(s.window, &all);
  const int to = after(1), from = after(-1);
  MPI_Group_incl(all, 1, &to, &next);
  MPI_Group_incl(all, 1, &from, &previous);
  const int value = me + 50;
  for (int round = 0; round < 2; ++round) {
    MPI_Win_post(previous, 0, s.window);
    MPI_Win_start(next, 0, s.window);
    MPI_Put(&value, 1, MPI_INT, to, 20 + round, 1, MPI_INT, s.window);
    MPI_Win_complete(s.window);
    int flag = round;
    if (round == 0) {
      while (flag == 0) MPI_Win_test(s.window, &flag);
    } else {
      MPI_Win_wait(s.window);
    }
    check(s.values[static_cast<std::size_t>(20 + round)] == from + 50, "MPI_Win_complete");
  }
  for (MPI_Group* const g : {&all, &next, &previous}) MPI_Group_free(g);
}

}  // namespace

void windows() {
  Shared s;
  fences(s);
  locks(s);
  epochs(s);
  MPI_Win_free(&s.window);
  long* own = nullptr;
  MPI_Win_allocate(16, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &s.window);
  own[0] = own[1] = me;
  MPI_Win_fence(0, s.window);
  const long value = me;
  MPI_Accumulate(&value, 1, MPI_LONG, after(1), 1, 1, MPI_LONG, MPI_SUM, s.window);
  MPI_Win_fence(0, s.window);
  check(own[1] == me + after(-1), "MPI_Win_allocate");
  MPI_Win_free(&s.window);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &s.window);
  int target = -1;
  MPI_Win_attach(s.window, &target, sizeof target);
  MPI_Aint mine = 0, next = 0;
  MPI_Get_address(&target, &mine);
  MPI_Sendrecv(&mine, 1, MPI_AINT, after(-1), 9, &next, 1, MPI_AINT, after(1), 9, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Win_fence(0, s.window);
  MPI_Put(&me, 1, MPI_INT, after(1), next, 1, MPI_INT, s.window);
  MPI_Win_fence(0, s.window);
  check(target == after(-1), "MPI_Win_create_dynamic");
  MPI_Win_detach(s.window, &target);
  MPI_Win_free(&s.window);
}

void window_of(void* memory) {
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(memory, 256, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  char* const own = static_cast<char*>(memory);
  MPI_Put(own, 16, MPI_INT, after(1), 16, 16, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Get(own + 192, 16, MPI_INT, after(-1), 0, 16, MPI_INT, window);
  MPI_Fetch_and_op(own, own + 64, MPI_INT, after(1), 8, MPI_MAX, window);
  MPI_Win_free(&window);
}

}  // namespace mpi_calls
