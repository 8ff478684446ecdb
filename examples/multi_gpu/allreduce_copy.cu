// Ring all-reduce by copies between kernels. Usage: allreduce_copy [elements of a chunk] [graph]; a GPU has as many chunks
// as there are GPUs. With 1 for graph all of it is one CUDA graph over the GPUs: the host launches once, and not each kernel
// of each GPU.
#include "ring.hpp"

__global__ void add(float* to, const float* from, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] += from[i];
}

struct Rank {
  float *data, *inbox;  // inbox: a chunk for each step
};

void all_reduce(const std::vector<Rank>& gpus, const std::vector<cudaStream_t>& streams, int chunk) {
  const std::size_t bytes = chunk * sizeof(float);
  const int ranks = static_cast<int>(gpus.size());
  for (int step = 0; step < 2 * (ranks - 1); ++step) {
    for (int rank = 0; rank < ranks; ++rank) {
      const int next = (rank + 1) % ranks;
      CHECK(cudaSetDevice(rank));
      CHECK(cudaMemcpyPeerAsync(gpus[next].inbox + step * chunk, next,
                                gpus[rank].data + sent_chunk(rank, step, ranks) * chunk, rank, bytes, streams[rank]));
    }
    const Marks sent(streams);
    for (int rank = 0; rank < ranks; ++rank) {
      sent.wait(streams[rank], (rank + ranks - 1) % ranks);
      float* const to = gpus[rank].data + sent_chunk(rank, step + 1, ranks) * chunk;
      const float* const from = gpus[rank].inbox + step * chunk;
      CHECK(cudaSetDevice(rank));
      if (step < ranks - 1) {
        add<<<(chunk + 255) / 256, 256, 0, streams[rank]>>>(to, from, chunk);
        CHECK(cudaGetLastError());
      } else {
        CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, streams[rank]));
      }
    }
  }
}

/// What `work` puts into the streams, as a graph that begins and ends in the first one.
template <class Work>
cudaGraphExec_t graph_of(const std::vector<cudaStream_t>& streams, Work work) {
  cudaEvent_t begin = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  CHECK(cudaSetDevice(0));
  CHECK(cudaEventCreateWithFlags(&begin, cudaEventDisableTiming));
  CHECK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
  CHECK(cudaEventRecord(begin, streams[0]));
  for (std::size_t gpu = 1; gpu < streams.size(); ++gpu) CHECK(cudaStreamWaitEvent(streams[gpu], begin, 0));
  work();
  const Marks done(streams);
  for (std::size_t gpu = 1; gpu < streams.size(); ++gpu) done.wait(streams[0], static_cast<int>(gpu));
  CHECK(cudaSetDevice(0));
  CHECK(cudaStreamEndCapture(streams[0], &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  return executable;
}

int main(int argc, char** argv) {
  const int chunk = size_argument(argc, argv, 4096, 1);
  const bool as_graph = argc > 2 && std::atoi(argv[2]) == 1;
  const int ranks = gpus_with_peer_access(), n = ranks * chunk;
  std::vector<float*> data;
  std::vector<Rank> gpus;
  std::vector<cudaStream_t> streams;
  for (int rank = 0; rank < ranks; ++rank) {
    data.push_back(zeros_on<float>(rank, n));
    gpus.push_back({data[rank], zeros_on<float>(rank, (2 * ranks - 1) * static_cast<std::size_t>(chunk))});
    streams.push_back(stream_on(rank));
  }
  fill_ranks(data, n);
  const auto work = [&] { all_reduce(gpus, streams, chunk); };
  const cudaGraphExec_t graph = as_graph ? graph_of(streams, work) : nullptr;
  synchronize(ranks);
  const Stopwatch watch(streams);
  if (as_graph) {
    CHECK(cudaSetDevice(0));
    CHECK(cudaGraphLaunch(graph, streams[0]));
  } else {
    work();
  }
  watch.print(n * sizeof(float));
  synchronize(ranks);
  return verdict(sum_is_right(data, n));
}
