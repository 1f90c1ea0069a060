#include "sequential/driver/archive.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "base/diag/diag.hpp"

namespace kernelcast::seq {

namespace fs = std::filesystem;

namespace {

using Files = std::vector<std::string>;
constexpr std::size_t max_archive_bytes = std::size_t{4} << 30;
struct Symbols {
  std::set<std::string> defined, missing;
};

bool begins(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}
bool is_archive(std::string const& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) < 8) return false;
  auto const text = read_file(path, max_archive_bytes);
  return begins(text, "!<arch>\n") || begins(text, "!<thin>\n");
}

// Writes the members to `folder`; gives their files in the archive's order.
Files extract(std::string const& path, TemporaryFolder const& folder, std::string const& prefix) {
  constexpr std::size_t header = 60, size_at = 48, size_length = 10;
  auto const text = read_file(path, max_archive_bytes);
  bool const thin = begins(text, "!<thin>\n");
  std::string long_names;
  Files files;
  for (std::size_t at = 8; at + header <= text.size();) {
    auto name = text.substr(at, 16);
    name.erase(name.find_last_not_of(' ') + 1);
    std::size_t const size = std::strtoull(text.substr(at + size_at, size_length).c_str(), nullptr, 10);
    at += header;
    bool const index = name == "/" || name == "/SYM64/", names = name == "//";
    bool const inside = index || names || !thin;
    if (inside && at + size > text.size()) throw Error(Status::bad_data, Where{path}, "the archive is cut off");
    if (names) long_names = text.substr(at, size);
    if (!index && !names) {
      if (name.size() > 1 && name[0] == '/') {
        auto const start = std::strtoull(name.c_str() + 1, nullptr, 10);
        name = start < long_names.size() ? long_names.substr(start, long_names.find('\n', start) - start) : "";
      }
      if (!name.empty() && name.back() == '/') name.pop_back();
      files.push_back(thin ? (fs::path(path).parent_path() / name).string()
                           : folder.file(fmt::format("{}{}.o", prefix, files.size())));
      if (!thin) write_file(files.back(), std::string_view(text).substr(at, size));
    }
    if (inside) at += size + size % 2;
  }
  return files;
}

std::map<std::string, Symbols> symbols_of(CompilerTools const& tools, Files const& files) {
  if (tools.nm.empty()) throw Error(Status::unavailable, "llvm-nm-19 is not installed", "apt-get install llvm-19");
  std::vector<std::string> command{tools.nm, "--format=posix", "--quiet"};
  command.insert(command.end(), files.begin(), files.end());
  auto const listed = run_process(command, 600);
  std::map<std::string, Symbols> out;
  auto* symbols = &out[files.front()];
  std::istringstream in(listed.output);
  std::set<std::string> const known(files.begin(), files.end());
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == ':' && known.contains(line.substr(0, line.size() - 1))) {
      symbols = &out[line.substr(0, line.size() - 1)];
      continue;
    }
    std::istringstream words(line);
    std::string name, type;
    if (!(words >> name >> type) || type.size() != 1) continue;
    if (type == "U")
      symbols->missing.insert(name);
    else if (std::string_view("ABCDGRSTVWiu").find(type[0]) != std::string_view::npos)
      symbols->defined.insert(name);
  }
  return out;
}

// The archive that -lNAME means, where a folder of -L has one and no shared library before it; else empty.
std::string library(std::string const& name, Files const& folders) {
  std::error_code error;
  for (auto const& folder : folders) {
    auto const path = fs::path(folder);
    if (name[0] == ':') {
      if (fs::exists(path / name.substr(1), error)) return (path / name.substr(1)).string();
      continue;
    }
    if (fs::exists(path / ("lib" + name + ".so"), error)) return {};
    if (fs::exists(path / ("lib" + name + ".a"), error)) return (path / ("lib" + name + ".a")).string();
  }
  return {};
}

struct Archive {
  std::size_t place;  // in link.others
  Files members;
  bool whole;  // all of them, by --whole-archive
};

// The archives of bitcode; their places in link.others are empty.
std::vector<Archive> take_archives(Link& link, TemporaryFolder const& scratch) {
  auto& words = link.others;
  Files folders;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == "-L" && i + 1 < words.size())
      folders.push_back(words[i + 1]);
    else if (begins(words[i], "-L") && words[i].size() > 2)
      folders.push_back(words[i].substr(2));
  std::vector<Archive> archives;
  bool whole = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto const& word = words[i];
    if (word == "-Wl,--whole-archive") whole = true;
    if (word == "-Wl,--no-whole-archive") whole = false;
    if (word == "-L" || word == "-Xlinker") {
      ++i;
      continue;
    }
    bool const apart = word == "-l" && i + 1 < words.size();
    auto const path = apart                                   ? library(words[i + 1], folders)
                      : begins(word, "-l") && word.size() > 2 ? library(word.substr(2), folders)
                      : begins(word, "-")                     ? std::string()
                                                              : word;
    if (path.empty() || !is_archive(path)) continue;
    auto const members = extract(path, scratch, fmt::format("archive{}-", archives.size()));
    if (std::none_of(members.begin(), members.end(), is_bitcode)) continue;
    archives.push_back({i, members, whole});
    words[i].clear();
    if (apart) words[++i].clear();
  }
  return archives;
}

}  // namespace

void unpack_archives(CompilerTools const& tools, Link& link, TemporaryFolder const& scratch) {
  auto const archives = take_archives(link, scratch);
  if (archives.empty()) return;
  Files files = link.bitcode;
  for (auto const& word : link.others)
    if (std::error_code error; !word.empty() && word[0] != '-' && !is_archive(word) && fs::is_regular_file(word, error))
      files.push_back(word);
  auto const given = files.size();
  for (auto const& archive : archives) files.insert(files.end(), archive.members.begin(), archive.members.end());
  auto const symbols = symbols_of(tools, files);

  std::set<std::string> defined, missing, taken;
  if (!link.shared) missing.insert("main");
  auto const take = [&](std::string const& file) {
    taken.insert(file);
    auto const found = symbols.find(file);
    if (found == symbols.end()) return;
    defined.insert(found->second.defined.begin(), found->second.defined.end());
    missing.insert(found->second.missing.begin(), found->second.missing.end());
  };
  for (std::size_t i = 0; i < given; ++i) take(files[i]);
  auto const is_needed = [&](Archive const& archive, std::string const& member) {
    if (archive.whole) return true;
    auto const found = symbols.find(member);
    return found != symbols.end() &&
           std::any_of(found->second.defined.begin(), found->second.defined.end(),
                       [&](auto const& symbol) { return missing.contains(symbol) && !defined.contains(symbol); });
  };
  std::map<std::size_t, Files> machine_code;  // by place
  for (bool again = true; again;) {
    again = false;
    for (auto const& archive : archives)
      for (auto const& member : archive.members) {
        if (taken.contains(member) || !is_needed(archive, member)) continue;
        take(member);
        (is_bitcode(member) ? link.bitcode : machine_code[archive.place]).push_back(member);
        again = true;
      }
  }
  Files others;
  for (std::size_t i = 0; i < link.others.size(); ++i) {
    auto const& own = machine_code[i];
    others.insert(others.end(), own.begin(), own.end());
    if (!link.others[i].empty()) others.push_back(link.others[i]);
  }
  link.others = std::move(others);
}

}  // namespace kernelcast::seq
