//===- Mfma.h - Matrix instructions of gfx942 and gfx950 --------*- C++ -*-===//
//
// D = A * B + C for one wave. All 64 lanes take part whatever EXEC holds, and
// MODE is ignored: round to nearest even, denormals kept in inputs, products
// and sums, integer forms wrap modulo 2^32.
//
// Choices where the ISA guides leave freedom (see docs/Emulator.md):
//  - f16, bf16, fp8, bf8, f8f6f4, f32, f64: D starts as C and takes one fused
//    multiply-add a product, k ascending. Scaled forms multiply the exact
//    product by both scales inside that fused step.
//  - xf32: inputs are rounded to nearest even to 10 stored mantissa bits.
//  - A NaN result is 0x7fc00000 (f64: 0x7ff8000000000000).
//  - sparse forms take k ascending over the compressed elements.
// Perturb changes the order of k (a seeded permutation) and whether groups of
// four products are summed exactly before they are added.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_NUMERICS_MFMA_H
#define ATTN_EMULATOR_NUMERICS_MFMA_H

#include "attn/Emulator/Numerics/Formats.h"
#include "attn/Emulator/Numerics/Transcendental.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace attn::emu {

/// Element types of matrix operands.
enum class MfmaType : uint8_t {
  F64,
  F32,
  XF32,
  F16,
  BF16,
  I8,
  FP8,    ///< E4M3 in the chip's flavour
  BF8,    ///< E5M2 in the chip's flavour
  F8F6F4, ///< chosen by cbsz (A) and blgp (B): 0 fp8, 1 bf8, 2 fp6, 3 bf6, 4
          ///< fp4
};

/// One matrix instruction. Register counts are 32-bit VGPRs a lane.
struct MfmaInfo {
  /// The assembler's mnemonic, e.g. "v_mfma_f32_32x32x8_f16".
  llvm::StringRef name;
  uint8_t m, n;
  uint8_t k; ///< for sparse forms: of the dense problem (twice A's elements)
  uint8_t blocks;
  MfmaType a, b;
  bool sparse;
  bool scaled; ///< takes two scale operands
  /// Passes of 4 clocks on each chip, 0 where the instruction does not exist.
  /// Source: LLVM's scheduling model (SISchedule.td).
  uint8_t passesGfx942, passesGfx950;

  bool isOn(bool isGfx950) const {
    return isGfx950 ? passesGfx950 : passesGfx942;
  }
  bool isInteger() const { return a == MfmaType::I8; }
  bool isF64() const { return a == MfmaType::F64; }
  /// Passes on a chip. The f8f6f4 forms (`codeA` is cbsz, `codeB` blgp) take
  /// half of them when neither operand has 8 bits.
  unsigned getPasses(bool isGfx950, unsigned codeA = 0,
                     unsigned codeB = 0) const {
    unsigned passes = isGfx950 ? passesGfx950 : passesGfx942;
    return a == MfmaType::F8F6F4 && codeA > 1 && codeB > 1 ? passes / 2
                                                           : passes;
  }
  /// VGPRs of A and B; `code` is cbsz/blgp of the f8f6f4 forms.
  unsigned getARegs(unsigned code = 0) const;
  unsigned getBRegs(unsigned code = 0) const;
  /// VGPRs of C and D.
  unsigned getDRegs() const;
};

/// All of them.
llvm::ArrayRef<MfmaInfo> getMfmaTable();

/// Finds an instruction by assembler mnemonic ("v_mfma_f32_32x32x8_f16", also
/// the old spelling "v_mfma_f32_32x32x8f16") or by LLVM opcode name
/// ("V_MFMA_F32_32X32X8F16_gfx940_acd"). Not cheap: look up at decode. Null if
/// it is none of ours.
const MfmaInfo *lookupMfma(llvm::StringRef name);

/// Operands of one instruction. Register arrays are [register][64 lanes],
/// register-major; a lane's 64-bit value has its low half in the lower
/// register. `d` may be the same array as `c`.
struct MfmaOperands {
  const uint32_t *a = nullptr;
  const uint32_t *b = nullptr;
  /// Null: C is `cConstant` in every element (an inline constant operand, or
  /// its 64-bit form for f64).
  const uint32_t *c = nullptr;
  uint64_t cConstant = 0;
  uint32_t *d = nullptr;
  /// Sparse forms: the index register. [64]
  const uint32_t *index = nullptr;
  /// Scaled forms: [64] words each and the byte each half of op_sel picks.
  const uint32_t *scaleA = nullptr;
  const uint32_t *scaleB = nullptr;
  unsigned scaleByteA = 0, scaleByteB = 0;
  /// The modifiers as encoded. Dense, non-f8f6f4: cbsz/abid broadcast A's
  /// blocks, blgp permutes B's lanes (f64: negates A, B, C). Sparse: cbsz and
  /// abid select the part of the index register.
  unsigned cbsz = 0, abid = 0, blgp = 0;
};

struct MfmaOptions {
  /// gfx950's OCP flavour of fp8/bf8, else gfx942's fnuz.
  bool isOCP = false;
  Perturb perturb;
};

/// Executes `info`. The operands must be complete for it.
void runMfma(const MfmaInfo &info, const MfmaOperands &operands,
             const MfmaOptions &options);

/// Where an element lives, as runMfma has it.
struct MfmaLocation {
  unsigned lane;
  /// Element number inside the lane, in elements of that operand, from bit 0 of
  /// its first register.
  unsigned element;
};
/// A[row i, k] and B[k, column j] of `block`; `code` as in getARegs. For sparse
/// forms A's k counts compressed elements, B's the dense ones.
MfmaLocation getALocation(const MfmaInfo &info, unsigned code, unsigned block,
                          unsigned i, unsigned k);
MfmaLocation getBLocation(const MfmaInfo &info, unsigned code, unsigned block,
                          unsigned j, unsigned k);
/// C and D [row i, column j] of `block`.
MfmaLocation getDLocation(const MfmaInfo &info, unsigned block, unsigned i,
                          unsigned j);

} // namespace attn::emu

#endif // ATTN_EMULATOR_NUMERICS_MFMA_H
