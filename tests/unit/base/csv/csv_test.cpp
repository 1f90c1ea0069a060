#include "base/csv/csv.hpp"

#include <fstream>
#include <random>
#include <sstream>

#include "catch.hpp"

using namespace kernelcast;

namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows read(std::string const& text) {
  std::istringstream in(text);
  csv::Reader reader(in, "in.csv");
  Rows rows{reader.header()};
  while (reader.next()) {
    rows.emplace_back();
    for (std::size_t i = 0; i < reader.size(); ++i) rows.back().emplace_back(reader[i]);
  }
  return rows;
}

// "7:3: message" of the error that this text gives; "none" when it is accepted.
std::string refusal(std::string const& text) {
  try {
    read(text);
  } catch (Error const& error) {
    CHECK(error.status() == Status::bad_data);
    CHECK_FALSE(error.hint().empty());
    return std::to_string(error.where().line) + ":" + std::to_string(error.where().column) + ": " + error.what();
  }
  return "none";
}

// Gives its bytes in pieces of 1, 2, 3, … 7, 1, … bytes, as a pipe does.
class OneByteBuffer : public std::streambuf {
 public:
  explicit OneByteBuffer(std::string text) : text_(std::move(text)) {}

 protected:
  int_type underflow() override {
    if (at_ == text_.size()) return traits_type::eof();
    std::size_t const size = std::min(text_.size() - at_, step_ = step_ % 7 + 1);
    setg(text_.data() + at_, text_.data() + at_, text_.data() + at_ + size);
    at_ += size;
    return traits_type::to_int_type(*gptr());
  }

 private:
  std::string text_;
  std::size_t at_ = 0, step_ = 0;
};

// `total` bytes of 'x' after a prefix, without holding them.
class Endless : public std::streambuf {
 public:
  Endless(std::string prefix, std::size_t total) : block_(1 << 16, 'x'), prefix_(std::move(prefix)), left_(total) {
    setg(prefix_.data(), prefix_.data(), prefix_.data() + prefix_.size());
  }
  std::size_t given() const { return given_; }

 protected:
  int_type underflow() override {
    if (left_ == 0) return traits_type::eof();
    std::size_t const size = std::min(left_, block_.size());
    left_ -= size;
    given_ += size;
    setg(block_.data(), block_.data(), block_.data() + size);
    return traits_type::to_int_type(*gptr());
  }

 private:
  std::string block_, prefix_;
  std::size_t left_, given_ = 0;
};

}  // namespace

TEST_CASE("rows with LF, CRLF, quotes, blanks and without a last line end") {
  CHECK(read("a,b\n1,2\n") == Rows{{"a", "b"}, {"1", "2"}});
  CHECK(read("a,b\r\n1,2\r\n") == Rows{{"a", "b"}, {"1", "2"}});
  CHECK(read("a,b\n1,2") == Rows{{"a", "b"}, {"1", "2"}});
  CHECK(read("a,b\r\n1,2\r") == Rows{{"a", "b"}, {"1", "2"}});
  CHECK(read("a,b\n 1 ,\t\n") == Rows{{"a", "b"}, {" 1 ", "\t"}});
  CHECK(read("a,b\n\"x,\"\"y\"\"\r\n z\",\"\"\n,\n") == Rows{{"a", "b"}, {"x,\"y\"\r\n z", ""}, {"", ""}});
  CHECK(read("a\n\"\"\n") == Rows{{"a"}, {""}});
  CHECK(read("\"a\",\"b\"\r\n\"1\",\"2\"\r\n") == Rows{{"a", "b"}, {"1", "2"}});
}

TEST_CASE("a last row without a line end may end where a buffer does") {
  for (std::size_t const buffer : {4096u, 8192u, 262144u})
    for (std::size_t const size : {buffer - 1, buffer, buffer + 1}) {
      std::string text = "a,b\n";
      while (text.size() + 20 < size) text += "12345678,9\n";
      std::string const last(size - text.size() - 2, 'x');
      text += last + ",y";
      REQUIRE(text.size() == size);
      CHECK(read(text).back() == std::vector<std::string>{last, "y"});
    }
}

