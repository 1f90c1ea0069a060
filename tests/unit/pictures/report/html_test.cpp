// Text of records never becomes markup; scales and their marks.
#include <cmath>

#include "catch.hpp"
#include "pictures/report/html.hpp"

using namespace kernelcast::report;

TEST_CASE("text is escaped wherever it is put, markup is not") {
  CHECK(escaped("<script>alert('1')</script>&\"") == "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;");
  CHECK(escaped(std::string_view("a\0b\x1b\x7f", 5)) ==
        "a\ufffd"
        "b\ufffd\ufffd");
  std::string const hostile = "\"><b>";
  CHECK(markup("<i title=\"{0}\">{0}</i>{1}", hostile, Html{"<hr>"}).text ==
        "<i title=\"&quot;&gt;&lt;b&gt;\">&quot;&gt;&lt;b&gt;</i><hr>");
  CHECK(name(hostile).text == "<span class=name>&quot;&gt;&lt;b&gt;</span>");
}

TEST_CASE("long names are cut between characters and whole on demand") {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "é";
  auto const out = name(text).text;
  CHECK(out.find("title=\"" + text + "\"") != std::string::npos);
  std::string shown = out.substr(out.find('>') + 1);
  CHECK(shown == text.substr(0, 116) + "…</span>");  // 117 bytes would end within a character
}

TEST_CASE("values a factor of ten apart are drawn on a logarithmic scale") {
  CHECK_FALSE(Axis::over({1e-3, 9e-3}).is_logarithmic());
  auto const wide = Axis::over({1e-6, 1});
  CHECK(wide.is_logarithmic());
  // Equal ratios are equal distances.
  CHECK(std::abs((wide.at(1e-3) - wide.at(1e-6)) - (wide.at(1) - wide.at(1e-3))) < 1e-9);
  CHECK(wide.at(1e-6) > 0);
  CHECK(wide.at(1) < 100);
  CHECK(Axis::over({}).at(0.5) == 50);
  for (double const value : {5e-324, 1., 1.7e308}) {
    auto const at = Axis::over({5e-324, 1.7e308}).at(value);
    CHECK((at >= 0 && at <= 100));
  }
  CHECK(Axis::over({0, 0}).at(0) == 0);
}

TEST_CASE("marks of scales are few and round") {
  for (double const high : {1e-9, 3.7e-5, 0.2, 1., 99., 7e12})
    for (double const ratio : {1., 3., 11., 1e3, 1e8}) {
      auto const axis = Axis::over({high / ratio, high});
      auto const ticks = axis.ticks(5);
      INFO(high << " / " << ratio << ": " << ticks.size());
      CHECK(ticks.size() >= 2);
      CHECK(ticks.size() <= 6);
      for (auto const& tick : ticks) {
        double const digit = tick.value / std::pow(10, std::floor(std::log10(tick.value) + 1e-9));
        INFO(tick.value);
        CHECK((!axis.is_logarithmic() || std::abs(digit - std::round(digit)) < 1e-6));
        CHECK((tick.at >= 0 && tick.at <= 100));
      }
    }
}

TEST_CASE("quantities are for people") {
  CHECK(seconds(79.1e-6) == "79.1\u00a0µs");
  CHECK(without_zeros("1.00 ms") == "1 ms");
  CHECK(without_zeros("1.50 ms") == "1.5 ms");
  CHECK(without_zeros("100 ms") == "100 ms");
  CHECK(percent(0.0001) == "< 0.1\u00a0%");
  CHECK(percent(0.384) == "38\u00a0%");
  CHECK(quantity(4.2e12, "B/s") == "4.20\u00a0TB/s");
  CHECK(quantity(0.017, "J") == "17.0\u00a0mJ");
  CHECK(runs_for(8.76e-6).number == 1e6);
  CHECK(runs_for(0.02).number == 1);
}
