//===- Harness.h - Running single instructions ------------------*- C++ -*-===//
//
// A case is a few lines of assembly and a function that computes the expected
// results from the ISA guide's definition. All cases of a table become kernels
// of one assembly file a chip, so that clang runs once.
//
// Registers of a case: inputs in v2, v3, ... (a lane's values), results in
// v20, v21, ... (0xdeadbeef before). v0 is the lane, v1 is lane * 4; s[40:41]
// and s10 up to s35 are free, and so are v40 to v63 and a0 to a31. `%` in the
// text is followed by nothing: what is written is what is assembled.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_UNITTESTS_EMULATOR_INSTRUCTIONS_HARNESS_H
#define ATTN_UNITTESTS_EMULATOR_INSTRUCTIONS_HARNESS_H

#include "attn/Emulator/Machine.h"
#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace attn::emu {

constexpr uint32_t untouched = 0xdeadbeef;

/// How inputs are made: one letter an input register.
///   f  f32 edge values      h  f16 edge values in the low half, rubbish above
///   p  two f16 edge values  i  integers of 32 bits
///   d  f64 edge values in a pair (two registers)
///   l  64-bit integers in a pair
///   s  small integers 0 .. 70 (shift counts)
/// Every combination of the first three operands' values is tried when that is
/// below 64 K lanes, otherwise a seeded sample.
struct Case {
  const char *name;
  const char *inputs;
  /// One letter a result register: u exact bits, f f32, h f16 in the low half
  /// (the high one must match exactly), p two f16, d f64 (two registers). NaNs
  /// of f, h, p and d match any NaN.
  const char *results;
  const char *code;
  /// in[register] of one lane; out holds `untouched` before.
  std::function<void(const uint32_t *in, uint32_t *out)> expected;
  /// Inputs are the same in all lanes (scalar instructions).
  bool uniform = false;
  /// Bit 0: gfx942, bit 1: gfx950.
  unsigned chips = 3;
};

/// Expectation over whole waves: in[register][lane], out[register][lane].
struct WaveCase {
  const char *name;
  const char *inputs;
  const char *results;
  const char *code;
  std::function<void(const uint32_t (*in)[64], uint32_t (*out)[64])> expected;
  unsigned chips = 3;
};

/// Runs a table on both chips.
void runCases(const std::vector<Case> &cases);
void runWaveCases(const std::vector<WaveCase> &cases);

/// A whole kernel: s[4:5] points to `out` and s[6:7] to `in`, v0 is the
/// work-item, s2 the workgroup; `code` is followed by s_endpgm.
struct Snippet {
  std::string code;
  uint32_t block = 64;
  uint32_t grid = 1;
  uint32_t ldsBytes = 4096;
};
/// Only assembles it.
llvm::Expected<std::unique_ptr<CodeObject>>
assembleSnippet(const Snippet &snippet, Chip chip);
/// The same as the bytes of an ELF file.
llvm::Expected<std::vector<uint8_t>> assembleSnippetFile(const Snippet &snippet,
                                                         Chip chip);
/// Runs it once. Errors: the assembler's, the machine's.
llvm::Expected<Report> runSnippet(const Snippet &snippet, Chip chip,
                                  std::vector<uint32_t> &in,
                                  std::vector<uint32_t> &out,
                                  const LaunchOptions &options);
/// All checks.
LaunchOptions getCheckedOptions();
/// Runs it with all checks on and expects no finding.
void expectSnippet(const Snippet &snippet, Chip chip, std::vector<uint32_t> &in,
                   std::vector<uint32_t> &out);
std::string describe(const Report &report);

// The language of expectations.
inline float F(uint32_t bits) { return std::bit_cast<float>(bits); }
inline uint32_t U(float value) { return std::bit_cast<uint32_t>(value); }
/// f64 in a register pair.
inline double D(const uint32_t *pair) {
  return std::bit_cast<double>(uint64_t(pair[1]) << 32 | pair[0]);
}
inline void setD(uint32_t *pair, double value) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  pair[0] = uint32_t(bits);
  pair[1] = uint32_t(bits >> 32);
}
inline uint64_t L(const uint32_t *pair) {
  return uint64_t(pair[1]) << 32 | pair[0];
}
inline void setL(uint32_t *pair, uint64_t value) {
  pair[0] = uint32_t(value);
  pair[1] = uint32_t(value >> 32);
}
/// f16 by LLVM's APFloat.
double H(uint32_t low16);
uint16_t toH(double value);

} // namespace attn::emu

#endif // ATTN_UNITTESTS_EMULATOR_INSTRUCTIONS_HARNESS_H
