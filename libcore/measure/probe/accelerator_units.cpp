// Shared and constant memory, images, atomics, and the latency of loads over the working set.
#include "measure/probe/accelerator_probe.hpp"
#include "measure/probe/random.hpp"

namespace kernelcast::probe {

namespace {

// A random cycle through `bytes`, one word used of every line of `line` bytes.
std::vector<std::uint32_t> cycle_words(std::size_t bytes, std::size_t line, std::uint64_t seed) {
  std::size_t const nodes = std::max<std::size_t>(bytes / line, 1), step = line / 4;
  auto const order = random_order(nodes, seed);
  auto words = random_words(std::max<std::size_t>(bytes / 4, 1), seed);
  for (std::size_t i = 0; i < nodes; ++i)
    words[order[i] * step] = static_cast<std::uint32_t>(order[(i + 1) % nodes] * step);
  // Words between are no part of the cycle; they must not lead out of it.
  for (auto& word : words) word %= static_cast<std::uint32_t>(words.size());
  return words;
}

}  // namespace

void AcceleratorProbe::shared() {
  if (!(facts_.shared_per_group_bytes > 0)) {
    add("shared", "shared_bandwidth_bytes_per_s").unsupported = "the device states no shared memory";
    return;
  }
  for (char const* const direction : {"read", "write"}) {
    for (auto const& load : loads(true)) shared_point(direction, 1, load);
    for (std::uint32_t stride = 2; stride <= 32; stride *= 2) shared_point(direction, stride, loads(false).back());
  }
}

void AcceleratorProbe::shared_point(std::string const& direction, std::uint32_t stride, Load const& load) {
  auto& point = add("shared", "shared_bandwidth_bytes_per_s");
  point.row.access = stride == 1 ? "coalesced" : fmt::format("stride{}", stride);
  point.row.direction = direction;
  point.row.word_bytes = 4;
  point.row.occupancy = load.occupancy;
  std::uint64_t const group = cpu_ ? std::min<std::uint64_t>(64, facts_.max_group_size) : group_;
  constexpr std::uint32_t count = 1024;  // words; a power of two, and 8 beyond
  point.row.working_set_bytes = count * 4;
  point.measure = [=, this, lazy = std::make_shared<Lazy>()] {
    std::uint64_t const bytes = std::max<std::uint64_t>(load.shared_bytes, (count + 8) * 4);
    if (!lazy->kernel) {
      lazy->kernel = kernel("shared_" + direction, "shared_" + direction, {});
      lazy->in = random_buffer((count + 8) * 4);
      lazy->out = random_buffer(load.groups * group * 4);
    }
    auto const run = [&](std::uint64_t n) {
      return lazy->kernel->run(load.groups, group, {lazy->in, lazy->out, count, stride, u32(n), SharedBytes{bytes}});
    };
    if (lazy->iterations == 0) lazy->iterations = iterations_for(run, sample_s() / 2);
    // What fills the memory at first is the same for both lengths.
    double const one = shortest([&] { return run(lazy->iterations); });
    double const two = shortest([&] { return run(2 * lazy->iterations); });
    auto const variables = counting(load.groups * group, 1, 1, lazy->iterations);
    auto const& catalogue = device_catalogue();
    double const moved =
        catalogue.count("shared_" + direction, direction == "read" ? "shared_load" : "shared_store", variables);
    return moved / (two - one);
  };
}

void AcceleratorProbe::shared_latency() {
  auto& point = add("instruction", "shared_latency_cycles");
  point.row.access = "random";
  point.row.word_bytes = 4;
  point.measure = [this, lazy = std::make_shared<Lazy>()] {
    constexpr std::uint32_t count = 1024;
    std::uint64_t const group = std::max<std::uint64_t>(facts_.wave_width, 1);
    if (!lazy->kernel) {
      lazy->kernel = kernel("shared_chase", "shared_chase", {});
      // Items of a wavefront walk side by side, without conflict: all move on by the same number of banks.
      std::vector<std::uint32_t> next(count);
      for (std::uint32_t i = 0; i < count; ++i) next[i] = (i + 33) % count;
      lazy->in = words(next);
      lazy->out = random_buffer(group * 4);
    }
    auto const run = [&](std::uint32_t n) {
      return lazy->kernel->run(1, group, {lazy->in, lazy->out, count, n, SharedBytes{count * 4}});
    };
    constexpr std::uint32_t n = 8192;
    double const one = shortest([&] { return run(n); }), two = shortest([&] { return run(2 * n); });
    return (two - one) / (4.0 * n) * cycles_hz();
  };
}

void AcceleratorProbe::constant() {
  auto& point = add("constant", "constant_bandwidth_bytes_per_s");
  point.row.access = "coalesced";
  point.row.direction = "read";
  point.row.word_bytes = 4;
  point.row.occupancy = 1;
  point.row.working_set_bytes = 2056 * 4;
  point.measure = [this, lazy = std::make_shared<Lazy>()] {
    std::uint64_t const groups = full_groups();
    std::uint64_t const group = cpu_ ? std::min<std::uint64_t>(64, facts_.max_group_size) : group_;
    if (!lazy->kernel) {
      lazy->kernel = kernel("constant_read", "constant_read", {});
      lazy->in = random_buffer(2056 * 4);
      lazy->out = random_buffer(groups * group * 4);
    }
    auto const run = [&](std::uint64_t n) {
      std::vector<KernelArgument> arguments{lazy->out, u32(n)};
      if (device_->constant_is_argument()) arguments.insert(arguments.begin(), lazy->in);
      return lazy->kernel->run(groups, group, arguments);
    };
    if (lazy->iterations == 0) lazy->iterations = iterations_for(run, sample_s());
    return device_catalogue().count("constant_read", "constant_load",
                                    counting(groups * group, 1, 1, lazy->iterations)) /
           run(lazy->iterations);
  };
}

void AcceleratorProbe::texture() {
  auto& point = add("texture", "texture_bandwidth_bytes_per_s");
  point.row.access = "coalesced";
  point.row.direction = "read";
  point.row.word_bytes = 16;
  point.row.occupancy = 1;
  constexpr std::uint32_t width = 1024, height = 512;
  point.row.working_set_bytes = 16.0 * width * height;
  if (!facts_.images) {
    point.unsupported = "the device has no images";
    return;
  }
  struct State {
    std::shared_ptr<DeviceKernel> kernel;
    std::shared_ptr<Texture> texture;
    Buffer out;
    std::uint64_t iterations = 0;
  };
  point.measure = [this, state = std::make_shared<State>()] {
    std::uint64_t const groups = full_groups();
    std::uint64_t const group = cpu_ ? std::min<std::uint64_t>(64, facts_.max_group_size) : group_;
    if (!state->kernel) {
      state->kernel = device_->kernel("texture", "texture_read", {});
      state->texture = device_->texture(width, height);
      if (!state->texture) throw Error(Status::unavailable, "the driver makes no image of four 32-bit channels", "");
      state->out = random_buffer(groups * group * 4);
    }
    auto const run = [&](std::uint64_t n) {
      return state->kernel->run(groups, group, {state->texture, state->out, width - 1, height - 1, u32(n)});
    };
    if (state->iterations == 0) state->iterations = iterations_for(run, sample_s());
    return device_catalogue().count("texture_read", "texture_load", counting(groups * group, 1, 1, state->iterations)) /
           run(state->iterations);
  };
}

void AcceleratorProbe::atomics() {
  for (char const* const variant : {"same", "distinct", "shared"}) {
    auto& point = add("atomics", "atomic_op_per_s");
    point.row.variant = variant;
    point.row.word_bytes = 4;
    point.row.occupancy = 1;
    point.measure = [this, kind = std::string(variant), lazy = std::make_shared<Lazy>()] {
      std::uint64_t const groups = full_groups();
      std::uint64_t const group = cpu_ ? std::min<std::uint64_t>(64, facts_.max_group_size) : group_;
      bool const shared = kind == "shared";
      if (!lazy->kernel) {
        lazy->kernel =
            kernel(shared ? "atomic_shared" : "atomic_global", shared ? "atomic_shared" : "atomic_global", {});
        lazy->out = random_buffer(groups * group * 4);
      }
      auto const run = [&](std::uint64_t n) {
        if (shared) return lazy->kernel->run(groups, group, {lazy->out, u32(n), SharedBytes{256}});
        return lazy->kernel->run(groups, group, {lazy->out, u32(kind == "same" ? 0 : 1), u32(n)});
      };
      if (lazy->iterations == 0) lazy->iterations = iterations_for(run, sample_s());
      return static_cast<double>(groups * group * lazy->iterations) / run(lazy->iterations);
    };
  }
}

void AcceleratorProbe::latency() {
  double const line = std::max(facts_.line_bytes, 64.0);
  double const largest = static_cast<double>(memory_bytes());
  double const ratio = settings_.depth == Depth::thorough ? std::sqrt(2.0)
                       : settings_.depth == Depth::quick  ? 4.0
                                                          : 2.0;
  for (double bytes = 4096; bytes <= largest * 1.001; bytes *= ratio) {
    auto const size = static_cast<std::size_t>(std::round(bytes / line) * line);
    auto& point = add("latency", "load_latency_s");
    point.row.access = "random";
    point.row.direction = "read";
    point.row.word_bytes = 4;
    point.row.working_set_bytes = static_cast<double>(size);
    point.measure = [this, size, line, lazy = std::make_shared<Lazy>()] {
      if (!lazy->kernel) {
        lazy->kernel = kernel("chase", "chase", {});
        lazy->in = words(cycle_words(size, static_cast<std::size_t>(line), settings_.seed));
        lazy->out = words({0});
        // Once around, so that what a cache can hold is there.
        lazy->kernel->run(
            1, 1,
            {lazy->in, lazy->out, u32(std::min<std::size_t>(size / static_cast<std::size_t>(line) / 8 + 1, 1 << 17))});
      }
      auto const run = [&](std::uint32_t n) { return lazy->kernel->run(1, 1, {lazy->in, lazy->out, n}); };
      std::uint32_t const n = size > (1 << 20) ? 1 << 10 : 1 << 12;
      double const one = shortest([&] { return run(n); }), two = shortest([&] { return run(3 * n); });
      return (two - one) / (2.0 * 8 * n);
    };
  }
}

}  // namespace kernelcast::probe
