#include "kernels/sass/sass.hpp"

namespace kernelcast::sass {

namespace {

using enum record::Pipe;

struct Row {
  std::string_view prefix;  // of the mnemonic
  record::Pipe pipe;
};

// The first row that fits counts.
constexpr Row rows[] = {
    {"LDGDEPBAR", issue}, {"VOTEU", issue},       {"LEA", alu},      {"LEPC", issue},   {"LOP", alu},
    {"LD", memory},       {"STS", memory},        {"STG", memory},   {"STL", memory},   {"ST", memory},
    {"ATOM", memory},     {"REDUX", alu},         {"RED", memory},   {"TEX", memory},   {"TLD", memory},
    {"TXQ", memory},      {"TMML", memory},       {"SULD", memory},  {"SUST", memory},  {"SUATOM", memory},
    {"SURED", memory},    {"SHFL", memory},       {"FADD", fp32},    {"FMUL", fp32},    {"FFMA", fp32},
    {"FSWZ", fp32},       {"DADD", fp64},         {"DMUL", fp64},    {"DFMA", fp64},    {"DSETP", fp64},
    {"DMNMX", fp64},      {"HMMA", tensor},       {"IMMA", tensor},  {"DMMA", tensor},  {"BMMA", tensor},
    {"QMMA", tensor},     {"OMMA", tensor},       {"HGMMA", tensor}, {"IGMMA", tensor}, {"QGMMA", tensor},
    {"BGMMA", tensor},    {"HADD", fp16},         {"HMUL", fp16},    {"HFMA", fp16},    {"HSET", fp16},
    {"HMNMX", fp16},      {"F2FP", fp32_to_fp16}, {"IMAD", imad},    {"IMUL", imad},    {"IDP", imad},
    {"XMAD", imad},       {"MUFU", special},      {"POPC", special}, {"FLO", special},  {"BREV", special},
    {"MATCH", special},   {"I2FP", int_to_fp32},  {"F2I", special},  {"I2F", special},  {"F2F", special},
    {"FRND", special},    {"I2I", special},       {"IADD", alu},     {"ISETP", alu},    {"IMNMX", alu},
    {"IABS", alu},        {"ISCADD", alu},        {"ISET", alu},     {"ICMP", alu},     {"FSET", alu},
    {"FSEL", alu},        {"FMNMX", alu},         {"FCHK", alu},     {"FCMP", alu},     {"SHF", alu},
    {"SHL", alu},         {"SHR", alu},           {"SEL", alu},      {"PRMT", alu},     {"VOTE", alu},
    {"PLOP", alu},        {"MOV", alu},           {"SGXT", alu},     {"BMSK", alu},     {"P2R", alu},
    {"R2P", alu},         {"VABSDIFF", alu},      {"VIADD", alu},    {"VIMNMX", alu},   {"BFE", alu},
    {"BFI", alu},
};

}  // namespace

record::Pipe pipe_of(std::string_view opcode) {
  std::string_view const mnemonic = opcode.substr(0, opcode.find('.'));
  for (Row const& row : rows)
    if (mnemonic.starts_with(row.prefix)) {
      // To and from double precision or 64-bit integers: a unit of its own.
      bool const converts = mnemonic == "F2I" || mnemonic == "I2F" || mnemonic == "F2F" || mnemonic == "FRND";
      return converts && opcode.find("64") != std::string_view::npos ? convert64 : row.pipe;
    }
  return issue;  // control, barriers, special registers, the uniform datapath
}

}  // namespace kernelcast::sass
