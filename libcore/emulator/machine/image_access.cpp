// Executes texture and surface instructions. Lanes that name the same image and sampler are done together, so that a
// handle is looked up once and observers hear of one access per image; what a lane does is in opcodes/texture_*.
#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/machine/machine.hpp"
#include "emulator/opcodes/texture_sample.hpp"

namespace kernelcast::emu {

namespace {

using Op = TextureOperation;

struct Operands {
  Context const& c;
  MicroOp const& op;
  std::uint32_t source(unsigned k) const { return op.operands ? op.operands[op.destinations + k] : op.s[k]; }
  std::uint32_t destination(unsigned k) const { return op.operands ? op.operands[k] : op.d[k]; }
  std::uint32_t word(unsigned k, std::uint32_t lane) const {
    return reinterpret_cast<std::uint32_t const*>(c.registers + source(k))[lane];
  }
  std::uint64_t wide(unsigned k, std::uint32_t lane) const {
    return reinterpret_cast<std::uint64_t const*>(c.registers + source(k))[lane];
  }
  void write(unsigned k, std::uint32_t lane, std::uint32_t value) const {
    reinterpret_cast<std::uint32_t*>(c.registers + destination(k))[lane] = value;
  }
  void write_wide(unsigned k, std::uint32_t lane, std::uint64_t value) const {
    reinterpret_cast<std::uint64_t*>(c.registers + destination(k))[lane] = value;
  }
};

template <class Each>
void each_lane(std::uint32_t const* bits, std::uint32_t warps, Each each) {
  for (std::uint32_t w = 0; w < warps; ++w)
    for (std::uint32_t rest = bits[w]; rest; rest &= rest - 1)
      each(w * lanes_per_warp + static_cast<std::uint32_t>(std::countr_zero(rest)));
}

std::string describe(Image const& image) {
  std::string text = "image '" + image.name + "' (" + std::to_string(image.width);
  if (image.height > 1) text += "x" + std::to_string(image.height);
  if (image.slices() > 1) text += "x" + std::to_string(image.slices());
  return text + " " + name(image.format) + ")";
}

std::string place_text(Op const& t, TexturePosition const& p) {
  std::string text = "(";
  for (unsigned d = 0; d < t.dimensions(); ++d) {
    if (d) text += ", ";
    text += t.integer_coordinates ? std::to_string(static_cast<std::int32_t>(p.at[d]))
                                  : std::to_string(std::bit_cast<float>(p.at[d]));
  }
  text += ")";
  if (t.layer != Op::nothing) text += " of layer " + std::to_string(p.layer);
  return text;
}

template <class T, class Combine>
void combine(std::byte* at, std::uint64_t value, Combine op) {
  T old;
  std::memcpy(&old, at, sizeof old);
  T const result = static_cast<T>(op(old, static_cast<T>(value)));
  std::memcpy(at, &result, sizeof result);
}

template <class Signed, class Unsigned>
void reduce_as(Op::Reduction reduction, bool is_signed, std::byte* at, std::uint64_t value) {
  switch (reduction) {
    case Op::Reduction::add:
      return combine<Unsigned>(at, value, [](Unsigned a, Unsigned b) { return a + b; });
    case Op::Reduction::conjunction:
      return combine<Unsigned>(at, value, [](Unsigned a, Unsigned b) { return a & b; });
    case Op::Reduction::disjunction:
      return combine<Unsigned>(at, value, [](Unsigned a, Unsigned b) { return a | b; });
    case Op::Reduction::minimum:
      return is_signed ? combine<Signed>(at, value, [](Signed a, Signed b) { return std::min(a, b); })
                       : combine<Unsigned>(at, value, [](Unsigned a, Unsigned b) { return std::min(a, b); });
    case Op::Reduction::maximum:
      return is_signed ? combine<Signed>(at, value, [](Signed a, Signed b) { return std::max(a, b); })
                       : combine<Unsigned>(at, value, [](Unsigned a, Unsigned b) { return std::max(a, b); });
  }
}

std::uint32_t channel_order_constant(ChannelOrder order) {  // [opencl] CL_R …
  static constexpr std::uint32_t values[] = {0x10b0, 0x10b1, 0x10b2, 0x10b3, 0x10b4, 0x10b5,
                                             0x10b6, 0x10b7, 0x10c3, 0x10b8, 0x10b9};
  return values[static_cast<std::size_t>(order)];
}
std::uint32_t channel_type_constant(ChannelType type) {  // [opencl] CL_UNORM_INT8 …
  static constexpr std::uint32_t values[] = {0x10d2, 0x10d3, 0x10d0, 0x10d1, 0x10d7, 0x10d8,
                                             0x10d9, 0x10da, 0x10db, 0x10dc, 0x10dd, 0x10de};
  return values[static_cast<std::size_t>(type)];
}

// [ptx] "txq": addr_mode is one of wrap, mirror, clamp_ogl, clamp_to_edge, clamp_to_border.
std::uint32_t address_constant(AddressMode mode) {
  return mode == AddressMode::mirror_once ? 1 : mode == AddressMode::none ? 3 : static_cast<std::uint32_t>(mode);
}

std::uint32_t answer(Op::Query query, Image const* image, Sampler const& sampler) {
  switch (query) {
    case Op::Query::filter_mode:
      return sampler.filter == Filter::linear;
    case Op::Query::addr_mode_0:
    case Op::Query::addr_mode_1:
    case Op::Query::addr_mode_2:
      return address_constant(sampler.address[static_cast<int>(query) - static_cast<int>(Op::Query::addr_mode_0)]);
    case Op::Query::force_unnormalized_coords:
      return !sampler.normalized;
    case Op::Query::normalized_coords:
      return sampler.normalized;
    default:
      break;
  }
  if (!image) return 0;
  bool const array = image->geometry == Geometry::array_1d || image->geometry == Geometry::array_2d ||
                     image->geometry == Geometry::cube_array;
  switch (query) {
    case Op::Query::width:
      return image->width;
    case Op::Query::height:
      return image->height;
    case Op::Query::depth:
      return image->depth;
    case Op::Query::channel_data_type:
      return channel_type_constant(image->format.type);
    case Op::Query::channel_order:
      return channel_order_constant(image->format.order);
    case Op::Query::array_size:
      return array ? image->layers : 0;
    case Op::Query::memory_layout:
      return 1;  // linear
    default:
      return 0;  // no levels of detail, no samples
  }
}

bool of_sampler(Op::Query query) {
  return query == Op::Query::filter_mode || query == Op::Query::addr_mode_0 || query == Op::Query::addr_mode_1 ||
         query == Op::Query::addr_mode_2 || query == Op::Query::force_unnormalized_coords;
}

}  // namespace

std::string_view name(Op::Shape shape) {
  static constexpr std::string_view names[] = {"1d", "2d", "3d", "a1d", "a2d", "cube", "acube"};
  return names[static_cast<std::size_t>(shape)];
}

bool fits(Op::Shape shape, Geometry g) {
  switch (shape) {
    case Op::Shape::d1:
      return g == Geometry::image_1d || g == Geometry::buffer_1d;
    case Op::Shape::d2:
      return g == Geometry::image_2d;
    case Op::Shape::d3:
      return g == Geometry::image_3d;
    case Op::Shape::a1d:
      return g == Geometry::array_1d;
    case Op::Shape::a2d:  // surfaces see a cube as its faces
      return g == Geometry::array_2d || g == Geometry::cube || g == Geometry::cube_array;
    case Op::Shape::cube:
      return g == Geometry::cube;
    case Op::Shape::acube:
      return g == Geometry::cube_array;
  }
  return false;
}

void execute_texture(Context& c, MicroOp const& op) {
  static_cast<Machine*>(c.machine)->texture(c, op);
}

// Executes one instruction for lanes that share image and sampler.
class Machine::TextureUnit {
 public:
  TextureUnit(Machine& machine, Context const& c, MicroOp const& op)
      : machine_(machine), t_(*static_cast<Op const*>(op.data)), r_{c, op} {}

