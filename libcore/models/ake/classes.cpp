#include "models/ake/classes.hpp"

#include <algorithm>

#include "kernels/ptx/module.hpp"
#include "records/trace.hpp"

namespace kernelcast::model::ake {

namespace {

constexpr std::array<std::string_view, 10> space_names{
    "", "generic", "global", "shared", "local", "const", "param", "tex", record::barrier_space, record::product_space};

InstructionType plain(Class c, bool fence = false) {
  return {c, Kind::plain, Space::none, false, fence};
}
InstructionType of_queue(Class c, Kind kind, Queue queue, Space space = Space::none) {
  InstructionType out{c, kind, space, false, true};
  out.queue = queue;
  return out;
}

// By copy engines; hints to fetch something move nothing that is waited for.
InstructionType classify_bulk(ptx::Instruction const& i, Space space) {
  if (i.has("prefetch")) return {Class::move, Kind::plain, space};
  InstructionType out{Class::gmem_load_l2, Kind::copy, space, false, false, true};
  out.engine = true;
  out.signals = i.arrives_at_mbarrier();
  out.stores = space != Space::shared;
  out.queue = out.signals ? Queue::none : Queue::bulk;
  return out;
}

// What goes on while its wavefront does, and what waits for it.
std::optional<InstructionType> classify_asynchronous(ptx::Instruction const& i, Space space) {
  using ptx::Op;
  if (i.tests_mbarrier()) return of_queue(Class::smem_load, Kind::phase, Queue::none, space);
  if (i.is_bulk_copy()) return classify_bulk(i, space);
  if (i.is(Op::st) && i.has("bulk")) {
    InstructionType out{Class::smem_store, Kind::store, space};
    out.engine = true;
    return out;
  }
  if (i.is(Op::cp, Op::wgmma) && (i.has("commit_group") || i.has("wait_group") || i.has("wait_all"))) {
    Queue const queue = i.is(Op::wgmma)  ? Queue::products
                        : !i.has("bulk") ? Queue::copies
                        : i.has("read")  ? Queue::bulk_reads
                                         : Queue::bulk;
    return of_queue(Class::sync, i.has("commit_group") ? Kind::commit : Kind::wait, queue);
  }
  if (i.arrives_at_mbarrier()) {
    Queue const queue = i.is(Op::cp) ? Queue::copies : i.is(Op::tcgen05) ? Queue::products : Queue::none;
    return of_queue(Class::smem_store, Kind::arrive, queue, space);
  }
  if (i.is(Op::wgmma) || (i.is(Op::tcgen05) && i.has("mma"))) {
    if (i.has("fence")) return plain(Class::sync, true);
    InstructionType out = of_queue(Class::mma, Kind::product, Queue::products, space);
    out.fence = false;
    return out;
  }
  if (!i.is(Op::tcgen05)) return std::nullopt;
  // Tensor memory: as fast as shared memory of neighbouring words.
  return plain(i.has("ld") ? Class::smem_load : i.has("st") ? Class::smem_store : Class::sync, !i.has("ld"));
}

InstructionType classify_memory(ptx::Instruction const& i, Space space) {
  bool const shared = space == Space::shared;
  if (i.is(ptx::Op::prefetch, ptx::Op::prefetchu, ptx::Op::discard, ptx::Op::applypriority))
    return {Class::move, Kind::plain, space};
  if (i.is_load()) {
    if (space == Space::param) return {Class::param_load, Kind::plain, space};
    if (space == Space::constant) return {Class::const_load, Kind::plain, space};
    return {shared ? Class::smem_load : Class::gmem_load_l1, Kind::load, space, i.has("nc") || i.is(ptx::Op::ldu),
            i.has("volatile") || i.has("acquire"),           i.has("cg")};
  }
  if (i.is_atomic()) return {shared ? Class::smem_atomic : Class::atomic_global, Kind::atomic, space, false, true};
  bool const past_l1 = i.has("cg");
  if (i.is(ptx::Op::cp) && i.has("async") && shared) {
    InstructionType out{Class::gmem_load_l1, Kind::copy, space, false, false, past_l1};
    out.queue = Queue::copies;
    return out;
  }
  if (i.is(ptx::Op::ldmatrix)) return {Class::smem_load, Kind::load, Space::shared};
  if (i.is(ptx::Op::stmatrix)) return {Class::smem_store, Kind::store, Space::shared};
  bool const writes = i.is(ptx::Op::st, ptx::Op::sust, ptx::Op::sured, ptx::Op::cp) || i.has("store");
  if (space == Space::param) return {Class::param_load, Kind::plain, space};
  if (writes)
    return {shared ? Class::smem_store : Class::gmem_load_l2, Kind::store, space, false,
            i.has("volatile") || i.has("release")};
  if (i.is(ptx::Op::tex, ptx::Op::tld4, ptx::Op::suld))
    return {Class::gmem_load_l1, Kind::load, Space::texture, !i.is(ptx::Op::suld)};
  return {shared ? Class::smem_load : Class::gmem_load_l1, Kind::load, space == Space::none ? Space::generic : space};
}

Class class_of_float(ptx::Instruction const& i) {
  if (i.is(ptx::Op::fma, ptx::Op::mad)) return Class::fp32_fma;
  return i.is(ptx::Op::mul) ? Class::fp32_mul : Class::fp32_add;
}

InstructionType classify_sync(ptx::Instruction const& i, Space space) {
  bool const group = i.is_barrier() && !i.has("warp") && !i.has("cluster");
  if (!group) return plain(Class::sync, true);
  InstructionType out{Class::barrier, Kind::barrier, space, false, true};
  out.passes = i.has("arrive");
  return out;
}

}  // namespace

std::optional<Space> space_named(std::string_view name) {
  auto const at = std::find(space_names.begin(), space_names.end(), name);
  if (at == space_names.end()) return std::nullopt;
  return static_cast<Space>(at - space_names.begin());
}

Space space_of_letter(char letter) {
  auto const at = std::find_if(space_names.begin() + static_cast<int>(Space::global), space_names.end(),
                               [letter](std::string_view name) { return name.front() == letter; });
  return at == space_names.end() ? Space::none : static_cast<Space>(at - space_names.begin());
}

InstructionType classify(record::InstructionClass counted, std::string_view opcode, Space space) {
  ptx::Instruction const i = ptx::instruction_of(opcode);
  if (auto const type = classify_asynchronous(i, space)) return *type;
  switch (counted) {
    using enum record::InstructionClass;
    case fp32:
      return plain(class_of_float(i));
    case fp64:
      return plain(Class::fp64);
    case fp16:
      return plain(Class::fp16);
    case int_add:
      return plain(Class::int_add);
    case int_mul:
      return plain(i.is(ptx::Op::mad, ptx::Op::mad24) ? Class::int_mad : Class::int_mul);
    case shift:
      return plain(Class::shift);
    case logic:
      return plain(Class::logic);
    case special:
      return plain(i.is(ptx::Op::mma, ptx::Op::wmma) ? Class::mma : Class::sfu);
    case convert:
      return plain(i.is(ptx::Op::cvta) ? Class::move : Class::cvt);  // an address stays as it is
    case memory:
      return classify_memory(i, space);
    case control: {
      return InstructionType{Class::control, i.ends_function() ? Kind::exit : Kind::plain, Space::none};
    }
    case sync:
      return classify_sync(i, space);
    case other:
      break;
  }
  return plain(Class::move);
}

}  // namespace kernelcast::model::ake
