// .cl: arguments from metadata, registers of every back end, messages, options.
#include <algorithm>

#include "base/diag/diag.hpp"
#include "catch.hpp"
#include "error_of.hpp"
#include "kernels/frontend/build.hpp"
#include "scratch.hpp"

using namespace kernelcast;
using namespace kernelcast::frontend;

TEST_CASE("arguments, required group and shared memory of an OpenCL kernel") {
  if (!has_opencl()) SKIP_BECAUSE("clang-19 or libclc-19 is not installed");
  auto const compiled = compile({.path = data("arguments.cl"), .options = {}, .cache = false, .registers = {}});
  REQUIRE(compiled.kernels.size() == 2);
  auto const& k = compiled.kernels[0];
  CHECK(k.name == "arguments");
  CHECK(k.required_group == std::array<std::uint32_t, 3>{16, 4, 1});
  CHECK_FALSE(compiled.kernels[1].required_group.has_value());
  CHECK(k.shared_bytes == 64 * sizeof(float));
  struct Expected {
    char const *name, *type;
    ArgumentKind kind;
    std::uint32_t bytes;
  };
  Expected const expected[] = {
      {"a", "float*", ArgumentKind::global_buffer, 8},    {"table", "float*", ArgumentKind::constant_buffer, 8},
      {"tile", "float*", ArgumentKind::shared_buffer, 8}, {"p", "Point", ArgumentKind::value, 20},
      {"v", "float4", ArgumentKind::value, 16},           {"image", "image2d_t", ArgumentKind::image, 8},
      {"smp", "sampler_t", ArgumentKind::sampler, 8},     {"n", "int", ArgumentKind::value, 4}};
  REQUIRE(k.arguments.size() == std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    INFO(expected[i].name);
    CHECK(k.arguments[i].name == expected[i].name);
    CHECK(k.arguments[i].type_name == expected[i].type);
    CHECK(k.arguments[i].kind == expected[i].kind);
    CHECK(k.arguments[i].bytes == expected[i].bytes);
  }
  CHECK(describe(compiled.kernels[1]) == "second(int* x)");
  CHECK(k.registers.ptx.value_or(0) > 4);
  REQUIRE(compiled.module);
  REQUIRE(compiled.module->find_kernel("arguments"));
  // Source lines reach the PTX.
  auto const& f = *compiled.module->find_kernel("arguments");
  CHECK(std::any_of(f.instructions.begin(), f.instructions.end(), [&](auto const& i) {
    return compiled.module->describe(i.source).find("arguments.cl:") != std::string::npos;
  }));
}

TEST_CASE("registers of the back ends equal what a direct run prints") {
  auto const tools = find_toolchain();
  if (!has_opencl()) SKIP_BECAUSE("clang-19 or libclc-19 is not installed");
  auto const compiled = compile_text({.path = data("sums.cl"), .options = {}, .cache = false});
  auto const& r = kernel(compiled, "second").registers;
  // x[i] += 3 needs an address and a value everywhere, and no more than a few.
  for (auto const& [name, value] : {std::pair{"gfx6", r.vgprs_gfx6},
                                    {"gfx90a", r.vgprs_gfx90a},
                                    {"gfx1030", r.vgprs_gfx1030},
                                    {"cypress", r.gprs_cypress},
                                    {"ptx", r.ptx}}) {
    INFO(name);
    REQUIRE(value);
    CHECK(*value >= 2);
    CHECK(*value <= 12);
  }
  REQUIRE(r.vliw_ops_per_bundle);
  CHECK(*r.vliw_ops_per_bundle >= 1);
  CHECK(*r.vliw_ops_per_bundle <= 5);
  if (tools.ptxas.empty()) {
    CHECK(r.ptxas.empty());
    return;
  }
  TemporaryFolder const folder;
  write_file(folder.file("k.ptx"), compiled.ptx);
  for (auto const& target : register_targets()) {
    if (!target.starts_with("sm_")) continue;
    INFO(target);
    auto const direct =
        run_process({tools.ptxas, "-v", "-arch=" + target, folder.file("k.ptx"), "-o", folder.file("k.cubin")}, 60);
    if (!direct.succeeded()) continue;  // a target that this ptxas does not know
    for (auto const& k : compiled.kernels) {
      auto const at = direct.errors.find("Compiling entry function '" + k.name + "'");
      auto const used = direct.errors.find("Used ", at);
      REQUIRE(k.registers.ptxas.contains(target));
      auto const& figures = k.registers.ptxas.at(target);
      CHECK(std::stoul(direct.errors.substr(used + 5)) == figures.registers);
      auto const line = direct.errors.substr(used, direct.errors.find('\n', used) - used);
      auto const smem = line.find(" bytes smem");
      auto const bytes = smem == line.npos ? 0 : std::stoul(line.substr(line.rfind(' ', smem - 1)));
      CHECK(bytes == k.shared_bytes);
      CHECK(figures.shared_bytes == k.shared_bytes);
      CHECK(figures.stack_bytes == 0);
    }
  }
}