  void query() {
    Images const& images = machine_.device_.images();
    each_lane(r_.c.bits, r_.c.warps, [&](std::uint32_t lane) {
      std::uint64_t const handle = r_.wide(0, lane);
      if (t_.kind == Op::Kind::test) {
        ptx::Type const type = images.type_of(handle);
        bool const image = type == ptx::Type::texref && handle >> 48 != 0;  // an image is texture and surface alike
        r_.write(0, lane, type == t_.type || (image && t_.type == ptx::Type::surfref) ? ~0u : 0u);
        return;
      }
      std::string why;
      if (of_sampler(t_.query)) {
        Sampler const* const sampler = images.sampler(handle, why);
        if (!sampler) refuse(lane, why);
        r_.write(0, lane, sampler ? answer(t_.query, nullptr, *sampler) : 0);
      } else {
        Images::Texture const* const texture = images.texture(handle, why);
        if (!texture) refuse(lane, why);
        r_.write(0, lane, texture ? answer(t_.query, &texture->image, texture->sampler) : 0);
      }
    });
  }

  void run() {
    std::uint32_t rest[max_warps_per_unit], bits[max_warps_per_unit];
    std::copy(r_.c.bits, r_.c.bits + r_.c.warps, rest);
    for (std::uint32_t w = 0; w < r_.c.warps;) {
      if (!rest[w]) {
        ++w;
        continue;
      }
      std::uint32_t const leader = w * lanes_per_warp + static_cast<std::uint32_t>(std::countr_zero(rest[w]));
      bool const chosen = choose(leader);
      std::fill(bits, bits + r_.c.warps, 0);
      each_lane(rest, r_.c.warps, [&](std::uint32_t lane) {
        if (r_.wide(0, lane) == handle_ && (t_.sampler == Op::nothing || r_.wide(t_.sampler, lane) == sampler_handle_))
          bits[lane / lanes_per_warp] |= 1u << lane % lanes_per_warp;
      });
      for (std::uint32_t k = 0; k < r_.c.warps; ++k) rest[k] &= ~bits[k];
      if (!chosen) {
        each_lane(bits, r_.c.warps, [&](std::uint32_t lane) {
          if (lane != leader) choose(lane);
          give_nothing(lane);
        });
        continue;
      }
      access(bits);
      if (r_.c.observed) notify(bits);
    }
  }