TEST_CASE("a byte order mark and comments before the header are skipped, blank lines at the end too") {
  CHECK(read("\xEF\xBB\xBF"
             "a\n1\n") == Rows{{"a"}, {"1"}});
  CHECK(read("\xEF\xBB\xBF# it's \"odd\n#\na\n1\n") == Rows{{"a"}, {"1"}});
  CHECK(read("# c\r\na\r\n#1\r\n") == Rows{{"a"}, {"#1"}});
  CHECK(read("a\n1\n\n\r\n") == Rows{{"a"}, {"1"}});
}

TEST_CASE("a header alone is a table without rows") {
  CHECK(read("a,b\n") == Rows{{"a", "b"}});
}

TEST_CASE("each mistake is refused at its line and column") {
  CHECK(refusal("") == "1:1: no header row: the input is empty");
  CHECK(refusal("# only\n") == "1:1: no header row: the input is empty");
  CHECK(refusal("\na\n") == "1:1: a blank line where the header row should be");
  CHECK(refusal("a,,c\n") == "1:3: column 2 has no name");
  CHECK(refusal("a,b,\"a\"\n") == "1:5: duplicate column 'a'");
  CHECK(refusal("# x\n# y\na,b,a\n") == "3:5: duplicate column 'a'");
  CHECK(refusal("a,b\n1,2\n\n3,4\n") == "3:1: a blank line inside the data");
  CHECK(refusal("a,b\n1,2\n\r\n\n3,4\n") == "3:1: a blank line inside the data");
  CHECK(refusal("a,b\n1,2\n3\n") == "3:2: 1 field where the header has 2");
  CHECK(refusal("a,b\n1,2,3\n") == "2:5: 3 fields where the header has 2");
  CHECK(refusal("a,b\n\"x\ny\",2,3\n") == "3:6: 3 fields where the header has 2");
  CHECK(refusal("a,b\n1,2\n3,\"4\n5,6\n") == "3:3: a quoted field is not closed before the end of the input");
  CHECK(refusal("a,b\n1,2\n3,x\"4\n5,6\n") == "3:4: a quote inside an unquoted field");
  CHECK(refusal("a,b\n1,\"2\"x\n") == "2:6: text after the closing quote of a field");
  CHECK(refusal("a,b\n1,\"2\" \n") == "2:6: text after the closing quote of a field");
  CHECK(refusal("a,b\r1,2\r") == "1:4: a carriage return inside a row");
  CHECK(refusal("a,\"b\"\r1,2\r") == "1:6: a carriage return inside a row");
  CHECK(refusal("a,b\n\"x\ny\",\xFF\n") == "3:4: byte 0xFF is not valid UTF-8");
  CHECK(refusal("a,b\n1,\xC3\n") == "2:3: byte 0xC3 is not valid UTF-8");
  CHECK(refusal("a,b\n1,\xED\xA0\x80\n") == "2:3: byte 0xED is not valid UTF-8");      // a surrogate
  CHECK(refusal("a,b\n1,\xC0\xAF\n") == "2:3: byte 0xC0 is not valid UTF-8");          // overlong
  CHECK(refusal("a,b\n1,\xF4\x90\x80\x80\n") == "2:3: byte 0xF4 is not valid UTF-8");  // above U+10FFFF
  CHECK(refusal(std::string("a,b\n1,2\0\n", 9)) == "2:4: a NUL byte");
  CHECK(refusal(std::string("a,b\n1,\"2\0\"\n", 11)) == "2:5: a NUL byte");
  CHECK(refusal("\xFF\xFE"
                "a") == "1:1: the input is UTF-16, not UTF-8");
}

TEST_CASE("a caret stands below the field, in the right physical line") {
  std::istringstream in("a,b,c\n\"one\ntwo\",ü,bad\n");
  csv::Reader reader(in, "in.csv");
  REQUIRE(reader.next());
  CHECK(reader.where(0).line == 2);
  CHECK(reader.error(2, "no", "h").text("t") == "in.csv:3:9: error: no\n  two\",ü,bad\n         ^\nhint: h\n");
  CHECK(reader.header_error(1, "no").text("t") == "in.csv:1:3: error: no\n  a,b,c\n    ^\n");
}

TEST_CASE("a field of 1 GB is refused soon, quoted or not") {
  for (std::string const prefix : {"a,b\n1,", "a,b\n1,\"", "", "# "}) {
    Endless source(prefix, std::size_t{1} << 30);
    std::istream in(&source);
    std::string said = "none";
    try {
      csv::Reader reader(in, "big.csv");
      while (reader.next()) {
      }
    } catch (Error const& error) {
      said = error.what();
      CHECK(error.text("t").size() < 1000);
    }
    if (prefix == "# ") {
      CHECK(said == "a comment of more than 64 MiB");
      CHECK(source.given() < std::size_t{80} << 20);
      continue;
    }
    CHECK(said == "a field of more than 16 MiB");
    CHECK(source.given() < std::size_t{40} << 20);
  }
}