TEST_CASE("ptxas tells registers of the targets that PTX runs on") {
  if (find_toolchain().ptxas.empty()) SKIP_BECAUSE("ptxas is not installed");
  TemporaryFolder const folder;
  auto const targets_of = [&](std::string const& target, std::string const& body) {
    write_file(folder.file("k.ptx"), ".version 8.6\n.target " + target +
                                         "\n.address_size 64\n.visible .entry k(.param .u64 a) {\n" + body + "}\n");
    auto const compiled = compile_text({.path = folder.file("k.ptx"), .options = {}, .cache = false});
    std::vector<std::string> out;
    for (auto const& [known, figures] : compiled.kernels.at(0).registers.ptxas) out.push_back(known);
    return out;
  };
  using List = std::vector<std::string>;
  CHECK(targets_of("sm_86", "ret;\n") == List{"sm_100", "sm_103", "sm_120", "sm_86", "sm_90"});
  CHECK(targets_of("sm_90a", "ret;\n") == List{"sm_90"});
  CHECK(targets_of("sm_100a", "ret;\n") == List{"sm_100"});
  CHECK(register_target("sm_61") == "sm_75");
  CHECK(register_target("sm_89") == "sm_86");
  CHECK(register_target("sm_90a") == "sm_90");
  CHECK(register_target("gfx90a") == "gfx90a");
}

TEST_CASE("a back end that lacks a function leaves only that kernel's value empty") {
  if (!has_opencl()) SKIP_BECAUSE("clang-19 or libclc-19 is not installed");
  auto const compiled = compile_text({.path = data("arguments.cl"), .options = {}, .cache = false});
  auto const& images = kernel(compiled, "arguments");
  CHECK_FALSE(images.registers.vgprs_gfx90a);
  // Of the first generation they have instructions for images.
  CHECK(images.registers.vgprs_gfx6.value_or(0) > 0);
  auto const& notes = images.notes;
  CHECK(std::any_of(notes.begin(), notes.end(), [](std::string const& note) {
    return note.find("vgprs_gfx90a: libclc-19 has no read_imagef") == 0;
  }));
  CHECK(kernel(compiled, "second").registers.vgprs_gfx90a);
}

TEST_CASE("a VLIW listing is counted by bundles, kernel by kernel") {
  std::string const assembly =
      "\t.section\t.AMDGPU.config,\"\",@progbits\n\t.long\t166100\n\t.long\t523\n\t.text\n"
      "\t.type\tfirst,@function\nfirst:\n\t.type\tfirst$local,@function\n"
      "\tALU 6, @38, KC0[CB0:0-32], KC1[]\n\tTEX 0 @34\n"
      "\tFetch clause starting at 34:\n\t  VTX_READ_32 T2.X, T2.X, 0, #1\n"
      "\tALU clause starting at 38:\n"
      "\t  MOV   T2.Z, literal.x,  \n\t  MOV   T1.W, |T2.X|,  \n\t  NOT_INT * T2.W, PV.W,  \n"
      "\t1(1.401298e-45), 0(0.000000e+00)\n\t  ADD_INT * T1.X, KC0[2].Y, PV.W,  \n\t  GROUP_BARRIER \n.Lfunc_end0:\n"
      "\t.section\t.AMDGPU.config,\"\",@progbits\n\t.long\t166100\n\t.long\t3\n\t.text\n"
      "\t.type\tsecond,@function\nsecond:\n\tALU clause starting at 8:\n\t  MOV * T0.X, T0.Y,  \n.Lfunc_end1:\n";
  auto const figures = parse_r600(assembly);
  REQUIRE(figures.count("first"));
  CHECK(figures.at("first").gprs == 11);  // 523 & 255
  CHECK(figures.at("first").operations == 5);
  CHECK(figures.at("first").bundles == 3);
  REQUIRE(figures.count("second"));
  CHECK(figures.at("second").gprs == 3);
  CHECK(figures.at("second").operations == 1);
  CHECK(figures.at("second").bundles == 1);
}

TEST_CASE("a mistake in the source is shown at its place") {
  if (!has_opencl()) SKIP_BECAUSE("clang-19 or libclc-19 is not installed");
  auto const of = [](std::vector<std::string> const& options) {
    return error_of([&] { compile({.path = data("broken.cl"), .options = options, .cache = false}); });
  };
  auto const error = of({});
  CHECK(error.status() == Status::bad_data);
  CHECK(error.where().file == data("broken.cl"));
  CHECK(error.where().line == 2);
  CHECK(error.where().column == 10);
  CHECK_THAT(error.what(), Contains("MISSING_MACRO"));
  CHECK_THAT(error.what(), Contains("undeclared_call"));
  CHECK_THAT(error.hint(), Contains("-D"));
  CHECK_THAT(error.text("miniemu"), Contains("a[0] = MISSING_MACRO;"));
  CHECK(of({"-DMISSING_MACRO=1"}).where().line == 3);  // the macro is all that is missing in line 2
}