 private:
  // These return where the launch goes on after a finding.
  void complain(Finding::Kind kind, std::uint32_t lane, std::string const& message) const {
    machine_.pass_over(kind, r_.op.instruction, r_.c.first_warp * lanes_per_warp + lane, [&] { return message; });
  }
  void refuse(std::uint32_t lane, std::string const& why) const {
    complain(Finding::Kind::bad_image, lane,
             std::string(machine_.p_.kernel->instructions[r_.op.instruction].opcode.text()) + ": " + why);
  }

  // What is read where nothing can be.
  void give_nothing(std::uint32_t lane) const {
    if (t_.kind == Op::Kind::load) return load(lane, nullptr);
    if (t_.kind == Op::Kind::sample || t_.kind == Op::Kind::gather)
      for (unsigned k = 0; k < t_.elements; ++k) r_.write(k, lane, 0);
  }

  // The image and sampler that this lane names; false where there are none that fit.
  bool choose(std::uint32_t lane) {
    Images const& images = machine_.device_.images();
    std::string why;
    handle_ = r_.wide(0, lane);
    texture_ = images.texture(handle_, why);
    if (t_.sampler != Op::nothing) sampler_handle_ = r_.wide(t_.sampler, lane);
    if (!texture_) {
      refuse(lane, why);
      return false;
    }
    if (!fits(t_.shape, texture_->image.geometry)) {
      refuse(lane, describe(texture_->image) + " is " + std::string(name(texture_->image.geometry)) +
                       ", the instruction asks for " + std::string(name(t_.shape)));
      return false;
    }
    sampler_ = &texture_->sampler;
    if (t_.sampler != Op::nothing) {
      sampler_ = images.sampler(sampler_handle_, why);
      if (!sampler_) refuse(lane, why);
    } else if (t_.integer_coordinates) {
      // [cuda] tex1Dfetch: no addressing mode; what is outside reads as 0.
      static Sampler const plain{
          {AddressMode::clamp_to_border, AddressMode::clamp_to_border, AddressMode::clamp_to_border},
          Filter::nearest,
          false,
          std::nullopt};
      sampler_ = &plain;
    }
    return sampler_ != nullptr;
  }