TEST_CASE("a field of 16 MiB is read, one byte more is not") {
  std::string const most(csv::max_field_bytes, 'x');
  CHECK(read("a\n" + most + "\n").at(1).at(0).size() == csv::max_field_bytes);
  CHECK(refusal("a\n" + most + "x\n") == "2:1: a field of more than 16 MiB");
  // With its quotes.
  std::string const quoted = '"' + most.substr(2) + '"';
  CHECK(read("a,b\n1," + quoted + "\r\n").at(1).at(1).size() == csv::max_field_bytes - 2);
  CHECK(refusal("a,b\n\"\"," + quoted + "\n\"\"," + quoted + "x\n") ==
        "3:" + std::to_string(4 + quoted.size()) + ": text after the closing quote of a field");
  CHECK(refusal("a,b\n\"1\"," + most + "x\n") == "2:5: a field of more than 16 MiB");
  CHECK(refusal("a,b\n1,\"" + most + "\"\n") == "2:3: a field of more than 16 MiB");
}

TEST_CASE("a row of 64 MiB is read, one byte more is not") {
  std::string const header = "a,b,c,d,e,f,g,h\n", eighth(csv::max_row_bytes / 8 - 1, 'x');
  std::string row = eighth;
  for (int i = 1; i < 8; ++i) row += ',' + eighth;
  CHECK(read(header + row + "1\n").size() == 2);
  CHECK(refusal(header + row + "12\n") == "2:1: a row of more than 64 MiB");
}

TEST_CASE("a quote too many is refused in its own line, before the next one comes") {
  Endless source("a,b\n1,x\"4\n\"", csv::max_field_bytes);
  std::istream in(&source);
  csv::Reader reader(in, "in.csv");
  CHECK_THROWS_AS(reader.next(), Error);
  CHECK(source.given() == 0);
}

TEST_CASE("what is written is read back, whatever the text, in whatever pieces") {
  std::vector<std::string> const pieces{"a", ",", "\"",   "\n", "\r", "\r\n", " ",
                                        "",  "ü", "日本", "\t", "#",  "1.5",  "😀"};
  std::mt19937 random(1);
  auto const pick = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  for (int round = 0; round < 2000; ++round) {
    std::size_t const columns = 1 + pick(5);
    Rows rows(1 + pick(6), std::vector<std::string>(columns));
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (std::size_t c = 0; c < columns; ++c) {
        if (r == 0) rows[r][c] = "column" + std::to_string(c);
        for (std::size_t k = pick(5); k > 0; --k) rows[r][c] += pieces[pick(pieces.size())];
      }
    std::ostringstream out;
    csv::Writer writer(out);
    for (auto const& row : rows) writer.row(row);
    CHECK(read(out.str()) == rows);
    OneByteBuffer dribble(out.str());
    std::istream slow(&dribble);
    csv::Reader reader(slow, "slow");
    Rows again{reader.header()};
    while (reader.next()) {
      again.emplace_back();
      for (std::size_t i = 0; i < columns; ++i) again.back().emplace_back(reader[i]);
    }
    CHECK(again == rows);
  }
}

TEST_CASE("random bytes are read or refused with a place, never worse") {
  std::string const alphabet("a,\"\n\r \0\xFF\xC3\xA9#1", 12);
  std::mt19937 random(2);
  std::size_t refused = 0, accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = round % 2 ? "a,b\n" : "";
    for (auto n = random() % 12; n > 0; --n) text += alphabet[random() % alphabet.size()];
    (refusal(text) == "none" ? accepted : refused)++;
  }
  CHECK(refused > 1000);
  CHECK(accepted > 1000);
}

TEST_CASE("a file that cannot be read is an error with its name, not the end of its rows") {
  std::ifstream folder("/");  // it can be opened, and reading it fails
  try {
    csv::Reader reader(folder, "in.csv");
    FAIL("it was read");
  } catch (Error const& error) {
    CHECK(error.status() == Status::io);
    CHECK(error.where().file == "in.csv");
  }
}
