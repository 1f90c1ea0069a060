#include "generator.hpp"

#include <random>
#include <vector>

#include <fmt/format.h>

namespace kernelcast::tests {

namespace {

constexpr int n = 64;  // elements of an array

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::string program(unsigned functions) {
    text_ = fmt::format(
        "#include <math.h>\n#include <stdio.h>\n#include <string.h>\n"
        "double A[{0}], B[{0}], C[{0}];\nfloat F[{0}], G[{0}];\nint I[{0}];\nunsigned char U[{0}];\n"
        "__attribute__((noinline)) double help(double x, int i) {{ double s = x; for (int k = 0; k < i % 5; k++) s = s "
        "* "
        "0.5 + A[k]; return s; }}\n"
        "__attribute__((noinline)) double deep(double x, int i) {{ return i <= 0 ? x : deep(x + B[i % {0}], i - 2) * "
        "0.5; "
        "}}\n",
        n);
    for (unsigned f = 0; f < functions; ++f) function(f);
    text_ += "void kernel(void) {\n";
    for (unsigned f = 0; f < functions; ++f) text_ += fmt::format("  f{}({});\n", f, below(9));
    text_ += "}\n";
    text_ += fmt::format(
        "int main(void) {{\n  for (int i = 0; i < {0}; i++) {{\n    A[i] = 1.0 / (i + 1); B[i] = i * 0.25; C[i] = i % "
        "7 - "
        "3; F[i] = i * 0.5f; G[i] = 1.0f / (i + 2); I[i] = i * 37 % {0}; U[i] = i * 5;\n  }}\n  kernel();\n  "
        "kernel();\n  "
        "double s = 0;\n  for (int i = 0; i < {0}; i++) s += A[i] + B[i] + C[i] + F[i] + G[i] + I[i] + U[i];\n  "
        "printf(\"%.17g\\n\", s);\n  return 0;\n}}\n",
        n);
    return std::move(text_);
  }

 private:
  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }
  void line(std::string const& words) { text_ += std::string(2 * depth_, ' ') + words + '\n'; }

  std::string index() {
    if (variables_.empty()) return fmt::format("{}", below(n));
    auto const& v = variables_[below(static_cast<unsigned>(variables_.size()))];
    switch (below(6)) {
      case 0:
        return fmt::format("{}", below(n));
      case 1:
        return fmt::format("({} + {}) % {}", v, below(9), n);
      case 2:
        return fmt::format("({} * {} + {}) % {}", v, 1 + below(5), below(9), n);
      case 3:
        return fmt::format("I[{}]", v);
      default:
        return v;
    }
  }
  std::string array() {
    static constexpr char const* names[] = {"A", "B", "C", "F", "G"};
    return names[below(5)];
  }
  std::string leaf() {
    switch (below(9)) {
      case 0:
        return fmt::format("{}.5", below(4));
      case 1:
        return "x";
      case 2:
        return "y";
      case 3:
        return fmt::format("U[{}]", index());
      case 4:
        return fmt::format("I[{}]", index());
      default:
        return fmt::format("{}[{}]", array(), index());
    }
  }
  std::string expression(unsigned levels) {
    if (levels == 0 || below(4) == 0) return leaf();
    auto const a = expression(levels - 1), b = expression(levels - 1);
    switch (below(12)) {
      case 0:
        return fmt::format("({} / (1.0 + fabs({})))", a, b);
      case 1:
        return fmt::format("sqrt(fabs({}))", a);
      case 2:
        return fmt::format("({} < {} ? {} : {})", a, b, leaf(), leaf());
      case 3:
        return fmt::format("help({}, {})", a, index());
      case 4:
        return fmt::format("({} - {})", a, b);
      case 5:
        return fmt::format("-({})", a);
      case 6:
        return fmt::format("deep({}, {})", a, below(7));
      case 7:
      case 8:
        return fmt::format("({} * 0.25 * {})", a, b);
      default:
        return fmt::format("({} + {})", a, b);
    }
  }

  void statement() {
    switch (below(13)) {
      case 0:
        line(fmt::format("x = {};", expression(2)));
        break;
      case 1:
        line(fmt::format("y += {};", expression(1)));
        break;
      case 2:
        line(fmt::format("{}[{}] += {};", array(), index(), expression(1)));
        break;
      case 3:
        line(fmt::format("U[{}] = U[{}] + {};", index(), index(), below(5)));
        break;
      case 4:
        line(fmt::format("{{ double* p = &{}[{}]; *p = {} * 0.5 + p[0]; }}", "ABC"[below(3)], index(), expression(1)));
        break;
      case 5:
        line(fmt::format("memcpy(&{}[{}], &{}[{}], {});", "ABC"[below(3)], below(n / 2), "FG"[below(2)], below(n / 2),
                         8 * (1 + below(9))));
        break;
      case 6:
        line(fmt::format("memset(&F[{}], 0, {});", below(n / 2), 4 * (1 + below(9))));
        break;
      case 7:
        line(fmt::format("I[{}] = (I[{}] * {} + {}) & {};", index(), index(), 1 + below(5), below(9), n - 1));
        break;
      case 8: {
        line(fmt::format("if ({} < {}) {{", leaf(), leaf()));
        ++depth_;
        statement();
        --depth_;
        line("}");
        break;
      }
      default:
        line(fmt::format("{}[{}] = {};", array(), index(), expression(2)));
    }
  }
  void loop() {
    auto const v = fmt::format("i{}", counter_++);
    auto const trips = 1 + below(depth_ > 2 ? 5 : 12);
    switch (below(4)) {
      case 0:
        line(fmt::format("for (int {0} = {1}; {0} > 0; {0}--) {{", v, trips));
        break;
      case 1:
        line(fmt::format("for (int {0} = 0; {0} < {1} + m % 3; {0} += 2) {{", v, trips));
        break;
      default:
        line(fmt::format("for (int {0} = 0; {0} < {1}; {0}++) {{", v, trips));
    }
    ++depth_;
    variables_.push_back(v);
    body();
    if (below(6) == 0) line("if (x > 1e3) break;");
    variables_.pop_back();
    --depth_;
    line("}");
  }
  void body() {
    for (unsigned s = 0; s < 1 + below(3); ++s)
      if (depth_ < 4 && below(2) == 0)
        loop();
      else
        statement();
  }
  void function(unsigned number) {
    text_ += fmt::format("static {}void f{}(int m) {{\n  double x = m * 0.5, y = 1;\n",
                         number % 4 ? "__attribute__((noinline)) " : "", number);
    depth_ = 1;
    counter_ = 0;
    for (unsigned s = 0; s < 1 + below(2); ++s) loop();
    // Everything back into [-1, 1].
    text_ += fmt::format(
        "  A[m] = x; B[m] = y;\n  for (int i = 0; i < {0}; i++) {{ A[i] = A[i] / (1 + fabs(A[i])); B[i] = B[i] / (1 + "
        "fabs(B[i])); C[i] = C[i] / (1 + fabs(C[i])); F[i] = F[i] / (1 + fabsf(F[i])); G[i] = G[i] / (1 + "
        "fabsf(G[i])); "
        "}}\n}}\n",
        n);
  }

  std::mt19937_64 random_;
  std::string text_;
  std::vector<std::string> variables_;
  unsigned depth_ = 0, counter_ = 0;
};

}  // namespace

std::string random_program(std::uint64_t seed, unsigned functions) {
  return Generator(seed).program(functions);
}

}  // namespace kernelcast::tests