  TexturePosition position(std::uint32_t lane) const {
    TexturePosition p;
    for (unsigned d = 0; d < t_.dimensions(); ++d) {
      p.at[d] = r_.word(t_.coordinates + d, lane);
      if (t_.offsets != Op::nothing) p.offset[d] = static_cast<std::int32_t>(r_.word(t_.offsets + d, lane));
    }
    if (t_.layer != Op::nothing) p.layer = r_.word(t_.layer, lane);
    return p;
  }

  void access(std::uint32_t const* bits) {
    if (t_.kind == Op::Kind::sample || t_.kind == Op::Kind::gather) {
      bytes_ = texture_->image.format.texel_bytes();
      if (plain())
        each_lane(bits, r_.c.warps, [&](std::uint32_t lane) { copy(lane); });
      else
        each_lane(bits, r_.c.warps, [&](std::uint32_t lane) { look_up(lane); });
    } else {
      bool const texels = t_.kind == Op::Kind::store_texel || t_.kind == Op::Kind::reduce_texel;
      bytes_ = texels ? texture_->image.format.texel_bytes() : unsigned{t_.elements} * t_.element_bytes;
      each_lane(bits, r_.c.warps, [&](std::uint32_t lane) { move(lane, texels); });
    }
  }

  // One or two coordinates, one texel of 32-bit channels, nothing to convert: what most kernels ask for. copy() gives
  // what look_up() gives, several times faster.
  bool plain() const {
    Image const& image = texture_->image;
    ChannelOrder const order = image.format.order;
    bool const direct = order == ChannelOrder::r || order == ChannelOrder::rg || order == ChannelOrder::rgba;
    bool const nearest = t_.integer_coordinates || sampler_->filter == Filter::nearest || is_integer(image.format.type);
    return t_.kind == Op::Kind::sample && t_.result == Op::Result::bits32 && t_.layer == Op::nothing &&
           t_.offsets == Op::nothing && !t_.projects() && t_.dimensions() <= 2 && direct && nearest &&
           size_bytes(image.format.type) == 4;
  }

  void copy(std::uint32_t lane) {
    Image const& image = texture_->image;
    std::uint32_t const sizes[] = {image.width, image.height};
    std::uint64_t const steps[] = {image.format.texel_bytes(), image.row_pitch()};
    std::uint64_t place = 0;
    for (unsigned d = 0; d < t_.dimensions(); ++d) {
      std::uint32_t const bits = r_.word(t_.coordinates + d, lane);
      std::int32_t index = static_cast<std::int32_t>(bits);
      if (!t_.integer_coordinates) {
        float u = std::bit_cast<float>(bits);
        if (sampler_->normalized) {
          AddressMode const mode = sampler_->address[d];
          if (mode == AddressMode::mirror || mode == AddressMode::mirror_once) return look_up(lane);
          if (u != u) u = 0;
          u = (mode == AddressMode::wrap ? u - floor_of(u) : u) * static_cast<float>(sizes[d]);
        }
        u = u == u ? std::clamp(u, -0x1p30f, 0x1p30f) : 0.0f;
        index = static_cast<std::int32_t>(u);
        index -= static_cast<float>(index) > u;
      }
      if (static_cast<std::uint32_t>(index) >= sizes[d]) return look_up(lane);
      place += static_cast<std::uint32_t>(index) * steps[d];
    }
    unsigned const stored = channels(image.format.order);
    TexelValue value{0, 0, 0, is_integer(image.format.type) ? 1 : 0x3f800000u};
    std::memcpy(value.data(), texture_->texels + place, 4 * std::size_t{stored});
    offsets_[lane] = static_cast<std::uint32_t>(place);
    for (unsigned k = 0; k < t_.elements; ++k) r_.write(k, lane, value[k]);
  }

