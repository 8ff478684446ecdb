// The two forms of files.
#include "helpers.hpp"
#include "paths.hpp"

using namespace lockstep;
using namespace lockstep::accelsim;
using namespace lockstep::accelsim::test;

namespace {

std::string shown(const std::vector<Option>& options) {
  std::string out;
  for (const Option& o : options) out += o.name + "=" + o.value + "@" + std::to_string(o.line) + "\n";
  return out;
}
std::string parsed(const std::string& text) { return shown(parse_options(text, "f")); }
std::string error_in(const std::string& text) {
  return error_of([&] { (void)parse_options(text, "f"); });
}

}  // namespace

TEST_CASE("option files: several options a line, comments, quotes over lines, negative values, CRLF") {
  CHECK(parsed("# head\n-a 1 -b_2 x:y,z # rest -c 3\r\n\t-d -1\n-e \"\"\n-f:g \"n=1:\n     m=2\"   -h 7") ==
        "-a=1@2\n-b_2=x:y,z@2\n-d=-1@3\n-e=@4\n-f:g=n=1: m=2@5\n-h=7@6\n");
  CHECK(parsed("") == "");
  CHECK(parsed("  # nothing\n") == "");
  CHECK(parsed("-a\n\n 5") == "-a=5@1\n");
  CHECK(parsed("\xef\xbb\xbf-a 5") == "-a=5@1\n");
}

TEST_CASE("BookSim files: key = value; with // comments") {
  CHECK(parsed("//21*1 fly\nuse_map = 0;\nflit_size=40; k = 144 ; // one\n// x = 1;\npacket_size ={{1,2},\n "
               "{3}};") == "use_map=0@2\nflit_size=40@3\nk=144@3\npacket_size={{1,2}, {3}}@5\n");
}

TEST_CASE("what a file must not hold names file, line, and what was expected") {
  CHECK(error_in("-a 1\nfoo 2\n") == "f:2: found 'foo', expected -option value");
  CHECK(error_in("-a 1\n-b") == "f:2: -b has no value");
  CHECK(error_in("\n-a -b 2\n") == "f:2: -a has no value; '-b' follows");
  CHECK(error_in("-a 1\n-b \"x\ny\n") == "f:2: the quoted value has no end");
  CHECK(error_in("-a \"x\"y\n") == "f:1: found 'y' behind a quoted value, expected a blank");
  CHECK(error_in("-a 1 2\n") == "f:1: found '2', expected -option value");
  CHECK(error_in("-a " + std::string(5000, '1')) == "f:1: the value is longer than 4096 characters");
  CHECK(error_in("a = 1;\nb 2;\n") == "f:2: found 'b 2', expected key = value;");
  CHECK(error_in("a = 1;\n\nb = 2\n") == "f:3: found 'b = 2', expected key = value;");
  CHECK(error_in("a = 1;\n-x 3;") == "f:2: found '-x 3', expected key = value;");
  CHECK(error_of([] {
          (void)read_files({"/nonexistent/gpgpusim.config"});
        }).starts_with("/nonexistent/gpgpusim.config: cannot be opened"));
  CHECK(error_of([] { (void)read_files({LOCKSTEP_SOURCE_DIR}); }).find("is a directory, expected") !=
        std::string::npos);
}
