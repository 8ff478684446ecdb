// States as bytes: what is written is what is read, whatever holds it; what does not fit is refused.
#include "util/archive.hpp"

#include <catch2/catch.hpp>
#include <functional>

namespace lockstep {
namespace {

struct Pair {
  std::uint32_t a = 0;
  std::uint16_t b = 0;
  friend bool operator==(const Pair&, const Pair&) = default;
};
struct WithPointer {
  int value = 0;
  int* pointer = nullptr;
};
struct Nested {
  int first = 0;
  WithPointer second;
};
static_assert(is_plain<Pair> && is_plain<std::array<Pair, 3>> && is_plain<double>);
static_assert(!is_plain<WithPointer> && !is_plain<Nested> && !is_plain<std::array<Nested, 2>>);
static_assert(!is_plain<int*> && !is_plain<std::string> && !is_plain<std::vector<int>>);

class Part {
 public:
  Part(int size, int state) : size_(size), state_(state) {}
  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(size_), state_);
  }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int state() const { return state_; }

 private:
  int size_, state_;
};

/// One of each kind of member.
struct Everything {
  template <class A>
  void persist(A& a) {
    a.members(*this, number, pairs, nested, bits, text, queue, map, table, set, heap, some, none, owned,
              array, parts, maybe);
  }
  std::uint64_t number = 0;
  std::vector<Pair> pairs;
  std::vector<std::vector<std::uint8_t>> nested;
  std::vector<bool> bits;
  std::string text;
  std::deque<std::string> queue;
  std::map<std::string, std::uint64_t> map;
  std::unordered_map<std::uint64_t, std::vector<int>> table;
  std::set<std::pair<std::uint64_t, std::uint8_t>> set;
  std::priority_queue<int, std::vector<int>, std::greater<>> heap;
  std::optional<Pair> some, none;
  std::unique_ptr<Pair> owned;
  std::string array[2];
  std::vector<Part> parts;  // cannot be made without arguments: they are there already
  std::optional<Part> maybe;
};

Everything filled() {
  Everything e;
  e.number = ~std::uint64_t{0};
  e.pairs = {{1, 2}, {3, 4}};
  e.nested = {{}, {1}, {2, 3}};
  e.bits = {true, false, true};
  e.text = std::string("a\0b", 3);
  e.queue = {"", "x"};
  e.map = {{"k", 7}};
  e.table = {{1, {2}}, {3, {}}};
  e.set = {{9, 1}, {2, 5}};
  for (const int i : {5, 1, 3}) e.heap.push(i);
  e.some = Pair{5, 6};
  e.owned = std::make_unique<Pair>(Pair{7, 8});
  e.array[1] = "last";
  e.parts = {Part(1, 10), Part(2, 20)};
  e.maybe = Part(3, 30);
  return e;
}

std::string bytes_of(Everything& e) {
  Archive archive;
  archive(e);
  return archive.bytes();
}

Everything empty() {
  Everything e;
  e.parts = {Part(4, 0), Part(5, 0)};
  e.maybe = Part(6, 0);
  e.none = Pair{1, 1};  // goes
  return e;
}

/// Its pointer is where a derived class's members do not begin at 0.
class Polymorphic {
 public:
  virtual ~Polymorphic() = default;
};
class Forgetful final : public Polymorphic {
 public:
  template <class A>
  void persist(A& a) {
    a.members(*this, first_, last_);
  }

 private:
  int first_ = 0;
  [[maybe_unused]] std::uint64_t forgotten_ = 0;
  int last_ = 0;
};
class Mindful final : public Polymorphic {
 public:
  template <class A>
  void persist(A& a) {
    a.members(*this, first_, remembered_, last_);
  }

 private:
  int first_ = 0;
  std::uint64_t remembered_ = 0;
  int last_ = 0;
};

}  // namespace

TEST_CASE("a state is read as it was written") {
  Everything written = filled(), read = empty();
  const std::string bytes = bytes_of(written);
  Archive archive(bytes);
  archive(read);
  CHECK(archive.at_end());
  CHECK(read.number == written.number);
  CHECK(read.pairs == written.pairs);
  CHECK(read.nested == written.nested);
  CHECK(read.bits == written.bits);
  CHECK(read.text == written.text);
  CHECK(read.queue == written.queue);
  CHECK(read.map == written.map);
  CHECK(read.table == written.table);
  CHECK(read.set == written.set);
  CHECK(read.heap.size() == 3);
  CHECK(read.heap.top() == 1);
  CHECK((read.some == written.some && !read.none && *read.owned == *written.owned));
  CHECK(read.array[1] == "last");
  CHECK((read.parts[0].size() == 4 && read.parts[0].state() == 10 && read.parts[1].state() == 20));
  CHECK((read.maybe->size() == 6 && read.maybe->state() == 30));
  CHECK(bytes_of(read).size() == bytes.size());
}

TEST_CASE("a state that ends early is refused, wherever it ends") {
  Everything written = filled();
  const std::string bytes = bytes_of(written);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Archive archive(std::string_view(bytes).substr(0, size));
    Everything read = empty();
    CHECK_THROWS_AS(archive(read), ArchiveError);
  }
}

TEST_CASE("a length that cannot be is refused before memory is asked for") {
  std::string bytes(16, '\xff');
  Archive archive(bytes);
  std::vector<std::uint64_t> words;
  CHECK_THROWS_AS(archive(words), ArchiveError);
}

TEST_CASE("parts that are not there, and sections in another place, are refused") {
  std::vector<Part> two = {Part(1, 1), Part(1, 1)}, one = {Part(1, 1)};
  Archive writer;
  writer.section("a");
  writer(two);
  Archive other(writer.bytes());
  CHECK_THROWS_AS(other.section("b"), ArchiveError);
  Archive reader(writer.bytes());
  reader.section("a");
  CHECK_THROWS_AS(reader(one), ArchiveError);
}

TEST_CASE("a member that is left out is a bug that is found") {
  Archive archive;
  Forgetful forgetful;
  CHECK_THROWS_AS(archive(forgetful), std::logic_error);
  Mindful mindful;
  CHECK_NOTHROW(archive(mindful));
}

}  // namespace lockstep