  void look_up(std::uint32_t lane) {
    TexturePosition const p = position(lane);
    TextureResult const found =
        t_.kind == Op::Kind::sample ? sample(*texture_, *sampler_, t_, p) : gather(*texture_, *sampler_, t_, p);
    if (!found.inside) {
      complain(Finding::Kind::out_of_bounds, lane,
               "read at " + place_text(t_, p) + " of " + describe(texture_->image) +
                   " by a sampler without an addressing mode");
      drop(lane);
      return give_nothing(lane);
    }
    offsets_[lane] = found.place;
    auto const half = [&](unsigned k) { return std::uint32_t{half_of_float(std::bit_cast<float>(found.value[k]))}; };
    for (unsigned k = 0; k < t_.elements; ++k)
      r_.write(k, lane,
               t_.result == Op::Result::bits32 ? found.value[k]
               : t_.result == Op::Result::f16  ? half(k)
                                               : half(2 * k) | half(2 * k + 1) << 16);
  }

  // Where a surface access goes; false where it is outside and does nothing.
  bool place(std::uint32_t lane, bool texels, std::uint64_t& at) {
    Image const& image = texture_->image;
    TexturePosition p = position(lane);
    std::int64_t const row = std::int64_t{image.width} * image.format.texel_bytes();
    std::int64_t const last[] = {texels ? std::int64_t{image.width} - 1 : row - bytes_, std::int64_t{image.height} - 1,
                                 std::int64_t{image.depth} - 1,
                                 static_cast<std::int64_t>(std::uint64_t{image.layers} * image.faces()) - 1};
    std::int64_t where[] = {0, 0, 0, p.layer};
    for (unsigned d = 0; d < t_.dimensions(); ++d) where[d] = static_cast<std::int32_t>(p.at[d]);
    bool inside = true;
    for (unsigned d = 0; d < 4; ++d) inside = inside && where[d] >= 0 && where[d] <= last[d];
    if (!inside) {
      if (t_.outside == Op::Outside::trap || last[0] < 0) {
        complain(Finding::Kind::out_of_bounds, lane,
                 std::string("surface ") + verb() + " of " + std::to_string(bytes_) + " bytes at " + place_text(t_, p) +
                     (texels ? "" : ", x in bytes,") + " of " + describe(image));
        drop(lane);
        return false;
      }
      if (t_.outside == Op::Outside::zero) return false;
      for (unsigned d = 0; d < 4; ++d) where[d] = std::clamp<std::int64_t>(where[d], 0, last[d]);
    }
    if (!texels && where[0] % bytes_ != 0) {
      complain(Finding::Kind::misaligned, lane,
               std::string("surface ") + verb() + " of " + std::to_string(bytes_) + " bytes at " + place_text(t_, p) +
                   ": x is in bytes, and must be a multiple of " + std::to_string(bytes_));
      drop(lane);
      return false;
    }
    at = static_cast<std::uint64_t>(where[0]) * (texels ? image.format.texel_bytes() : 1) +
         static_cast<std::uint64_t>(where[1]) * image.row_pitch() +
         static_cast<std::uint64_t>(where[2] + where[3]) * image.slice_pitch();
    return true;
  }

  char const* verb() const {
    return t_.kind == Op::Kind::load                                        ? "load"
           : t_.kind == Op::Kind::store || t_.kind == Op::Kind::store_texel ? "store"
                                                                            : "reduction";
  }

  void move(std::uint32_t lane, bool texels) {
    std::uint64_t at = 0;
    bool const inside = place(lane, texels, at);
    offsets_[lane] = static_cast<std::uint32_t>(at);
    std::byte* const texel = texture_->texels + at;
    switch (t_.kind) {
      case Op::Kind::load:
        return load(lane, inside ? texel : nullptr);
      case Op::Kind::store:
        if (inside)
          for (unsigned k = 0; k < t_.elements; ++k) {
            std::uint64_t const value = data(k, lane);
            std::memcpy(texel + std::size_t{k} * t_.element_bytes, &value, t_.element_bytes);
          }
        return;
      case Op::Kind::store_texel: {
        TexelValue value{};
        for (unsigned k = 0; k < t_.elements; ++k) value[k] = static_cast<std::uint32_t>(data(k, lane));
        if (inside) write_texel(texture_->image.format, texel, value);
        return;
      }
      default:
        if (inside) reduce(lane, texel);
    }
  }

