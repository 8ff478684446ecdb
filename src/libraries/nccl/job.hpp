// What host and kernels agree on. Each rank has an inbox in its GPU's memory, into which all ranks write.
#pragma once

namespace lockstep::libraries::nccl {

constexpr int kMaxRanks = 64;
constexpr int kMaxBlocks = 16;      // CTAs of a collective operation
constexpr int kReceiverBlocks = 4;  // CTAs that receive from one rank
constexpr int kThreads = 512;

/// What one CTA of a rank says to the CTA with its number of another rank. Numbers only grow.
struct Lane {
  const char* send;
  char* receive;
  unsigned arrived;
  unsigned done;
};

/// From one rank to another, for messages.
struct Mail {
  const char* send;
  unsigned arrived;  // messages that the sender has offered
  unsigned taken;    // by the receiver: kReceiverBlocks for each message; written into the sender's inbox
};

struct Inbox {
  Lane lanes[kMaxRanks][kMaxBlocks];
  Mail from[kMaxRanks];  // by sender
  Mail to[kMaxRanks];    // by receiver: what this rank's messages have come to
};

struct Member {
  Inbox* const* inboxes;  // of all ranks
  int rank;
  int ranks;
};

enum class Task : int { kReduceAll, kReduceScatter, kReduceTo, kGatherAll, kBroadcast };

struct Job {
  Task task;
  int operation;
  int root;
  unsigned sequence;
  const char* send;
  char* receive;
  long long count;  // elements (copies: bytes) of a piece
  long long chunk;  // of them for a CTA
};

/// Messages to or from one rank, in order.
struct Messages {
  static constexpr int kSize = 8;
  int peer;
  int sends;
  int count;
  unsigned first;  // the number of the first
  char* memory[kSize];
  long long bytes[kSize];
};

/// All messages of a rank that are under way at once.
struct Exchange {
  static constexpr int kSize = 2 * kMaxRanks;
  Messages peers[kSize];
};

}  // namespace lockstep::libraries::nccl
