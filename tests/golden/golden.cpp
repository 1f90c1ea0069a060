// Runs one golden case, or rewrites it from what the command does now. The format is in README.md.
//
//   golden [--rebase] CASE...      with BIN, DEVDB, SOURCE and VERSION in the environment
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace fs = std::filesystem;

namespace {

struct Section {
  std::string title;  // "file NAME", "stdout", …
  std::string text;
};

struct Case {
  std::string about;
  std::vector<Section> sections;

  Section const* find(std::string const& title) const {
    for (auto const& section : sections)
      if (section.title == title) return &section;
    return nullptr;
  }
  std::string text(std::string const& title) const {
    auto const* const section = find(title);
    return section ? section->text : std::string();
  }
};

struct Outcome {
  std::string out, err;
  int status = 0;
};

constexpr char const* no_newline = " no newline";

[[noreturn]] void give_up(std::string const& why) {
  std::cerr << "golden: " << why << '\n';
  std::exit(2);
}

std::string slurp(fs::path const& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) give_up("cannot read " + path.string());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void spill(fs::path const& path, std::string const& text) {
  if (path.has_parent_path()) fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) give_up("cannot write " + path.string());
}

bool ends_with(std::string const& text, std::string const& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool known(std::string const& title) {
  for (char const* name : {"command", "stdin", "stdout", "stderr", "stderr note", "status"})
    if (title == name) return true;
  return title.starts_with("file ") || title.starts_with("written ");
}

Case parse(fs::path const& path) {
  Case test;
  std::istringstream lines(slurp(path));
  bool strip = false;
  auto const close = [&] {
    if (strip && !test.sections.empty()) test.sections.back().text.pop_back();
  };
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("=== ")) {
      close();
      std::string title = line.substr(4);
      strip = ends_with(title, no_newline);
      if (strip) title.resize(title.size() - std::string(no_newline).size());
      if (!known(title)) give_up(path.string() + ": unknown section '" + title + "'");
      test.sections.push_back({title, {}});
      continue;
    }
    if (line.starts_with("\\===")) line.erase(0, 1);
    (test.sections.empty() ? test.about : test.sections.back().text) += line + '\n';
  }
  close();
  if (!test.find("command")) give_up(path.string() + ": no section 'command'");
  return test;
}

std::string unparse(Case const& test) {
  std::string out = test.about;
  for (auto const& [title, text] : test.sections) {
    bool const strip = !text.empty() && text.back() != '\n';
    out += "=== " + title + (strip ? no_newline : "") + '\n';
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) out += (line.starts_with("===") ? "\\" : "") + line + '\n';
  }
  return out;
}

void replace_all(std::string& text, std::string const& from, std::string const& to) {
  if (from.empty()) return;
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// The version of the suite behind its name: "kernelcast mangrove 0.2.0" -> "kernelcast mangrove $VERSION".
void hide_version(std::string& text, std::string const& version) {
  std::string const hidden = "$VERSION";
  for (std::size_t at = 0; (at = text.find(version, at)) != std::string::npos;) {
    std::size_t const line = text.rfind('\n', at) + 1;
    auto const before = std::string_view(text).substr(line, at - line);
    bool const ours = before.find("kernelcast") != std::string_view::npos && before.back() == ' ';
    if (ours) text.replace(at, version.size(), hidden);
    at += ours ? hidden.size() : version.size();
  }
}

std::string environment(char const* name) {
  char const* const value = std::getenv(name);
  if (value == nullptr) give_up(std::string("set ") + name + "; run this by ctest");
  return value;
}

// A directory that is gone at the end.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "golden.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) give_up("cannot make a directory in " + fs::temp_directory_path().string());
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(Scratch const&) = delete;
  fs::path const& path() const { return path_; }

 private:
  fs::path path_;
};