  std::uint64_t data(unsigned k, std::uint32_t lane) const {
    return t_.element_bytes == 8 ? r_.wide(t_.data + k, lane) : r_.word(t_.data + k, lane);
  }

  void load(std::uint32_t lane, std::byte const* from) const {
    for (unsigned k = 0; k < t_.elements; ++k) {
      std::uint64_t value = 0;
      if (from) std::memcpy(&value, from + std::size_t{k} * t_.element_bytes, t_.element_bytes);
      if (t_.element_bytes == 8)
        r_.write_wide(k, lane, value);
      else
        r_.write(k, lane, static_cast<std::uint32_t>(value));
    }
  }

  void reduce(std::uint32_t lane, std::byte* texel) {
    Format const format = texture_->image.format;
    bool is_signed = t_.type == ptx::Type::s32 || t_.type == ptx::Type::s64;
    if (t_.kind == Op::Kind::reduce_texel) {
      if (!is_integer(format.type) || format.texel_bytes() != t_.element_bytes) {
        refuse(lane, describe(texture_->image) + " has no texels of " + std::to_string(t_.element_bytes) +
                         " bytes of integers");
        return drop(lane);
      }
      is_signed = format.type <= ChannelType::sint32;
    }
    if (t_.element_bytes == 8)
      reduce_as<std::int64_t, std::uint64_t>(t_.reduction, is_signed, texel, data(0, lane));
    else
      reduce_as<std::int32_t, std::uint32_t>(t_.reduction, is_signed, texel, data(0, lane));
  }

  void drop(std::uint32_t lane) { dropped_[lane / lanes_per_warp] |= 1u << lane % lanes_per_warp; }

  // Of the lanes that have accessed something.
  void notify(std::uint32_t* bits) const {
    Context& c = machine_.context_;
    for (std::uint32_t w = 0; w < c.warps; ++w) bits[w] &= ~dropped_[w];
    if (std::all_of(bits, bits + c.warps, [](std::uint32_t word) { return word == 0; })) return;
    std::uint32_t steps[2 * max_warps_per_unit];
    std::fill(std::begin(steps), std::end(steps), no_step);
    MemoryAccess event;
    event.instruction = r_.op.instruction;
    event.space = ptx::StateSpace::tex;
    event.direction = t_.kind <= Op::Kind::load                                        ? Direction::load
                      : t_.kind == Op::Kind::store || t_.kind == Op::Kind::store_texel ? Direction::store
                                                                                       : Direction::atomic;
    event.bytes_per_lane = static_cast<std::uint8_t>(bytes_);
    event.base = texture_->image.address;
    event.offsets = offsets_;
    event.pattern = ++c.placements;
    event.steps = steps;
    event.lanes = {bits, c.warps, c.first_warp, std::equal(bits, bits + c.warps, c.exists)};
    for (Observer* o : machine_.observers_) o->memory(event);
  }

  Machine& machine_;
  Op const& t_;
  Operands r_;
  std::uint64_t handle_ = 0, sampler_handle_ = 0;
  Images::Texture const* texture_ = nullptr;
  Sampler const* sampler_ = nullptr;
  unsigned bytes_ = 0;  // per lane
  std::uint32_t offsets_[max_lanes_per_unit] = {};
  std::uint32_t dropped_[max_warps_per_unit] = {};  // lanes
};

void Machine::texture(Context& c, MicroOp const& op) {
  TextureUnit unit(*this, c, op);
  auto const kind = static_cast<Op const*>(op.data)->kind;
  if (kind == Op::Kind::query || kind == Op::Kind::test)
    unit.query();
  else
    unit.run();
}

}  // namespace kernelcast::emu
