//===- Vector.cpp - VALU operations that are plain loops ------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ISA/OpTable.h"
#include "Operands.h"
#include <immintrin.h>

using namespace attn::emu;
using namespace llvm;

namespace {

/// Sets the host's rounding and denormal handling for one operation.
class HostFloatMode {
public:
  explicit HostFloatMode(const FloatMode &mode) : saved(_mm_getcsr()) {
    static const unsigned rounding[4] = {0, 2, 1, 3};
    unsigned value = saved & ~0xe040u;
    value |= rounding[static_cast<unsigned>(mode.round)] << 13;
    if (!mode.denormIn)
      value |= 0x40; // DAZ
    if (!mode.denormOut)
      value |= 0x8000; // FTZ
    _mm_setcsr(value);
  }
  ~HostFloatMode() { _mm_setcsr(saved); }

private:
  unsigned saved;
};

bool isHalf(Ty ty) { return ty == Ty::F16 || ty == Ty::PKF16; }

/// The operation under a MODE other than round-to-nearest with denormals.
void runInMode(Wave &w, const Inst &i, uint32_t *d,
               const uint32_t *const *src) {
  bool anyHalf = isHalf(i.dstTy), isDouble = i.dstTy == Ty::F64;
  for (unsigned n = 0; n < i.numSrcs; ++n) {
    anyHalf |= isHalf(i.src[n].ty);
    isDouble |= i.src[n].ty == Ty::F64;
  }
  FloatMode halfMode = w.f16Mode();
  if (anyHalf && (halfMode.round != Rounding::NearestEven ||
                  !halfMode.denormIn || !halfMode.denormOut)) {
    w.raise("f16 arithmetic under this rounding or denormal mode is not "
            "modelled");
    return;
  }
  HostFloatMode mode(anyHalf || isDouble ? halfMode : w.f32Mode());
  i.kernel(d, src[0], src[1], src[2]);
}

/// s_set_gpr_idx: register numbers relative to M0.
Inst applyIndexMode(Wave &w, const Inst &i) {
  Inst moved = i;
  unsigned index = w.sgpr[regM0] & 0xff, enables = w.sgpr[regM0] >> 12 & 15;
  for (unsigned n = 0; n < 3; ++n)
    if ((enables >> n & 1) && moved.src[n].kind == SrcKind::Vector)
      moved.src[n].reg += index;
  if (enables >> 3 & 1)
    moved.dst += index;
  if (moved.dst > 511 || moved.src[0].reg > 511 || moved.src[1].reg > 511 ||
      moved.src[2].reg > 511)
    w.raise("indexes a vector register that does not exist");
  return moved;
}

void executeLane(Wave &w, const Inst &i) {
  if (w.indexMode) {
    Inst moved = applyIndexMode(w, i);
    if (w.state == WaveState::Faulted)
      return;
    w.indexMode = false;
    executeLane(w, moved);
    w.indexMode = true;
    return;
  }
  Operands operands;
  for (unsigned n = 0; n < i.numSrcs; ++n)
    operands.src[n] = fetch(w, i, n, operands.buffer[n]);
  bool half = i.dstTy == Ty::F16 || i.dstTy == Ty::B16;
  if (w.exec() == allLanes && w.plainMode && !i.hasOutMods &&
      !(half && (i.keepHalf || i.dstOpSel))) {
    i.kernel(w.vgpr(i.dst), operands.src[0], operands.src[1], operands.src[2]);
    return;
  }
  alignas(64) uint32_t result[2 * numLanes];
  if (w.plainMode)
    i.kernel(result, operands.src[0], operands.src[1], operands.src[2]);
  else
    runInMode(w, i, result, operands.src);
  if (i.hasOutMods)
    applyOutputModifiers(w, i, result);
  storeResult(w, i, result);
}

template <bool writesExec> void executeCompare(Wave &w, const Inst &i) {
  Operands operands;
  for (unsigned n = 0; n < 2; ++n)
    operands.src[n] = fetch(w, i, n, operands.buffer[n]);
  uint64_t result;
  if (w.plainMode) {
    result = i.compare(operands.src[0], operands.src[1]);
  } else {
    bool narrow = i.src[0].ty == Ty::F32;
    HostFloatMode mode(narrow ? w.f32Mode() : w.f16Mode());
    result = i.compare(operands.src[0], operands.src[1]);
  }
  result &= w.exec();
  w.set64(i.dst, result);
  if (writesExec)
    w.setExec(result);
}

LaneTables pickTables() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd"))
    return getLaneTablesV4();
  // Every host with AVX2 and FMA has the rest of x86-64-v3.
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2"))
    return getLaneTablesV3();
#endif
  return getLaneTablesBase();
}

/// Operations of gfx950 that gfx942 lacks.
bool isOnlyGFX950(StringRef name) {
  static const char *const names[] = {
      "v_cvt_pk_bf16_f32", "v_cvt_pk_f16_f32", "v_cvt_f32_bf16",
      "v_minimum3_f32",    "v_maximum3_f32",   "v_pk_minimum3_f16",
      "v_pk_maximum3_f16", "v_prng_b32",       "v_ashr_pk_i8_i32",
      "v_ashr_pk_u8_i32",  "v_dot2c_f32_bf16", "v_dot2_f32_bf16"};
  for (StringRef known : names)
    if (name == known)
      return true;
  return false;
}

/// 16-bit results that leave the other half of the register alone; the older
/// operations write zero there.
bool keepsHalf(StringRef name) {
  static const char *const names[] = {
      "v_mad_u16",  "v_mad_i16",  "v_fma_f16",        "v_add_i16",
      "v_sub_i16",  "v_min3_f16", "v_max3_f16",       "v_med3_f16",
      "v_min3_i16", "v_max3_i16", "v_med3_i16",       "v_min3_u16",
      "v_max3_u16", "v_med3_u16", "v_ashr_pk_i8_i32", "v_ashr_pk_u8_i32"};
  for (StringRef known : names)
    if (name == known)
      return true;
  return false;
}

} // namespace

void attn::emu::addVectorOps(OpTable &t) {
  LaneTables tables = pickTables();
  for (size_t n = 0; n < tables.numOps; ++n) {
    const LaneOp &op = tables.ops[n];
    StringRef name = op.mnemonic;
    OpInfo &info = t.add(name, op.signature, InstClass::VALU, executeLane);
    info.kernel = op.kernel;
    info.onlyGFX950 = isOnlyGFX950(name);
    info.keepHalf = keepsHalf(name);
    info.traits.isDot = name.starts_with("v_dot");
    info.traits.isFma64 = name == "v_fma_f64" || name == "v_fmac_f64";
    info.accumulates = name.starts_with("v_fmac_") ||
                       name.starts_with("v_pk_fmac_") ||
                       (name.starts_with("v_dot") && name.contains("c_"));
  }
  for (size_t n = 0; n < tables.numCompares; ++n) {
    const CompareOp &op = tables.compares[n];
    t.add((Twine("v_cmp_") + op.mnemonic).str(), op.signature, InstClass::VALU,
          executeCompare<false>)
        .compare = op.kernel;
    t.add((Twine("v_cmpx_") + op.mnemonic).str(), op.signature, InstClass::VALU,
          executeCompare<true>)
        .compare = op.kernel;
    for (const char *prefix : {"v_cmp_", "v_cmpx_"})
      t.find((Twine(prefix) + op.mnemonic).str())->traits.isCompare = 1;
  }
}