Outcome execute(Case const& test, fs::path const& folder, fs::path const& work, fs::path const& aside) {
  for (auto const& [title, text] : test.sections)
    if (title.starts_with("file ")) spill(work / title.substr(5), text);
  spill(aside / "stdin", test.text("stdin"));
  setenv("GOLDEN", folder.c_str(), 1);
  std::cout.flush();  // else the child would print it again
  std::fflush(nullptr);
  pid_t const child = fork();
  if (child == 0) {
    if (chdir(work.c_str()) != 0 || freopen((aside / "stdin").c_str(), "r", stdin) == nullptr ||
        freopen((aside / "stdout").c_str(), "w", stdout) == nullptr ||
        freopen((aside / "stderr").c_str(), "w", stderr) == nullptr)
      _exit(126);
    execl("/bin/sh", "sh", "-c", test.text("command").c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0) give_up("cannot run sh");
  Outcome outcome{slurp(aside / "stdout"), slurp(aside / "stderr"),
                  WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
  for (auto* text : {&outcome.out, &outcome.err}) {
    replace_all(*text, work.string(), "$DIR");
    replace_all(*text, environment("SOURCE"), "$SOURCE");
    hide_version(*text, environment("VERSION"));
  }
  return outcome;
}

// The case as it would be if all that happened had been expected.
Case with_outcome(Case test, Outcome const& outcome, fs::path const& work) {
  std::string const err_title = test.find("stderr note") ? "stderr note" : "stderr";
  auto const set = [&](std::string const& title, std::string const& text, bool wanted) {
    std::size_t i = 0;
    while (i < test.sections.size() && test.sections[i].title != title) ++i;
    if (i < test.sections.size() && wanted)
      test.sections[i].text = text;
    else if (i < test.sections.size())
      test.sections.erase(test.sections.begin() + static_cast<std::ptrdiff_t>(i));
    else if (wanted)
      test.sections.push_back({title, text});
  };
  set("stdout", outcome.out, true);
  set(err_title, outcome.err, !outcome.err.empty());
  set("status", std::to_string(outcome.status) + '\n', outcome.status != 0);
  for (auto& [title, text] : test.sections)
    if (title.starts_with("written ")) {
      auto const path = work / title.substr(8);
      text = fs::exists(path) ? slurp(path) : "(not written)\n";
    }
  return test;
}

// The first line in which two texts differ, both shown.
std::string difference(std::string const& expected, std::string const& actual) {
  std::istringstream left(expected), right(actual);
  std::string a, b;
  for (std::size_t number = 1;; ++number) {
    bool const more_a = static_cast<bool>(std::getline(left, a)), more_b = static_cast<bool>(std::getline(right, b));
    if (!more_a && !more_b) return "they differ in their last line end only\n";
    if (more_a == more_b && a == b) continue;
    return "  line " + std::to_string(number) + "\n  - " + (more_a ? a : "(end)") + "\n  + " + (more_b ? b : "(end)") +
           '\n';
  }
}

bool run_case(fs::path const& path, bool rebase) {
  auto const test = parse(path);
  Scratch const work, aside;
  auto const outcome = execute(test, fs::absolute(path).parent_path(), work.path(), aside.path());
  if (outcome.status == 0 && !outcome.err.empty() && !test.find("stderr note")) {
    std::cout << path.string() << ": a successful run wrote to standard error:\n" << outcome.err;
    return false;
  }
  auto const now = unparse(with_outcome(test, outcome, work.path()));
  auto const before = unparse(test);
  if (now == before) return true;
  if (rebase) {
    spill(path, now);
    std::cout << "rebased " << path.string() << '\n';
    return true;
  }
  std::cout << path.string() << ": - expected, + actual\n"
            << difference(before, now) << "standard error was:\n"
            << outcome.err << "if this is what it should be now: cmake --build <build> --target rebase\n";
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  setenv("PATH", (environment("BIN") + ":" + environment("PATH")).c_str(), 1);
  environment("DEVDB");
  for (char const* name : {"LC_ALL", "NO_COLOR", "KERNELCAST_DEVDB"}) unsetenv(name);
  bool rebase = false, good = true;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--rebase")
      rebase = true;
    else
      good = run_case(argv[i], rebase) && good;
  }
  return good ? 0 : 1;
}
