// read_topology_matrix(): `nvidia-smi topo -m`.
#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <numeric>
#include <sstream>

#include <fmt/format.h>

#include "models/graph/system_file.hpp"

namespace kernelcast::graph {

namespace {

// How far apart two GPUs are on PCIe, nearest first.
enum Distance { pix, pxb, phb, node, sys, unknown };

Distance distance(std::string const& word) {
  static std::map<std::string, Distance> const words{{"PIX", pix},   {"PXB", pxb}, {"PHB", phb},
                                                     {"NODE", node}, {"SOC", sys}, {"SYS", sys}};
  auto const found = words.find(word);
  return found == words.end() ? unknown : found->second;
}

std::vector<std::string> words_of(std::string const& line) {
  std::string plain;  // without the escapes that underline the header
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      while (i < line.size() && line[i] != 'm') ++i;
      continue;
    }
    plain += line[i];
  }
  std::istringstream in(plain);
  return {std::istream_iterator<std::string>(in), {}};
}

bool is_gpu(std::string const& word) {
  return word.starts_with("GPU") && word.size() > 3 &&
         std::all_of(word.begin() + 3, word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

struct Matrix {
  std::vector<std::vector<int>> nvlinks;         // [gpu][gpu]
  std::vector<std::vector<Distance>> distances;  // unknown where NVLink hides it
  std::vector<std::string> affinity;             // CPUs of each GPU
  std::vector<std::size_t> line;                 // of each GPU's row
};

Matrix parse(std::string const& file, std::string const& text) {
  Matrix m;
  std::size_t gpus = 0, columns = 0, number = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    ++number;
    auto const words = words_of(line);
    if (words.empty() || !is_gpu(words[0])) continue;
    auto const refuse = [&](std::string const& message, std::string const& hint) {
      return Error(Status::bad_data, Where{file, number, 1}, message, hint, line);
    };
    if (columns == 0) {  // the header: GPUs, then network adapters, then affinities
      while (gpus < words.size() && is_gpu(words[gpus])) ++gpus;
      columns = gpus;
      while (columns < words.size() && words[columns] != "CPU") ++columns;
      continue;
    }
    if (m.line.size() >= gpus) continue;
    if (words.size() < 1 + gpus)
      throw refuse(fmt::format("{} has {} entries for {} GPUs", words[0], words.size() - 1, gpus), "one for each GPU");
    std::vector<int> links(gpus, 0);
    std::vector<Distance> far(gpus, unknown);
    for (std::size_t g = 0; g < gpus; ++g) {
      auto const& word = words[1 + g];
      if (word == "X") {
        if (g != m.line.size())
          throw refuse(fmt::format("{} has its X below GPU{}", words[0], g), "rows must be in order");
      } else if (word.starts_with("NV")) {
        auto const result = std::from_chars(word.data() + 2, word.data() + word.size(), links[g]);
        if (result.ec != std::errc() || links[g] < 1 || links[g] > 64)
          throw refuse(fmt::format("'{}' is not a number of NVLinks", word), "NV1, NV2, …");
      } else if ((far[g] = distance(word)) == unknown) {
        throw refuse(fmt::format("unknown entry '{}'", word), "NV#, PIX, PXB, PHB, NODE, SYS or X");
      }
    }
    m.nvlinks.push_back(std::move(links));
    m.distances.push_back(std::move(far));
    std::string affinity;
    if (words.size() > 1 + columns && words[1 + columns] != "N/A") affinity = words[1 + columns];
    m.affinity.push_back(affinity);
    m.line.push_back(number);
  }
  if (gpus == 0 || m.line.size() < gpus)
    throw Error(Status::bad_data, Where{file, number, 1},
                fmt::format("the matrix has {} rows for {} GPUs", m.line.size(), gpus), "was the text cut off?");
  return m;
}

// GPUs that are no further apart than `most`, as groups; NVLink hides distances, the CPUs' affinity does not.
std::vector<std::size_t> groups(Matrix const& m, Distance most) {
  std::vector<std::size_t> of(m.line.size());
  std::iota(of.begin(), of.end(), 0);
  for (std::size_t a = 0; a < of.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      bool const near = m.distances[a][b] != unknown && m.distances[a][b] <= most;
      bool const beside =
          most >= node && m.distances[a][b] == unknown && !m.affinity[a].empty() && m.affinity[a] == m.affinity[b];
      if (near || beside) {
        auto const from = of[a], to = of[b];
        std::replace(of.begin(), of.end(), std::max(from, to), std::min(from, to));
      }
    }
  return of;
}

class Builder {
 public:
  Builder(std::string const& file, Matrix const& m) : file_(file), m_(m) {}

  void build() {
    int most = 0;
    for (auto const& row : m_.nvlinks)
      for (int const count : row) most = std::max(most, count);
    std::size_t const gpus = m_.line.size();
    auto const socket_of = groups(m_, node);
    bool const newest = most >= 18;
    double const pcie = newest ? Assumed::pcie5 : most >= 12 ? Assumed::pcie4 : Assumed::pcie3;
    std::string const pcie_why = fmt::format(
        "bandwidth_bytes_per_s: PCIe {} x16{}",
        newest       ? 5
        : most >= 12 ? 4
                     : 3,
        most == 0 ? ", the matrix does not say" : fmt::format(", the generation that goes with NV{}", most));
    std::map<std::size_t, std::size_t> sockets, bridges;  // group -> switch
    for (auto const group : socket_of)
      if (sockets.try_emplace(group, sockets.size()).second) {
        auto const s = sockets.size() - 1;
        add(fmt::format("memory{}", s), fmt::format("switch{}", s), fmt::format("host{}", s), Assumed::host_memory,
            "shared", "bandwidth_bytes_per_s: the matrix does not say", "memory", 0);
      }
    for (std::size_t s = 1; s < sockets.size(); ++s)
      add(fmt::format("socket{}", s), fmt::format("switch{}", s - 1), fmt::format("switch{}", s), Assumed::socket,
          "full", "bandwidth_bytes_per_s: the matrix does not say", "socket", 0);
    std::size_t next = sockets.size();
    auto const bridge_of = groups(m_, pxb);
    for (std::size_t g = 0; g < gpus; ++g) {
      auto const socket = fmt::format("switch{}", sockets[socket_of[g]]);
      bool const alone = std::count(bridge_of.begin(), bridge_of.end(), bridge_of[g]) == 1;
      std::string parent = socket;
      if (!alone) {
        if (bridges.try_emplace(bridge_of[g], next).second) {
          add(fmt::format("root{}", bridges.size() - 1), socket, fmt::format("switch{}", next), pcie, "full", pcie_why,
              "pcie", g);
          ++next;
        }
        parent = fmt::format("switch{}", bridges[bridge_of[g]]);
      }
      add(fmt::format("pcie{}", g), parent, fmt::format("gpu{}", g), pcie, "full", pcie_why, "pcie", g);
    }
    nvlinks(most, next);
  }

  std::vector<record::Link> links;
  std::vector<Where> where;

 private:
  void add(std::string name, std::string from, std::string to, double bandwidth, std::string duplex,
           std::string assumed, std::string link_class, std::size_t gpu) {
    links.push_back({std::move(name), std::move(from), std::move(to), bandwidth, std::nullopt, std::move(duplex),
                     "nvidia-smi topo -m", std::move(assumed), std::move(link_class)});
    where.push_back({file_, m_.line[gpu], 1});
  }

  void nvlinks(int most, std::size_t next_switch) {
    std::size_t const gpus = m_.line.size();
    // More neighbours than one GPU has links for, all with equally many: they meet in a switch.
    bool everywhere = gpus > 2 && most > 4;
    for (std::size_t a = 0; a < gpus; ++a)
      for (std::size_t b = 0; b < gpus; ++b) everywhere &= a == b || m_.nvlinks[a][b] == most;
    auto const why = [](int count) {
      return fmt::format("bandwidth_bytes_per_s: {} x 25 GB/s each way, NVLink 2 to 4", count);
    };
    for (std::size_t a = 0; a < gpus; ++a) {
      if (everywhere) {
        add(fmt::format("nvlink{}", a), fmt::format("switch{}", next_switch), fmt::format("gpu{}", a),
            most * Assumed::nvlink, "full", why(most), "nvlink", a);
        continue;
      }
      for (std::size_t b = a + 1; b < gpus; ++b)
        if (int const count = m_.nvlinks[a][b]; count > 0)
          add(fmt::format("nvlink{}-{}", a, b), fmt::format("gpu{}", a), fmt::format("gpu{}", b),
              count * Assumed::nvlink, "full", why(count), "nvlink", a);
    }
  }

  std::string const& file_;
  Matrix const& m_;
};

}  // namespace

Interconnect read_topology_matrix(std::string const& file, std::string const& name, std::string const& text) {
  auto const matrix = parse(file, text);
  Builder builder(file, matrix);
  builder.build();
  return Interconnect(name, std::move(builder.links), std::move(builder.where));
}

}  // namespace kernelcast::graph
