// Mangled names by the rules of the Itanium C++ ABI, section 5.1; each was put together by hand.
#include "stats/demangle.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "stats/names.hpp"

namespace lockstep::stats {

TEST_CASE("demangled: types, qualifiers, substitutions and template arguments of the Itanium ABI") {
  const std::pair<const char*, const char*> rows[] = {
      {"_Z1fv", "f()"},
      {"_Z1fbcahstijlmxy",  // <builtin-type>
       "f(bool, char, signed char, unsigned char, short, unsigned short, int, unsigned int, long, unsigned "
       "long, long long, unsigned long long)"},
      {"_Z1fnofdeg", "f(__int128, unsigned __int128, float, double, long double, __float128)"},
      {"_Z1fPKcS0_", "f(char const*, char const*)"},  // S0_: the second that can be substituted
      {"_Z1fRiOdPVf", "f(int&, double&&, float volatile*)"},
      {"_Z1fA4_i", "f(int [4])"},
      {"_Z1fM1AFivE", "f(int (A::*)())"},
      {"_Z1fiz", "f(int, ...)"},
      {"_ZN1A1fEv", "A::f()"},
      {"_ZNK1A1fEv", "A::f() const"},
      {"_ZN1AC1Ev", "A::A()"},
      {"_ZN1AclEi", "A::operator()(int)"},
      {"_ZplRK1AS1_", "operator+(A const&, A const&)"},
      {"_Z1fSt4pairIifES_", "f(std::pair<int, float>, std::pair)"},
      {"_Z1fILi7EEvv", "void f<7>()"},
      {"_Z1fILin7EEvv", "void f<-7>()"},
      {"_Z1fILb1ELj3EEvv", "void f<true, 3u>()"},
      {"_Z1fIJifEEvDpT_", "void f<int, float>(int, float)"},
      {"_Z1fI1XIiEEvT_", "void f<X<int> >(X<int>)"},
  };
  for (const auto& [mangled, declaration] : rows) CHECK(demangled(mangled) == declaration);
}

TEST_CASE("demangled: what is no mangled name of a declaration is empty") {
  for (const char* name : {"", "f", "_Z", "_Zf", "_Z1", "_Z2f", "_ZN1A1f", "_Z1fQ", "Z1fv", "__Z1fv"})
    CHECK(demangled(name).empty());
}

TEST_CASE("demangled: names of up to 1024 characters, in a process of their own or not, are the same") {
  for (const std::size_t length : {999u, 1000u, 1015u}) {
    const std::string name(length, 'n');
    CHECK(demangled("_Z" + std::to_string(length) + name + "v") == name + "()");
  }
  // Eleven references are demangled apart.
  std::string many = "_Z1f1A", text = "f(A";
  for (unsigned i = 0; i < 12; ++i) {
    many += "S_";
    text += ", A";
    CHECK(demangled(many) == text + ")");
  }
}

TEST_CASE("function names: result type, parameters and scopes are distinguished by brackets") {
  const std::pair<const char*, const char*> rows[] = {
      {"_ZN1A1BIiE1fIfEEvv", "A::B<int>::f<float>"},
      {"_Z1fILi7EEvv", "f<7>"},
      {"_Z1fI1XIiEEvT_", "f<X<int> >"},
      {"int ns::f(int (*)(float), char)", "ns::f"},
      {"std::pair<int, float> f<A<(B)1> >(int)", "f<A<(B)1> >"},
      {"_Z1fQ", "f"},                  // the parameters are refused: the plain name is left
      {"_ZN2ns1fE1!", "ns::f"},        // likewise a nested one
      {"_ZN2ns1fIiE!", "ns::f<iE!>"},  // template arguments stay mangled
      {"_Z0v", "_Z0v"},                // a length of 0
      {"_Z00001fv!", "_Z00001fv!"},    // more than four digits
  };
  for (const auto& [name, function] : rows) CHECK(function_name(name) == function);
}

TEST_CASE("labels by name: one for each name, however often it is there") {
  const std::vector<std::string> names = {"_Z4copyPf", "_Z4fillPf", "_Z4copyPf", "_Z4fillPf", "_Z4fillPf"};
  const auto labels = labels_by_name(names, 20);
  CHECK(labels.size() == 2);
  CHECK(labels.at("_Z4copyPf") == "copy");
  CHECK(labels.at("_Z4fillPf") == "fill");
}

TEST_CASE("labels: scopes and wrappers are left out only where the name is too long") {
  const std::string name =
      "_ZN3one3two5scaleIN3abc5thingEEEvT_";  // one::two::scale<abc::thing>: 27 characters
  CHECK(short_name(name, 27) == "one::two::scale<abc::thing>");
  CHECK(short_name(name, 26) == "scale<thing>");
  CHECK(short_name("void device_kernel<long_kernel_name<float> >(int)", 40) ==
        "device_kernel<long_kernel_name<float> >");  // 39 characters
  CHECK(short_name("void device_kernel<long_kernel_name<float> >(int)", 38) == "~long_kernel_name<float>");
  CHECK(short_name("void other_kernel<long_kernel_name<float> >(int)", 37) ==
        "other_kernel<long_~rnel_name<float> >");    // no wrapper
  CHECK(short_name("abcdefghij", 1) == "abcd~hij");  // no column is narrower than 8
}

}  // namespace lockstep::stats
