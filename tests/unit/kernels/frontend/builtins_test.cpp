// Every family of OpenCL C's built-in functions compiles to PTX with nothing left undefined: one small kernel per call,
// many kernels per file. Calls are generated, so that a family takes one line.
#include <future>

#include "catch.hpp"
#include "scratch.hpp"

using namespace kernelcast;
using namespace kernelcast::frontend;

namespace {

std::vector<std::string> words(std::string const& text) {
  std::vector<std::string> result;
  std::string word;
  for (char const c : text + " ") {
    if (c != ' ') {
      word += c;
    } else if (!word.empty()) {
      result.push_back(std::move(word));
      word.clear();
    }
  }
  return result;
}

class Source {
 public:
  void add(std::string const& arguments, std::string const& body) {
    text_ += "__kernel void k" + std::to_string(kernels_++) + "(" + arguments + ") { int i = get_global_id(0); " +
             body + " }\n";
  }
  std::size_t kernels() const { return kernels_; }
  std::string text() const {
    return "#pragma OPENCL EXTENSION cl_khr_fp64: enable\n#pragma OPENCL EXTENSION cl_khr_fp16: enable\n"
           "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics: enable\n"
           "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics: enable\n" +
           text_;
  }

 private:
  std::string text_;
  std::size_t kernels_ = 0;
};

Source mathematics(std::string const& t) {
  Source s;
  bool const vector = t == "float4", wide = t == "double";
  std::string const n = vector ? "int4" : "int";
  std::string const x = "__global " + t + " *x", xn = x + ", __global " + n + " *n";
  auto const scalar = vector ? std::string("((__global float *)x)[i]") : std::string("x[i]");
  for (auto const& f :
       words("sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sinpi cospi tanpi asinpi acospi "
             "atanpi exp exp2 exp10 expm1 log log2 log10 log1p logb sqrt rsqrt cbrt fabs floor ceil round "
             "trunc rint erf erfc lgamma tgamma sign degrees radians normalize"))
    s.add(x, "x[i] = " + f + "(x[i]);");
  for (auto const& f :
       words("pow powr atan2 atan2pi fmod remainder hypot fmin fmax fdim copysign nextafter maxmag minmag "
             "min max step"))
    s.add(x, "x[i] = " + f + "(x[i], x[i + 1]);");
  for (auto const& f : words("fma mad mix clamp smoothstep")) s.add(x, "x[i] = " + f + "(x[i], x[i + 1], x[i + 2]);");
  s.add(x, scalar + " = length(x[i]);");
  for (auto const& f : words("distance dot")) s.add(x, scalar + " = " + f + "(x[i], x[i + 1]);");
  for (auto const& f : words("ldexp pown rootn")) s.add(xn, "x[i] = " + f + "(x[i], n[i]);");
  s.add(xn, "n[i] = ilogb(x[i]);");
  for (auto const& f : words("sincos modf fract")) s.add(x, t + " c; x[i] = " + f + "(x[i], &c); x[i + 1] = c;");
  for (auto const& f : words("frexp lgamma_r")) s.add(xn, n + " c; x[i] = " + f + "(x[i], &c); n[i] = c;");
  s.add(xn, n + " c; x[i] = remquo(x[i], x[i + 1], &c); n[i] = c;");
  if (!wide) {
    for (auto const& f :
         words("native_sin native_cos native_tan native_exp native_exp2 native_exp10 native_log native_log2 "
               "native_log10 native_sqrt native_rsqrt native_recip half_sin half_cos half_tan half_exp "
               "half_exp2 half_exp10 half_log half_log2 half_log10 half_sqrt half_rsqrt half_recip "
               "fast_normalize"))
      s.add(x, "x[i] = " + f + "(x[i]);");
    for (auto const& f : words("native_divide native_powr half_divide half_powr"))
      s.add(x, "x[i] = " + f + "(x[i], x[i + 1]);");
    s.add(x, scalar + " = fast_length(x[i]);");
    s.add(x, scalar + " = fast_distance(x[i], x[i + 1]);");
  }
  if (!vector) {
    for (auto const& f : words("isnan isinf isfinite isnormal signbit")) s.add(xn, "n[i] = " + f + "(x[i]);");
    for (auto const& f : words("isequal isnotequal isgreater isless islessequal isunordered isordered islessgreater"))
      s.add(xn, "n[i] = " + f + "(x[i], x[i + 1]);");
  }
  return s;
}

Source integers() {
  Source s;
  for (auto const& t : words("int uint long ulong uchar4 short int4")) {
    std::string const x = "__global " + t + " *x";
    bool const has24 = t == "int" || t == "uint" || t == "int4";
    for (auto const& f : words("abs clz popcount")) s.add(x, "x[i] = convert_" + t + "(" + f + "(x[i]));");
    for (auto const& f : words("abs_diff add_sat sub_sat hadd rhadd mul_hi rotate min max mul24"))
      if (f != "mul24" || has24) s.add(x, "x[i] = convert_" + t + "(" + f + "(x[i], x[i + 1]));");
    for (auto const& f : words("mad_hi mad_sat clamp mad24"))
      if (f != "mad24" || has24) s.add(x, "x[i] = " + f + "(x[i], x[i + 1], x[i + 2]);");
  }
  return s;
}

Source the_rest() {
  Source s;
  s.add("__global float4 *x, __global int4 *n", "x[i] = select(x[i], x[i + 1], n[i]);");
  s.add("__global float4 *x", "x[i] = bitselect(x[i], x[i + 1], x[i + 2]);");
  s.add("__global int4 *n", "n[i].x = any(n[i + 1]) + all(n[i + 2]);");
  s.add("__global float4 *x, __global uint4 *n",
        "x[i] = shuffle(x[i], n[i]); x[i + 1] = shuffle2(x[i], x[i + 2], n[i]);");
  s.add("__global float4 *x", "x[i] = cross(x[i], x[i + 1]);");
  for (auto const& space : words("__global __local"))
    s.add(space + " float *c", "vstore4(vload4(i, c), i + 1, c); vstore3(vload3(i, c), i + 9, c);");
  s.add("__global float4 *x, __constant float *c", "x[i] = vload4(i, c);");
  s.add("__global float *x, __global half *h",
        "x[i] = vload_half(i, h); vstore_half(x[i], i, h); vstore_half_rte(x[i], i, h);");
  s.add("__global float4 *x, __global half *h", "x[i] = vload_half4(i, h); vstore_half4_rtz(x[i], i, h);");
  s.add("__global half *x", "x[i] = x[i] * x[i + 1] + (half)2;");
  for (auto const& t : words("uchar4_sat int4_rte char4_sat_rtz uint4 short4_rtp long4 double4 int4_sat_rte"))
    s.add("__global float4 *x, __global " + t.substr(0, t.find('_')) + " *o", "o[i] = convert_" + t + "(x[i]);");
  s.add("__global int *x, __global long *y, __global float *o",
        "o[i] = convert_float_rtz(x[i]) + convert_float(y[i]);");
  for (auto const& f : words("get_global_id get_local_id get_group_id get_num_groups get_global_size get_local_size "
                             "get_global_offset"))
    s.add("__global int *x, int d", "x[i] = " + f + "(0) + " + f + "(1) + " + f + "(2) + " + f + "(d);");
  s.add("__global int *x", "x[i] = get_work_dim();");
  for (auto const& f : words("barrier mem_fence read_mem_fence write_mem_fence"))
    s.add("__global int *x", "x[i] = 1; " + f + "(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); x[i + 1] = 2;");
  s.add("__global float *x",
        "__local float l[64]; event_t e = async_work_group_copy(l, x, 64, 0); wait_group_events(1, &e); "
        "e = async_work_group_strided_copy(l, x, 64, 2, 0); wait_group_events(1, &e); prefetch(x, 16); x[i] = l[3];");
  s.add("__global float *x", "printf(\"%d %f\\n\", i, x[i]);");
  for (auto const& space : words("__global __local")) {
    for (auto const& f : words("add sub xchg min max and or xor")) {
      s.add(space + " int *x", "x[i] = atomic_" + f + "(x, i);");
      s.add(space + " long *x", "x[i] = atom_" + f + "(x, (long)i);");
      s.add(space + " ulong *x", "x[i] = atom_" + f + "(x, (ulong)i);");
    }
    s.add(space + " uint *x", "x[i] = atomic_inc(x) + atomic_dec(x) + atomic_cmpxchg(x, i, 3);");
    s.add(space + " float *x", "x[i] = atomic_xchg(x, 1.0f);");
    s.add(space + " ulong *x", "x[i] = atom_cmpxchg(x, (ulong)i, 3UL) + atom_inc(x) + atom_dec(x);");
  }
  return s;
}

Source images() {
  Source s;
  struct Geometry {
    char const *image, *integer, *real;
  };
  for (auto const& g : {Geometry{"image1d_t", "i", "(float)i"},
                        {"image2d_t", "(int2)(i, 0)", "(float2)(i, 0)"},
                        {"image3d_t", "(int4)(i, 0, 0, 0)", "(float4)(i, 0, 0, 0)"},
                        {"image1d_array_t", "(int2)(i, 0)", "(float2)(i, 0)"},
                        {"image2d_array_t", "(int4)(i, 0, 0, 0)", "(float4)(i, 0, 0, 0)"}}) {
    std::string const in = std::string("read_only ") + g.image + " a, ",
                      out = std::string("write_only ") + g.image + " a";
    for (auto const& [f, t] : {std::pair{"f", "float4"}, {"i", "int4"}, {"ui", "uint4"}}) {
      std::string const read = std::string("o[i] = read_image") + f + "(a, ";
      s.add(in + "sampler_t s, __global " + t + " *o", read + "s, " + g.integer + ");");
      s.add(in + "sampler_t s, __global " + t + " *o", read + "s, " + g.real + ");");
      s.add(in + "__global " + t + " *o", read + g.integer + ");");
      s.add(in + "__global " + t + " *o",
            "const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST; " + read +
                "s, " + g.integer + ");");
      s.add(out, std::string("write_image") + f + "(a, " + g.integer + ", (" + t + ")(1));");
    }
    for (char const* at : {g.integer, g.real})
      s.add(in + "sampler_t s, __global half4 *o", std::string("o[i] = read_imageh(a, s, ") + at + ");");
    s.add(in + "__global half4 *o", std::string("o[i] = read_imageh(a, ") + g.integer + ");");
    s.add(out, std::string("write_imageh(a, ") + g.integer + ", (half4)(1));");
    s.add(in + "__global int *o",
          "o[i] = get_image_width(a) + get_image_channel_order(a) + get_image_channel_data_type(a);");
  }
  s.add("read_only image3d_t a, __global int *o",
        "o[i] = get_image_height(a) + get_image_depth(a) + get_image_dim(a).x;");
  s.add("write_only image2d_t a, __global int *o", "o[i] = get_image_height(a) + get_image_dim(a).y;");
  s.add("read_only image2d_array_t a, __global int *o", "o[i] = get_image_array_size(a);");
  s.add("read_only image1d_buffer_t a, __global float4 *o", "o[i] = read_imagef(a, i);");
  return s;
}

// OpenCL 2.0 and later: atomics, sub-groups and the collective functions of a work-group.
Source second_edition() {
  Source s;
  for (auto const& [a, t] :
       {std::pair{"atomic_int", "int"}, {"atomic_uint", "uint"}, {"atomic_long", "long"}, {"atomic_ulong", "ulong"}}) {
    std::string const x = std::string("volatile __global ") + a + " *x, __global " + t + " *o";
    for (auto const& f : words("add sub or xor and min max")) {
      s.add(x, "o[i] = atomic_fetch_" + f + "(x, (" + t + ")i);");
      s.add(x, "o[i] = atomic_fetch_" + f + "_explicit(x, (" + t + ")i, memory_order_relaxed, memory_scope_device);");
    }
    s.add(x, std::string(t) +
                 " e = 1; atomic_store(x, e); o[i] = atomic_load(x) + atomic_exchange(x, e) + "
                 "atomic_compare_exchange_strong(x, &e, (" +
                 t + ")2) + atomic_compare_exchange_weak(x, &e, (" + t + ")2);");
  }
  s.add("volatile __global atomic_float *x, __global float *o",
        "float e = 1; atomic_init(x, e); o[i] = atomic_load(x) + atomic_exchange(x, 2.0f) + "
        "atomic_compare_exchange_strong(x, &e, 2.0f);");
  s.add("volatile __global atomic_flag *x, __global int *o",
        "o[i] = atomic_flag_test_and_set(x); atomic_flag_clear(x);");
  s.add("__global int *o",
        "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device); "
        "work_group_barrier(CLK_LOCAL_MEM_FENCE); o[i] = get_global_linear_id() + get_local_linear_id();");
  s.add("__global int *o",
        "o[i] = get_sub_group_size() + get_max_sub_group_size() + get_num_sub_groups() + "
        "get_sub_group_id() + get_sub_group_local_id() + sub_group_all(i) + sub_group_any(i) + "
        "work_group_all(i) + work_group_any(i); sub_group_barrier(CLK_LOCAL_MEM_FENCE);");
  for (auto const& t : words("int uint long ulong float double")) {
    std::string const x = "__global " + t + " *x";
    s.add(x,
          "x[i] = sub_group_broadcast(x[i], 0) + work_group_broadcast(x[i], 0) + work_group_broadcast(x[i], 0, 0) + "
          "work_group_broadcast(x[i], 0, 0, 0);");
    for (auto const& group : words("sub_group work_group"))
      for (auto const& f : words("reduce scan_inclusive scan_exclusive"))
        for (auto const& op : words("add min max")) s.add(x, "x[i] = " + group + "_" + f + "_" + op + "(x[i]);");
  }
  s.add("__global float *x",
        "float c; x[i] = fract(x[i], &c) + sincos(x[i], &c) + modf(x[i], &c); vstore4(vload4(i, x), i + 1, x);");
  return s;
}

// Compiles a source and returns what is undefined in it, kernel by kernel.
std::string undefined(Source const& source, std::string const& name, std::vector<std::string> options, bool ptxas) {
  TemporaryFolder const folder;
  auto const path = folder.file(name + ".cl");
  write_file(path, source.text());
  std::string result;
  try {
    auto const compiled = compile_text({.path = path, .options = std::move(options), .cache = false, .registers = {}});
    if (compiled.kernels.size() != source.kernels()) result += name + ": kernels are missing\n";
    for (auto const& k : compiled.kernels)
      for (auto const& note : k.notes)
        if (note.find("not defined") != std::string::npos) result += name + ": " + k.name + ": " + note + "\n";
    auto const tools = find_toolchain();
    if (ptxas && !tools.ptxas.empty()) {
      write_file(folder.file("k.ptx"), compiled.ptx);
      auto const run =
          run_process({tools.ptxas, "-O0", "-arch=sm_75", folder.file("k.ptx"), "-o", folder.file("k.cubin")}, 100);
      if (!run.succeeded()) result += name + ": ptxas: " + run.errors.substr(0, 500);
    }
  } catch (std::exception const& error) {
    result += name + ": " + error.what() + "\n";
  }
  return result;
}

}  // namespace

TEST_CASE("every OpenCL C built-in family compiles") {
  if (!has_opencl()) SKIP_BECAUSE("clang-19 or libclc-19 is not installed");
  struct Part {
    Source source;
    char const* name;
    std::vector<std::string> options;
    bool ptxas;  // on the parts that hold our own shim's instructions; the others would take long
  };
  std::vector<Part> const parts = {{mathematics("float"), "float", {}, false},
                                   {mathematics("double"), "double", {}, false},
                                   {mathematics("float4"), "float4", {}, false},
                                   {integers(), "integers", {}, false},
                                   {the_rest(), "rest", {}, true},
                                   {images(), "images", {}, true},
                                   {second_edition(), "CL3.0", {"-cl-std=CL3.0"}, true},
                                   {second_edition(), "CL2.0", {"-cl-std=CL2.0"}, false}};
  std::vector<std::future<std::string>> results;
  std::size_t calls = 0;
  for (auto const& part : parts) {
    results.push_back(std::async(std::launch::async, undefined, part.source, part.name, part.options, part.ptxas));
    calls += part.source.kernels();
  }
  CHECK(calls > 534);
  for (auto& result : results) CHECK(result.get() == "");
}
