//===- Matrix.cpp - MFMA and SMFMAC ---------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ISA/OpTable.h"
#include "Operands.h"
#include "attn/Emulator/Numerics/Mfma.h"

using namespace attn::emu;
using namespace llvm;

namespace {

bool overlaps(const uint32_t *a, unsigned aRegs, const uint32_t *b,
              unsigned bRegs) {
  return a < b + size_t(bRegs) * numLanes && b < a + size_t(aRegs) * numLanes;
}

void matrix(Wave &w, const Inst &i) {
  const MfmaInfo &info = *static_cast<const MfmaInfo *>(i.extra);
  MfmaOperands operands;
  for (unsigned n = 0; n < 2; ++n)
    if (i.src[n].kind != SrcKind::Vector) {
      w.raise("matrix operand is not a vector register");
      return;
    }
  operands.a = w.vgpr(i.src[0].reg);
  operands.b = w.vgpr(i.src[1].reg);
  operands.cbsz = i.cbsz;
  operands.abid = i.abid;
  operands.blgp = i.blgp;
  uint32_t *d = w.vgpr(i.dst);
  const Src &c = i.src[2];
  if (info.sparse) {
    operands.c = d;
    operands.index = w.vgpr(c.reg);
  } else if (c.kind == SrcKind::Vector) {
    operands.c = w.vgpr(c.reg);
  } else {
    operands.cConstant = c.value;
  }
  alignas(64) uint32_t scales[2][2 * numLanes];
  if (info.scaled) {
    operands.scaleA = fetchRaw(w, i.src[3], scales[0]);
    Src second;
    second.ty = Ty::B32;
    if (i.vdata1 >= 256) {
      second.kind = SrcKind::Vector;
      second.reg = i.vdata1 - 256;
      operands.scaleB = w.vgpr(second.reg);
    } else if (i.vdata1 < 128) {
      second.kind = SrcKind::SGPR;
      second.reg = i.vdata1;
      operands.scaleB = fetchRaw(w, second, scales[1]);
    } else if (i.vdata1 <= 208) {
      int value = i.vdata1 <= 192 ? i.vdata1 - 128 : 192 - i.vdata1;
      std::fill_n(scales[1], numLanes, uint32_t(value));
      operands.scaleB = scales[1];
    } else {
      w.raise("matrix scale operand is not modelled");
      return;
    }
    operands.scaleByteA = i.simm & 3;
    operands.scaleByteB = i.simm >> 2 & 3;
  }
  MfmaOptions options;
  options.isOCP = w.ctx->isOCP;
  options.perturb = w.ctx->perturb;

  // Sources that the result overwrites must be read whole first.
  unsigned dRegs = info.getDRegs();
  bool clash =
      overlaps(d, dRegs, operands.a, info.getARegs(i.cbsz)) ||
      overlaps(d, dRegs, operands.b, info.getBRegs(i.blgp)) ||
      (operands.c && operands.c != d && overlaps(d, dRegs, operands.c, dRegs));
  if (clash) {
    alignas(64) uint32_t result[maxOperandWords * numLanes];
    if (info.sparse)
      std::memcpy(result, d, size_t(dRegs) * numLanes * 4);
    operands.d = result;
    if (info.sparse)
      operands.c = result;
    runMfma(info, operands, options);
    std::memcpy(d, result, size_t(dRegs) * numLanes * 4);
  } else {
    operands.d = d;
    runMfma(info, operands, options);
  }
  w.mfmaFlops += 2ull * info.m * info.n * info.k * info.blocks;
}

} // namespace

void attn::emu::addMatrixOps(OpTable &t) {
  for (const MfmaInfo &mfma : getMfmaTable()) {
    const char *signature = mfma.isF64() ? "- f64 f64 f64" : "- b32 b32 b32";
    OpInfo &info = t.add(mfma.name, signature, InstClass::MFMA, matrix);
    info.extra = &mfma;
    info.onlyGFX950 = !mfma.isOn(false);
    info.onlyGFX942 = !mfma.isOn(true);
    info.traits.isDGEMM = mfma.isF64();
    // Plain f32 has its own pipeline, as f64 has.
    info.traits.isXDL = !mfma.isF64() && mfma.a != MfmaType::F32;
    info.traits.passes =
        mfma.passesGfx950 ? mfma.passesGfx950 : mfma.passesGfx942;
  }
}
