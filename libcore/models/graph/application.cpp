#include "models/graph/application.hpp"

#include <cmath>
#include <filesystem>
#include <tuple>

#include <fmt/format.h>

namespace kernelcast::graph {

namespace {

using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
constexpr std::uint32_t none = ~std::uint32_t{0};

// Rows n * i / p up to n * (i + 1) / p: as even as whole rows can be.
double extent(double n, std::uint32_t parts, std::uint32_t i) {
  return std::floor(n * (i + 1) / parts) - std::floor(n * i / parts);
}

class Builder {
 public:
  Builder(Application const& app, Graph& graph) : app_(app), graph_(graph) {
    for (std::uint32_t part = 0; part < graph.parts; ++part) {
      std::uint32_t const row = part / graph.part_columns, column = part % graph.part_columns;
      values_.push_back({graph.n, double(graph.parts), double(graph.part_rows), double(graph.part_columns),
                         extent(graph.n, graph.part_rows, row), extent(graph.n, graph.part_columns, column),
                         double(graph.iterations), 0});
    }
    last_kernel_.assign(graph.parts, none);
    arrived_.resize(graph.parts);
  }

  void build() {
    for (auto const& step : app_.before)
      if (step.kind == StepKind::kernel)
        kernels(prepared(step), 0);
      else
        host_copies(step, 0);
    std::vector<Prepared> loop;  // what is the same in every iteration
    std::size_t last_kernel_step = 0;
    for (auto const& step : app_.loop) {
      if (step.kind == StepKind::kernel) last_kernel_step = loop.size();
      loop.push_back(prepared(step));
    }
    for (std::uint32_t i = 0; i < graph_.iterations; ++i)
      for (std::size_t s = 0; s < loop.size(); ++s) {
        if (app_.loop[s].kind == StepKind::kernel)
          kernels(loop[s], i);
        else if (i + 1 < graph_.iterations || s < last_kernel_step)
          exchange(loop[s], i);
      }
    for (auto const& step : app_.after) host_copies(step, graph_.iterations - 1);
    set_edges(graph_, edges_);
  }

  bool rows_missing(std::uint32_t& part) const {
    for (part = 0; part < graph_.parts; ++part)
      if (values_[part][4] < 1 || values_[part][5] < 1) return true;
    return false;
  }
  std::array<double, 8> const& values(std::uint32_t part) const { return values_[part]; }

 private:
  std::uint32_t name(std::string const& text) {
    graph_.names.push_back(text);
    return static_cast<std::uint32_t>(graph_.names.size() - 1);
  }
  std::uint32_t add(Task const& task) {
    graph_.tasks.push_back(task);
    return static_cast<std::uint32_t>(graph_.tasks.size() - 1);
  }

  void host_copies(Step const& step, std::uint32_t iteration) {
    auto const id = name(step.name);
    for (std::uint32_t part = 0; part < graph_.parts; ++part) {
      bool const in = step.kind == StepKind::from_host;
      auto const task = add({in ? TaskKind::h2d : TaskKind::d2h, id, part, 0, iteration, step.bytes(values_[part]), 0});
      if (in)
        arrived_[part].push_back(task);
      else if (last_kernel_[part] != none)
        edges_.emplace_back(last_kernel_[part], task);
    }
  }

  struct Copy {
    std::uint32_t from, to;
    double bytes;
  };
  struct Prepared {
    std::uint32_t name = 0;
    std::vector<std::uint32_t> kernel;  // [part]
    std::vector<Copy> copies;
  };

  Prepared prepared(Step const& step) {
    Prepared out;
    out.name = name(step.name);
    if (step.kind == StepKind::kernel) {
      for (std::uint32_t part = 0; part < graph_.parts; ++part) {
        out.kernel.push_back(static_cast<std::uint32_t>(graph_.kernels.size()));
        graph_.kernels.push_back({step.name, {}, step.elements(values_[part]), std::nullopt, step.where});
        auto& kernel = graph_.kernels.back();
        for (std::size_t r = 0; r < step.demands.size(); ++r)
          kernel.demand[r] = kernel.elements * step.demands[r](values_[part]);
      }
    } else if (step.kind == StepKind::to_all) {
      for (std::uint32_t from = 0; from < graph_.parts; ++from)
        for (std::uint32_t to = 0; to < graph_.parts; ++to)
          if (from != to) out.copies.push_back({from, to, step.bytes(values_[from])});
    } else {
      neighbours(step, out.copies);
    }
    return out;
  }

  void neighbours(Step const& step, std::vector<Copy>& out) {
    std::uint32_t const rows = graph_.part_rows, columns = graph_.part_columns;
    for (std::uint32_t part = 0; part < graph_.parts; ++part) {
      std::uint32_t const row = part / columns, column = part % columns;
      auto const copy = [&](std::uint32_t to, double edge) {
        auto with_edge = values_[part];
        with_edge[7] = edge;
        out.push_back({part, to, step.bytes(with_edge)});
      };
      if (row > 0) copy(part - columns, values_[part][5]);
      if (row + 1 < rows) copy(part + columns, values_[part][5]);
      if (column > 0) copy(part - 1, values_[part][4]);
      if (column + 1 < columns) copy(part + 1, values_[part][4]);
    }
  }

  void kernels(Prepared const& step, std::uint32_t iteration) {
    for (std::uint32_t part = 0; part < graph_.parts; ++part) {
      auto const task = add({TaskKind::kernel, step.name, part, 0, iteration, 0, step.kernel[part]});
      if (last_kernel_[part] != none) edges_.emplace_back(last_kernel_[part], task);
      for (auto const copy : arrived_[part]) edges_.emplace_back(copy, task);
      arrived_[part].clear();
      last_kernel_[part] = task;
    }
  }

  void exchange(Prepared const& step, std::uint32_t iteration) {
    for (auto const& copy : step.copies) {
      auto const task = add({TaskKind::d2d, step.name, copy.from, copy.to, iteration, copy.bytes, 0});
      if (last_kernel_[copy.from] != none) edges_.emplace_back(last_kernel_[copy.from], task);
      arrived_[copy.to].push_back(task);
    }
  }

  Application const& app_;
  Graph& graph_;
  std::vector<std::array<double, 8>> values_;  // [part], in the order of edge_variables
  std::vector<std::uint32_t> last_kernel_;
  std::vector<std::vector<std::uint32_t>> arrived_;
  Edges edges_;
};

}  // namespace

Graph Application::graph(double n, std::uint32_t parts, std::uint32_t iterations, std::string& misfit) const {
  Graph out;
  out.app = name;
  out.n = n;
  out.parts = parts;
  std::tie(out.part_rows, out.part_columns) = split == Split::grid ? near_square(parts) : std::pair{1U, parts};
  out.iterations = loop.empty() ? 1 : iterations;
  Builder builder(*this, out);
  if (std::uint32_t empty = 0; builder.rows_missing(empty)) {
    misfit = fmt::format("n = {} is too small for {} x {} parts: part ({},{}) is empty ({}:{})", n, out.part_rows,
                         out.part_columns, empty / out.part_columns, empty % out.part_columns,
                         std::filesystem::path(split_where.file).filename().string(), split_where.line);
    return {};
  }
  if (!memory_bytes.empty())
    for (std::uint32_t part = 0; part < parts; ++part) out.memory_bytes.push_back(memory_bytes(builder.values(part)));
  builder.build();
  return out;
}

}  // namespace kernelcast::graph