TEST_CASE("requests that cannot be served say why") {
  auto const status = [](Request const& request) {
    auto const error = error_of([&] { compile(request); });
    CHECK_FALSE(error.hint().empty());
    return error.status();
  };
  CHECK(status({.path = data("absent.cl"), .options = {}}) == Status::io);
  CHECK(status({.path = data("include/scale.h"), .options = {}}) == Status::bad_data);
  CHECK(status({.path = data("arguments.cl"), .options = {"other.cl"}}) == Status::usage);
  Environment const path("PATH", "/nonexistent");
  auto const tools = find_toolchain();
  if (tools.clang.empty()) CHECK(status({.path = data("arguments.cl"), .options = {}}) == Status::unavailable);
  Toolchain const none;
  CHECK_THROWS_WITH(require_clang(none), Contains("clang-19 is not installed"));
  CHECK_THROWS_WITH(require_libclc(none, "nvptx64--nvidiacl.bc"), Contains("libclc-19"));
}

TEST_CASE("a compiler that does not end is stopped") {
  auto const sleep = find_program("sleep", {"/bin", "/usr/bin"});
  REQUIRE_FALSE(sleep.empty());
  auto const result = run_process({sleep, "30"}, 0.05);
  CHECK(result.timed_out);
  CHECK_FALSE(result.succeeded());
}

TEST_CASE("the global offset is added on request only") {
  if (!has_opencl()) SKIP_BECAUSE("clang-19 or libclc-19 is not installed");
  auto const without = compile_text({.path = data("arguments.cl"), .options = {}, .cache = false, .registers = {}});
  auto const with = compile_text(
      {.path = data("arguments.cl"), .options = {}, .cache = false, .registers = {}, .global_offset = true});
  CHECK(without.ptx.find("%envreg") == std::string::npos);
  CHECK_THAT(with.ptx, Contains("%envreg3"));
}

TEST_CASE("LLVM metadata is read with escapes and in any order") {
  auto const facts = parse_kernel_metadata(
      "define dso_local spir_kernel void @k(ptr %0) #0 !kernel_arg_addr_space !2 !kernel_arg_type !4 "
      "!kernel_arg_base_type !4 !kernel_arg_name !5 !reqd_work_group_size !6 "
      "!kernel_arg_access_qual !7 !kernel_arg_type_qual !8 {\n"
      "!2 = !{i32 1, i32 0}\n!4 = !{!\"a\\22b*\", !\"uint\"}\n!5 = !{!\"first, one\", !\"n\"}\n!6 = !{i32 8, i32 2, "
      "i32 1}\n!7 = !{!\"none\", !\"read_only\"}\n!8 = !{!\"restrict const\", !\"\"}\n");
  REQUIRE(facts.count("k"));
  auto const& k = facts.at("k");
  REQUIRE(k.arguments.size() == 2);
  CHECK(k.arguments[0].type_name == "a\"b*");
  CHECK(k.arguments[0].name == "first, one");
  CHECK(k.arguments[0].kind == ArgumentKind::global_buffer);
  CHECK(k.arguments[1].kind == ArgumentKind::value);
  CHECK(k.arguments[0].access == "none");
  CHECK(k.arguments[1].access == "read_only");
  CHECK(k.arguments[0].qualifiers == "restrict const");
  CHECK(k.arguments[1].qualifiers.empty());
  CHECK(k.required_group == std::array<std::uint32_t, 3>{8, 2, 1});
}

TEST_CASE("a dependency rule is read with its escapes") {
  CHECK(parse_dependencies("k.o: a.cl \\\n  dir/b.h with\\ blank.h two$$.h\n") ==
        std::vector<std::string>{"a.cl", "dir/b.h", "with blank.h", "two$.h"});
  CHECK(parse_dependencies("nothing").empty());
}

TEST_CASE("what vendors' compilers accept is accepted, and said") {
  if (!has_opencl()) SKIP_BECAUSE("clang-19 or libclc-19 is not installed");
  Request const request{.path = data("lenient.cl"), .options = {}, .cache = false, .registers = {}};
  auto const compiled = compile(request);
  CHECK(compiled.module->find_kernel("large_kernel"));
  CHECK(compiled.notes.size() == 3);
  CHECK(compiled.kernels.at(0).arguments.at(2).kind == ArgumentKind::sampler);
}

TEST_CASE("AMD's option for C++ kernels") {
  if (!has_opencl()) SKIP_BECAUSE("clang-19 or libclc-19 is not installed");
  Request const request{.path = data("cpp.cl"), .options = {"-x", "clc++"}, .cache = false, .registers = {}};
  CHECK(compile(request).module->find_kernel("sums"));
}
