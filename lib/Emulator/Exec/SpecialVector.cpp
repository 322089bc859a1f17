//===- SpecialVector.cpp - VALU operations beyond plain loops -------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cross-lane moves, carries, masks, and the operations whose arithmetic is in
// Numerics.
//
//===----------------------------------------------------------------------===//

#include "../ISA/OpTable.h"
#include "Operands.h"
#include "attn/Emulator/Numerics/Convert.h"

using namespace attn::emu;
using namespace llvm;

namespace {

using Sources = const uint32_t *const *;

uint64_t pair(const uint32_t *a, unsigned l) {
  return uint64_t(a[numLanes + l]) << 32 | a[l];
}
void setPair(uint32_t *d, unsigned l, uint64_t value) {
  d[l] = value;
  d[numLanes + l] = value >> 32;
}
double f64At(const uint32_t *a, unsigned l) { return asDouble(pair(a, l)); }
float f32At(const uint32_t *a, unsigned l) { return asFloat(a[l]); }

/// d[l] = fn(l) for every lane.
template <typename Fn> void eachLane(uint32_t *d, Fn fn) {
  for (unsigned l = 0; l < numLanes; ++l)
    d[l] = fn(l);
}
template <typename Fn> void eachPair(uint32_t *d, Fn fn) {
  for (unsigned l = 0; l < numLanes; ++l)
    setPair(d, l, fn(l));
}

//===----------------------------------------------------------------------===//
// Lanes and scalars
//===----------------------------------------------------------------------===//

void readFirstLane(Wave &w, const Inst &i) {
  alignas(64) uint32_t buffer[2 * numLanes];
  const uint32_t *from = fetchRaw(w, i.src[0], buffer);
  uint64_t exec = w.exec();
  w.sgpr[i.dst] = from[exec ? countr_zero(exec) : 0];
}
void readLane(Wave &w, const Inst &i) {
  alignas(64) uint32_t buffer[2 * numLanes];
  const uint32_t *from = fetchRaw(w, i.src[0], buffer);
  w.sgpr[i.dst] = from[w.read32(i.src[1]) & 63];
}
void writeLane(Wave &w, const Inst &i) {
  w.vgpr(i.dst)[w.read32(i.src[1]) & 63] = w.read32(i.src[0]);
}

void swap(Wave &w, const Inst &i) {
  uint32_t *a = w.vgpr(i.dst), *b = w.vgpr(i.src[0].reg);
  forEachLane(w.exec(), [&](unsigned l) { std::swap(a[l], b[l]); });
}
/// The upper part of each 2*n lanes of D trades places with the lower part of
/// S. EXEC decides for the lane written.
template <unsigned n> void permlaneSwap(Wave &w, const Inst &i) {
  uint32_t *d = w.vgpr(i.dst), *s = w.vgpr(i.src[0].reg);
  uint64_t exec = w.exec();
  for (unsigned base = 0; base < numLanes; base += 2 * n)
    for (unsigned l = 0; l < n; ++l) {
      uint32_t upper = d[base + n + l], lower = s[base + l];
      if (exec >> (base + n + l) & 1)
        d[base + n + l] = lower;
      if (exec >> (base + l) & 1)
        s[base + l] = upper;
    }
}

void cndmask(Wave &w, const Inst &i, uint32_t *d, Sources s) {
  uint64_t mask = readMask(w, i, 2);
  eachLane(d, [&](unsigned l) { return (mask >> l & 1 ? s[1] : s[0])[l]; });
}

/// Adders with a carry in the mask registers.
enum class Carry { Add, Sub, Subrev };
template <Carry op, bool carryIn>
void carry(Wave &w, const Inst &i, uint32_t *d, Sources s) {
  uint64_t in = carryIn ? readMask(w, i, 2) : 0, out = 0;
  for (unsigned l = 0; l < numLanes; ++l) {
    uint64_t a = s[0][l], b = s[1][l], c = in >> l & 1, value;
    if (op == Carry::Add)
      value = a + b + c;
    else if (op == Carry::Sub)
      value = a - b - c;
    else
      value = b - a - c;
    d[l] = value;
    out |= uint64_t(value >> 32 != 0) << l;
    if (i.clamp && value >> 32)
      d[l] = op == Carry::Add ? ~0u : 0;
  }
  w.set64(i.sdst, out & w.exec());
}

template <bool isSigned>
void mad64(Wave &w, const Inst &i, uint32_t *d, Sources s) {
  uint64_t out = 0;
  for (unsigned l = 0; l < numLanes; ++l) {
    uint64_t c = pair(s[2], l);
    uint64_t product =
        isSigned ? uint64_t(int64_t(int32_t(s[0][l])) * int32_t(s[1][l]))
                 : uint64_t(s[0][l]) * s[1][l];
    uint64_t sum = product + c;
    // The carry is that of the 65-bit (signed: sign-extended) sum.
    bool overflow = sum < product;
    if (isSigned)
      overflow ^= (int64_t(product) < 0) != (int64_t(c) < 0);
    out |= uint64_t(overflow) << l;
    setPair(d, l, sum);
  }
  w.set64(i.sdst, out & w.exec());
}

void bitop3(Wave &, const Inst &i, uint32_t *d, Sources s) {
  unsigned table = i.simm;
  eachLane(d, [&](unsigned l) {
    uint32_t a = s[0][l], b = s[1][l], c = s[2][l], result = 0;
    for (unsigned n = 0; n < 8; ++n)
      if (table >> n & 1)
        result |= (n & 4 ? a : ~a) & (n & 2 ? b : ~b) & (n & 1 ? c : ~c);
    return i.dstTy == Ty::B16 ? result & 0xffff : result;
  });
}

/// Sums of absolute differences of bytes against a sliding reference.
void qsad(Wave &, const Inst &, uint32_t *d, Sources s) {
  eachPair(d, [&](unsigned l) {
    uint64_t a = pair(s[0], l), c = pair(s[2], l), result = 0;
    for (unsigned n = 0; n < 4; ++n) {
      uint32_t sum = c >> 16 * n & 0xffff;
      for (unsigned b = 0; b < 4; ++b) {
        int x = a >> 8 * (n + b) & 0xff, y = s[1][l] >> 8 * b & 0xff;
        sum += x > y ? x - y : y - x;
      }
      result |= uint64_t(sum & 0xffff) << 16 * n;
    }
    return result;
  });
}

//===----------------------------------------------------------------------===//
// Transcendental
//===----------------------------------------------------------------------===//

template <TransOp op>
void trans32(Wave &w, const Inst &, uint32_t *d, Sources s) {
  transF32Wave(op, s[0], d, w.ctx->perturb);
}
template <TransOp op>
void trans16(Wave &w, const Inst &, uint32_t *d, Sources s) {
  FloatMode mode = w.f16Mode();
  eachLane(d, [&](unsigned l) {
    return transF16(op, s[0][l], mode, w.ctx->perturb);
  });
}
template <TransOp op>
void trans64(Wave &w, const Inst &, uint32_t *d, Sources s) {
  FloatMode mode = w.f16Mode();
  eachPair(d, [&](unsigned l) {
    return asBits(transF64(op, f64At(s[0], l), mode, w.ctx->perturb));
  });
}

//===----------------------------------------------------------------------===//
// Float pieces
//===----------------------------------------------------------------------===//

/// A value for parameter T of a Numerics function: from its source register,
/// a bool from VCC, the mode as the caller read it.
template <typename T>
T argument(Wave &w, const uint32_t *source, unsigned l, const FloatMode &mode) {
  if constexpr (std::is_same_v<T, float>)
    return f32At(source, l);
  else if constexpr (std::is_same_v<T, double>)
    return f64At(source, l);
  else if constexpr (std::is_same_v<T, bool>)
    return w.vcc() >> l & 1;
  else if constexpr (std::is_same_v<T, const FloatMode &>)
    return mode;
  else
    return source[l];
}

template <typename R, typename First, typename... Rest, size_t... n>
void liftTo(R (*fn)(First, Rest...), Wave &w, uint32_t *d, Sources s,
            std::index_sequence<n...>) {
  FloatMode mode = std::is_same_v<First, float> ? w.f32Mode() : w.f16Mode();
  for (unsigned l = 0; l < numLanes; ++l) {
    R value = fn(argument<First>(w, s[0], l, mode),
                 // There are three sources; mode and bool come after them.
                 argument<Rest>(w, n < 2 ? s[n + 1] : nullptr, l, mode)...);
    if constexpr (std::is_same_v<R, double>)
      setPair(d, l, asBits(value));
    else if constexpr (std::is_same_v<R, float>)
      d[l] = asBits(value);
    else
      d[l] = std::make_unsigned_t<R>(value);
  }
}
/// A function of Numerics in every lane: the types of its parameters say how
/// the sources are read, under the mode of the first one's width.
template <auto fn> void lift(Wave &w, const Inst &, uint32_t *d, Sources s) {
  [&]<typename R, typename First, typename... Rest>(R (*f)(First, Rest...)) {
    liftTo(f, w, d, s, std::index_sequence_for<Rest...>());
  }(fn);
}

void trigPreop(Wave &, const Inst &, uint32_t *d, Sources s) {
  eachPair(d, [&](unsigned l) {
    return asBits(trigPreopF64(f64At(s[0], l), s[1][l]));
  });
}

void divScale32(Wave &w, const Inst &i, uint32_t *d, Sources s) {
  uint64_t mask = 0;
  eachLane(d, [&](unsigned l) {
    bool vcc = false;
    float value =
        divScaleF32(f32At(s[0], l), f32At(s[1], l), f32At(s[2], l), vcc);
    mask |= uint64_t(vcc) << l;
    return asBits(value);
  });
  w.set64(i.sdst, mask & w.exec());
}
void divScale64(Wave &w, const Inst &i, uint32_t *d, Sources s) {
  uint64_t mask = 0;
  eachPair(d, [&](unsigned l) {
    bool vcc = false;
    double value =
        divScaleF64(f64At(s[0], l), f64At(s[1], l), f64At(s[2], l), vcc);
    mask |= uint64_t(vcc) << l;
    return asBits(value);
  });
  w.set64(i.sdst, mask & w.exec());
}
template <float (*fn)(float, float, float)>
void cube(Wave &, const Inst &, uint32_t *d, Sources s) {
  eachLane(d, [&](unsigned l) {
    return asBits(fn(f32At(s[0], l), f32At(s[1], l), f32At(s[2], l)));
  });
}

/// v_mad_f16 and its kind: two roundings.
void mad16(Wave &w, const Inst &, uint32_t *d, Sources s) {
  FloatMode mode = w.f16Mode();
  eachLane(d, [&](unsigned l) {
    return addF16(mulF16(s[0][l], s[1][l], mode), s[2][l], mode);
  });
}

//===----------------------------------------------------------------------===//
// v_fma_mix: sources of either width
//===----------------------------------------------------------------------===//

/// f32 bits of source \p n: op_sel_hi says f16, op_sel which half; neg_hi is
/// the abs bit.
const uint32_t *mixSource(const Inst &i, unsigned n, const uint32_t *from,
                          LaneKernel widen, uint32_t *to) {
  const Src &src = i.src[n];
  if (!src.opSelHi && !src.negHi && !src.neg)
    return from;
  if (src.opSelHi) {
    unsigned shift = src.opSel ? 16 : 0;
    for (unsigned l = 0; l < numLanes; ++l)
      to[l] = from[l] >> shift & 0xffff;
    widen(to, to, nullptr, nullptr);
    from = to;
  }
  uint32_t keep = src.negHi ? 0x7fffffff : ~0u;
  uint32_t flip = src.neg ? 0x80000000 : 0;
  for (unsigned l = 0; l < numLanes; ++l)
    to[l] = (from[l] & keep) ^ flip;
  return to;
}
enum class Mix { F32, Low, High };
template <Mix to> void fmaMix(Wave &w, const Inst &i) {
  static const LaneKernel widen =
      OpTable::get().lookup("v_cvt_f32_f16")->kernel;
  static const LaneKernel narrow =
      OpTable::get().lookup("v_cvt_f16_f32")->kernel;
  static const LaneKernel multiplyAdd =
      OpTable::get().lookup("v_fma_f32")->kernel;
  alignas(64) uint32_t buffer[3][2 * numLanes], mixed[3][numLanes];
  alignas(64) uint32_t result[numLanes];
  const uint32_t *s[3];
  for (unsigned n = 0; n < 3; ++n)
    s[n] = mixSource(i, n, fetchRaw(w, i.src[n], buffer[n]), widen, mixed[n]);
  if (w.plainMode) {
    multiplyAdd(result, s[0], s[1], s[2]);
  } else {
    FloatMode mode = w.f32Mode();
    for (unsigned l = 0; l < numLanes; ++l)
      result[l] = asBits(
          fmaF32(f32At(s[0], l), f32At(s[1], l), f32At(s[2], l), mode.round));
  }
  if (i.clamp) {
    bool dx10 = w.mode & modeDX10Clamp;
    for (unsigned l = 0; l < numLanes; ++l) {
      float value = asFloat(result[l]);
      if (value != value)
        result[l] = dx10 ? 0 : result[l];
      else
        result[l] = asBits(value > 1.0f ? 1.0f : value > 0.0f ? value : 0.0f);
    }
  }
  if (to != Mix::F32) {
    if (w.plainMode) {
      narrow(result, result, nullptr, nullptr);
    } else {
      FloatMode f32Mode = w.f32Mode(), f16Mode = w.f16Mode();
      for (unsigned l = 0; l < numLanes; ++l)
        result[l] = cvtF16F32(asFloat(result[l]), f32Mode, f16Mode);
    }
    const uint32_t *old = w.vgpr(i.dst);
    for (unsigned l = 0; l < numLanes; ++l)
      result[l] = to == Mix::Low ? (old[l] & 0xffff0000) | result[l]
                                 : (old[l] & 0xffff) | result[l] << 16;
  }
  storeMasked(w, i.dst, result, 1);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

template <auto fn> void from32(Wave &, const Inst &, uint32_t *d, Sources s) {
  eachLane(d, [&](unsigned l) { return uint32_t(fn(f32At(s[0], l))); });
}
template <auto fn> void from64(Wave &, const Inst &, uint32_t *d, Sources s) {
  eachLane(d, [&](unsigned l) { return uint32_t(fn(f64At(s[0], l))); });
}
template <auto fn> void from16(Wave &, const Inst &, uint32_t *d, Sources s) {
  eachLane(d, [&](unsigned l) { return uint32_t(fn(s[0][l])) & 0xffff; });
}
template <auto fn>
void int16To16(Wave &w, const Inst &, uint32_t *d, Sources s) {
  FloatMode mode = w.f16Mode();
  eachLane(d, [&](unsigned l) { return fn(s[0][l], mode); });
}
void offI4(Wave &, const Inst &, uint32_t *d, Sources s) {
  eachLane(d, [&](unsigned l) { return asBits(cvtOffF32I4(s[0][l])); });
}
void pkU8(Wave &, const Inst &, uint32_t *d, Sources s) {
  eachLane(d, [&](unsigned l) {
    return cvtPkU8F32(f32At(s[0], l), s[1][l], s[2][l]);
  });
}
void pkRtz(Wave &, const Inst &, uint32_t *d, Sources s) {
  eachLane(d, [&](unsigned l) {
    return cvtPkRtzF16F32(f32At(s[0], l)) |
           uint32_t(cvtPkRtzF16F32(f32At(s[1], l))) << 16;
  });
}
template <auto fn> void pkNorm32(Wave &, const Inst &, uint32_t *d, Sources s) {
  eachLane(d, [&](unsigned l) {
    return (uint32_t(fn(f32At(s[0], l))) & 0xffff) |
           uint32_t(fn(f32At(s[1], l))) << 16;
  });
}
template <auto fn> void pkNorm16(Wave &, const Inst &, uint32_t *d, Sources s) {
  eachLane(d, [&](unsigned l) {
    return (uint32_t(fn(f16ToF32(s[0][l]))) & 0xffff) |
           uint32_t(fn(f16ToF32(s[1][l]))) << 16;
  });
}
template <auto fn> void norm16(Wave &, const Inst &, uint32_t *d, Sources s) {
  eachLane(
      d, [&](unsigned l) { return uint32_t(fn(f16ToF32(s[0][l]))) & 0xffff; });
}
template <auto fn> void pkInt(Wave &, const Inst &, uint32_t *d, Sources s) {
  eachLane(d, [&](unsigned l) {
    return (uint32_t(fn(s[0][l])) & 0xffff) | uint32_t(fn(s[1][l])) << 16;
  });
}
template <auto fn> void srHalf(Wave &w, const Inst &i) {
  alignas(64) uint32_t result[numLanes];
  Operands operands;
  for (unsigned n = 0; n < 2; ++n)
    operands.src[n] = fetch(w, i, n, operands.buffer[n]);
  eachLane(result, [&](unsigned l) {
    return fn(f32At(operands.src[0], l), operands.src[1][l]);
  });
  storeResult(w, i, result);
}

FloatFormat fp8(const Wave &w, bool bf8) {
  return getFP8Format(bf8, w.ctx->isOCP);
}
bool saturates(const Wave &w) { return w.mode & modeFP16Overflow; }
/// Which byte the result goes to: op_sel bits 2 and 3.
unsigned dstByte(const Inst &i) {
  return (i.src[2].opSel ? 1 : 0) + (i.dstOpSel ? 2 : 0);
}
/// Which byte the source comes from: op_sel bits 0 and 1.
unsigned srcByte(const Inst &i) {
  return (i.src[0].opSel ? 1 : 0) + (i.src[1].opSel ? 2 : 0);
}
uint32_t insertBits(uint32_t old, uint32_t value, unsigned shift,
                    unsigned width) {
  uint32_t field = (width < 32 ? (1u << width) - 1 : ~0u) << shift;
  return (old & ~field) | (value << shift & field);
}

template <bool bf8> void pkFP8(Wave &w, const Inst &i, uint32_t *d, Sources s) {
  FloatFormat format = fp8(w, bf8);
  const uint32_t *old = w.vgpr(i.dst);
  eachLane(d, [&](unsigned l) {
    uint32_t two = cvtFP8F32(format, f32At(s[0], l), saturates(w)) |
                   cvtFP8F32(format, f32At(s[1], l), saturates(w)) << 8;
    return insertBits(old[l], two, i.dstOpSel ? 16 : 0, 16);
  });
}
template <bool bf8> void srFP8(Wave &w, const Inst &i, uint32_t *d, Sources s) {
  FloatFormat format = fp8(w, bf8);
  const uint32_t *old = w.vgpr(i.dst);
  eachLane(d, [&](unsigned l) {
    uint32_t code = cvtSrFP8F32(format, f32At(s[0], l), s[1][l], saturates(w));
    return insertBits(old[l], code, 8 * dstByte(i), 8);
  });
}
template <bool bf8>
void fp8To32(Wave &w, const Inst &i, uint32_t *d, Sources s) {
  const float *table = getDecodeTable(fp8(w, bf8));
  unsigned shift = 8 * srcByte(i);
  eachLane(d,
           [&](unsigned l) { return asBits(table[s[0][l] >> shift & 0xff]); });
}
template <bool bf8>
void fp8ToPair(Wave &w, const Inst &i, uint32_t *d, Sources s) {
  const float *table = getDecodeTable(fp8(w, bf8));
  unsigned shift = i.src[0].opSel ? 16 : 0;
  eachPair(d, [&](unsigned l) {
    uint32_t two = s[0][l] >> shift;
    return asBits(table[two & 0xff]) | uint64_t(asBits(table[two >> 8 & 0xff]))
                                           << 32;
  });
}

//===----------------------------------------------------------------------===//
// v_cvt_scalef32_*
//===----------------------------------------------------------------------===//

/// What one of the scaled conversions does, from its mnemonic.
struct ScaledOp {
  FloatFormat dst, src;
  /// Elements converted; 2xpk16 is 32 with the source in two operands.
  unsigned count;
  bool stochastic;
  bool twoSources;
};

unsigned widthOf(FloatFormat format) { return getFormatInfo(format).bits; }
/// Value of an f32, f16 or bf16 code.
float valueOf(FloatFormat format, uint32_t code) {
  if (format == FloatFormat::F32)
    return asFloat(code);
  if (format == FloatFormat::F16)
    return f16ToF32(code);
  return bf16ToF32(code);
}

void scaled(Wave &w, const Inst &i) {
  const ScaledOp &op = *static_cast<const ScaledOp *>(i.extra);
  alignas(64) uint32_t buffers[4][2 * numLanes];
  const uint32_t *s[4] = {};
  for (unsigned n = 0; n < i.numSrcs; ++n)
    s[n] = fetchRaw(w, i.src[n], buffers[n]);
  // Sign modifiers touch single f32 sources only.
  bool separate = op.src == FloatFormat::F32 && op.count == 2 && !op.stochastic;
  if (separate || (op.count == 1 && op.src == FloatFormat::F32))
    for (unsigned n = 0; n < (separate ? 2u : 1u); ++n)
      s[n] = fetch(w, i, n, buffers[n]);
  const uint32_t *scales = s[i.numSrcs - 1];
  const uint32_t *seeds = op.stochastic ? s[i.numSrcs - 2] : nullptr;
  unsigned srcBits = widthOf(op.src), dstBits = widthOf(op.dst);
  unsigned dstWords = std::max(1u, dstBits * op.count / 32);
  bool down = srcBits >= 16;
  static thread_local uint32_t result[maxOperandWords * numLanes];
  for (unsigned l = 0; l < numLanes; ++l) {
    ScaleF32 scale = getScaleF32(scales[l]);
    uint32_t out[maxOperandWords] = {};
    uint32_t in[maxOperandWords] = {};
    unsigned srcWords = std::max(1u, srcBits * op.count / 32);
    if (op.twoSources) {
      for (unsigned word = 0; word < 16; ++word) {
        in[word] = s[0][word * numLanes + l];
        in[16 + word] = s[1][word * numLanes + l];
      }
    } else if (separate) {
      in[0] = s[0][l];
      in[1] = s[1][l];
    } else {
      for (unsigned word = 0; word < srcWords; ++word)
        in[word] = s[0][word * numLanes + l];
    }
    if (!down && op.count <= 2) {
      // A part of the source register: op_sel picks a byte, or a half for a
      // pair of bytes.
      unsigned at =
          srcBits * op.count == 16 ? 16 * i.src[0].opSel : 8 * srcByte(i);
      in[0] >>= at;
    }
    uint32_t seed = seeds ? seeds[l] : 0;
    for (unsigned n = 0; n < op.count; ++n) {
      uint32_t code = extractCode(in, n, srcBits);
      uint32_t converted;
      if (!down) {
        converted = cvtScaledUp(op.dst, op.src, code, scale);
      } else {
        float value = valueOf(op.src, code);
        converted = op.stochastic
                        ? cvtScaledDownStochastic(op.dst, value, scale, seed)
                        : cvtScaledDown(op.dst, value, scale);
      }
      insertCode(out, n, dstBits, converted);
    }
    // Narrow results leave the rest of the register alone.
    unsigned total = dstBits * op.count;
    if (total < 32) {
      unsigned at = total == 16 ? 16 * i.dstOpSel : 8 * dstByte(i);
      out[0] = insertBits(w.vgpr(i.dst)[l], out[0], at, total);
    }
    for (unsigned word = 0; word < dstWords; ++word)
      result[word * numLanes + l] = out[word];
  }
  storeMasked(w, i.dst, result, dstWords);
}

} // namespace

static void addScaledConversions(OpTable &t) {
  using F = FloatFormat;
  struct Small {
    const char *name;
    F format;
  };
  static const Small bytes[] = {{"fp8", F::FP8E4M3FN}, {"bf8", F::FP8E5M2}};
  static const Small sixes[] = {{"fp6", F::FP6E2M3}, {"bf6", F::FP6E3M2}};
  static const Small wide[] = {
      {"f32", F::F32}, {"f16", F::F16}, {"bf16", F::BF16}};
  static std::vector<std::unique_ptr<ScaledOp>> storage;
  auto add = [&](const Twine &name, StringRef signature, ScaledOp op) {
    storage.push_back(std::make_unique<ScaledOp>(op));
    OpInfo &info = t.add(("v_cvt_scalef32_" + name).str(), signature,
                         InstClass::VALU, scaled);
    info.extra = storage.back().get();
    info.onlyGFX950 = true;
    info.traits.shiftsResult = widthOf(op.dst) * op.count < 32;
  };
  for (const Small &w : wide) {
    bool single = w.format == F::F32;
    StringRef wideName = w.name;
    for (const Small &b : bytes) {
      std::string pk = single ? "b64 b32 f32" : "b32 b32 f32";
      add("pk_" + wideName + "_" + b.name, pk,
          {w.format, b.format, 2, false, false});
      if (w.format != F::BF16)
        add(wideName + "_" + b.name, "b32 b32 f32",
            {w.format, b.format, 1, false, false});
      add(Twine("pk_") + b.name + "_" + wideName,
          single ? "b32 f32 f32 f32" : "b32 b32 f32",
          {b.format, w.format, 2, false, false});
      add(Twine("sr_") + b.name + "_" + wideName, "b32 f32 b32 f32",
          {b.format, w.format, 1, true, false});
    }
    add("pk_" + wideName + "_fp4", single ? "b64 b32 f32" : "b32 b32 f32",
        {w.format, F::FP4E2M1, 2, false, false});
    add("pk_fp4_" + wideName, single ? "b32 f32 f32 f32" : "b32 b32 f32",
        {F::FP4E2M1, w.format, 2, false, false});
    add("sr_pk_fp4_" + wideName, single ? "b32 b64 b32 f32" : "b32 b32 b32 f32",
        {F::FP4E2M1, w.format, 2, true, false});
    for (const Small &six : sixes) {
      std::string wideTy = single ? "b1024" : "b512";
      add("pk32_" + wideName + "_" + six.name, wideTy + " b192 f32",
          {w.format, six.format, 32, false, false});
      if (single)
        add(Twine("2xpk16_") + six.name + "_f32", "b192 b512 b512 f32",
            {six.format, w.format, 32, false, true});
      else
        add(Twine("pk32_") + six.name + "_" + wideName,
            "b192 " + wideTy + " f32",
            {six.format, w.format, 32, false, false});
      add(Twine("sr_pk32_") + six.name + "_" + wideName,
          "b192 " + wideTy + " b32 f32",
          {six.format, w.format, 32, true, false});
    }
  }
}

void attn::emu::addSpecialVectorOps(OpTable &t) {
  auto add = [&](StringRef name, StringRef signature, Handler fn) -> OpInfo & {
    return t.add(name, signature, InstClass::VALU, fn);
  };
  auto only950 = [](OpInfo &info) { info.onlyGFX950 = true; };
  add("v_nop", "-", [](Wave &, const Inst &) {});
  add("v_readfirstlane_b32", "b32 b32", readFirstLane);
  add("v_readlane_b32", "b32 b32 b32", readLane);
  add("v_writelane_b32", "b32 b32 b32", writeLane);
  add("v_swap_b32", "b32 b32", swap);
  only950(add("v_permlane16_swap_b32", "b32 b32", permlaneSwap<16>));
  only950(add("v_permlane32_swap_b32", "b32 b32", permlaneSwap<32>));
  add("v_cndmask_b32", "f32 f32 f32 mask", execute<cndmask>);

  auto addCarry = [&](StringRef name, StringRef signature, Handler fn) {
    add(name, signature, fn).hasScalarDst = true;
  };
  const char *three = "b32 b32 b32", *withMask = "b32 b32 b32 mask";
  addCarry("v_add_co_u32", three, execute<carry<Carry::Add, false>>);
  addCarry("v_sub_co_u32", three, execute<carry<Carry::Sub, false>>);
  addCarry("v_subrev_co_u32", three, execute<carry<Carry::Subrev, false>>);
  addCarry("v_addc_co_u32", withMask, execute<carry<Carry::Add, true>>);
  addCarry("v_subb_co_u32", withMask, execute<carry<Carry::Sub, true>>);
  addCarry("v_subbrev_co_u32", withMask, execute<carry<Carry::Subrev, true>>);
  addCarry("v_mad_u64_u32", "b64 b32 b32 b64", execute<mad64<false>>);
  addCarry("v_mad_i64_i32", "b64 b32 b32 i64", execute<mad64<true>>);
  addCarry("v_div_scale_f32", "f32 f32 f32 f32", execute<divScale32>);
  addCarry("v_div_scale_f64", "f64 f64 f64 f64", execute<divScale64>);
  add("v_div_fmas_f32", "f32 f32 f32 f32", execute<lift<divFmasF32>>);
  add("v_div_fmas_f64", "f64 f64 f64 f64", execute<lift<divFmasF64>>);
  add("v_div_fixup_f32", "f32 f32 f32 f32", execute<lift<divFixupF32>>);
  add("v_div_fixup_f64", "f64 f64 f64 f64", execute<lift<divFixupF64>>);
  add("v_div_fixup_f16", "f16 f16 f16 f16", execute<lift<divFixupF16>>)
      .keepHalf = true;
  add("v_div_fixup_legacy_f16", "f16 f16 f16 f16", execute<lift<divFixupF16>>);
  only950(add("v_bitop3_b32", "b32 b32 b32 b32", execute<bitop3>));
  {
    OpInfo &info = add("v_bitop3_b16", "b16 b16 b16 b16", execute<bitop3>);
    info.onlyGFX950 = true;
    info.keepHalf = true;
  }
  add("v_qsad_pk_u16_u8", "b64 b64 b32 b64", execute<qsad>);

  // Transcendental.
  auto trans = [&](StringRef name, StringRef signature, Handler fn) {
    t.add(name, signature, InstClass::Transcendental, fn);
  };
  trans("v_exp_f32", "f32 f32", execute<trans32<TransOp::Exp>>);
  trans("v_log_f32", "f32 f32", execute<trans32<TransOp::Log>>);
  trans("v_exp_legacy_f32", "f32 f32", execute<trans32<TransOp::Exp>>);
  trans("v_log_legacy_f32", "f32 f32", execute<trans32<TransOp::Log>>);
  trans("v_rcp_f32", "f32 f32", execute<trans32<TransOp::Rcp>>);
  trans("v_rcp_iflag_f32", "f32 f32", execute<trans32<TransOp::Rcp>>);
  trans("v_rsq_f32", "f32 f32", execute<trans32<TransOp::Rsq>>);
  trans("v_sqrt_f32", "f32 f32", execute<trans32<TransOp::Sqrt>>);
  trans("v_sin_f32", "f32 f32", execute<trans32<TransOp::Sin>>);
  trans("v_cos_f32", "f32 f32", execute<trans32<TransOp::Cos>>);
  trans("v_exp_f16", "f16 f16", execute<trans16<TransOp::Exp>>);
  trans("v_log_f16", "f16 f16", execute<trans16<TransOp::Log>>);
  trans("v_rcp_f16", "f16 f16", execute<trans16<TransOp::Rcp>>);
  trans("v_rsq_f16", "f16 f16", execute<trans16<TransOp::Rsq>>);
  trans("v_sqrt_f16", "f16 f16", execute<trans16<TransOp::Sqrt>>);
  trans("v_sin_f16", "f16 f16", execute<trans16<TransOp::Sin>>);
  trans("v_cos_f16", "f16 f16", execute<trans16<TransOp::Cos>>);
  trans("v_rcp_f64", "f64 f64", execute<trans64<TransOp::Rcp>>);
  trans("v_rsq_f64", "f64 f64", execute<trans64<TransOp::Rsq>>);
  trans("v_sqrt_f64", "f64 f64", execute<trans64<TransOp::Sqrt>>);

  add("v_ldexp_f32", "f32 f32 b32", execute<lift<ldexpF32>>);
  add("v_ldexp_f16", "f16 f16 b16", execute<lift<ldexpF16>>);
  add("v_ldexp_f64", "f64 f64 b32", execute<lift<ldexpF64>>);
  add("v_frexp_exp_i32_f32", "b32 f32", execute<lift<frexpExpF32>>);
  add("v_frexp_exp_i16_f16", "b16 f16", execute<lift<frexpExpF16>>);
  add("v_frexp_exp_i32_f64", "b32 f64", execute<lift<frexpExpF64>>);
  add("v_frexp_mant_f32", "f32 f32", execute<lift<frexpMantF32>>);
  add("v_frexp_mant_f16", "f16 f16", execute<lift<frexpMantF16>>);
  add("v_frexp_mant_f64", "f64 f64", execute<lift<frexpMantF64>>);
  add("v_fract_f32", "f32 f32", execute<lift<fractF32>>);
  add("v_fract_f16", "f16 f16", execute<lift<fractF16>>);
  add("v_fract_f64", "f64 f64", execute<lift<fractF64>>);
  add("v_trig_preop_f64", "f64 f64 b32", execute<trigPreop>);
  add("v_cubeid_f32", "f32 f32 f32 f32", execute<cube<cubeIdF32>>);
  add("v_cubesc_f32", "f32 f32 f32 f32", execute<cube<cubeScF32>>);
  add("v_cubetc_f32", "f32 f32 f32 f32", execute<cube<cubeTcF32>>);
  add("v_cubema_f32", "f32 f32 f32 f32", execute<cube<cubeMaF32>>);
  add("v_mad_f16", "f16 f16 f16 f16", execute<mad16>).keepHalf = true;
  add("v_mad_legacy_f16", "f16 f16 f16 f16", execute<mad16>);
  add("v_fma_legacy_f16", "f16 f16 f16 f16", execute<lift<fmaF16>>);
  add("v_mac_f16", "f16 f16 f16 f16", execute<mad16>).accumulates = true;
  add("v_madak_f16", "f16 f16 f16 f16", execute<mad16>);
  add("v_madmk_f16", "f16 f16 f16 f16", execute<mad16>);
  add("v_fma_mix_f32", "f32 b32 b32 b32", fmaMix<Mix::F32>);
  add("v_fma_mixlo_f16", "b32 b32 b32 b32", fmaMix<Mix::Low>);
  add("v_fma_mixhi_f16", "b32 b32 b32 b32", fmaMix<Mix::High>);

  // Conversions.
  add("v_cvt_i32_f32", "b32 f32", execute<from32<cvtI32F32>>);
  add("v_cvt_u32_f32", "b32 f32", execute<from32<cvtU32F32>>);
  add("v_cvt_rpi_i32_f32", "b32 f32", execute<from32<cvtRpiI32F32>>);
  add("v_cvt_flr_i32_f32", "b32 f32", execute<from32<cvtFlrI32F32>>);
  add("v_cvt_i32_f64", "b32 f64", execute<from64<cvtI32F64>>);
  add("v_cvt_u32_f64", "b32 f64", execute<from64<cvtU32F64>>);
  add("v_cvt_i16_f16", "b16 f16", execute<from16<cvtI16F16>>);
  add("v_cvt_u16_f16", "b16 f16", execute<from16<cvtU16F16>>);
  add("v_cvt_f16_i16", "f16 b16", execute<int16To16<cvtF16I16>>);
  add("v_cvt_f16_u16", "f16 b16", execute<int16To16<cvtF16U16>>);
  add("v_cvt_off_f32_i4", "f32 b32", execute<offI4>);
  add("v_cvt_pk_u8_f32", "b32 f32 b32 b32", execute<pkU8>);
  add("v_cvt_pkrtz_f16_f32", "b32 f32 f32", execute<pkRtz>);
  add("v_cvt_pknorm_i16_f32", "b32 f32 f32", execute<pkNorm32<cvtPkNormI16>>);
  add("v_cvt_pknorm_u16_f32", "b32 f32 f32", execute<pkNorm32<cvtPkNormU16>>);
  add("v_cvt_pknorm_i16_f16", "b32 f16 f16", execute<pkNorm16<cvtPkNormI16>>);
  add("v_cvt_pknorm_u16_f16", "b32 f16 f16", execute<pkNorm16<cvtPkNormU16>>);
  add("v_cvt_norm_i16_f16", "b16 f16", execute<norm16<cvtPkNormI16>>);
  add("v_cvt_norm_u16_f16", "b16 f16", execute<norm16<cvtPkNormU16>>);
  add("v_cvt_pk_i16_i32", "b32 b32 b32", execute<pkInt<cvtPkI16I32>>);
  add("v_cvt_pk_u16_u32", "b32 b32 b32", execute<pkInt<cvtPkU16U32>>);
  for (auto [name, fn] :
       {std::pair("v_cvt_sr_f16_f32", Handler(srHalf<cvtSrF16F32>)),
        std::pair("v_cvt_sr_bf16_f32", Handler(srHalf<cvtSrBF16F32>))}) {
    OpInfo &info = add(name, "b16 f32 b32", fn);
    info.keepHalf = true;
    info.onlyGFX950 = true;
  }
  add("v_cvt_pk_fp8_f32", "b32 f32 f32", execute<pkFP8<false>>);
  add("v_cvt_pk_bf8_f32", "b32 f32 f32", execute<pkFP8<true>>);
  add("v_cvt_sr_fp8_f32", "b32 f32 b32", execute<srFP8<false>>);
  add("v_cvt_sr_bf8_f32", "b32 f32 b32", execute<srFP8<true>>);
  for (const char *name : {"v_cvt_pk_fp8_f32", "v_cvt_pk_bf8_f32",
                           "v_cvt_sr_fp8_f32", "v_cvt_sr_bf8_f32"})
    t.find(name)->traits.shiftsResult = 1;
  add("v_cvt_f32_fp8", "f32 b32", execute<fp8To32<false>>);
  add("v_cvt_f32_bf8", "f32 b32", execute<fp8To32<true>>);
  add("v_cvt_pk_f32_fp8", "b64 b32", execute<fp8ToPair<false>>);
  add("v_cvt_pk_f32_bf8", "b64 b32", execute<fp8ToPair<true>>);
  addScaledConversions(t);

  // What the checks want to know.
  auto flow = [&](StringRef name, Flow value) {
    t.find(name)->traits.flow = value;
  };
  for (StringRef name :
       {"v_mad_u64_u32", "v_mad_i64_i32", "v_lshl_add_u64", "v_mov_b64"})
    flow(name, Flow::LowWord);
  flow("v_lshlrev_b64", Flow::ShiftLeft64);
  flow("v_lshrrev_b64", Flow::ShiftRight64);
  flow("v_ashrrev_i64", Flow::ShiftRight64);
  flow("v_readfirstlane_b32", Flow::ReadFirstLane);
  flow("v_readlane_b32", Flow::ReadLane);
  flow("v_writelane_b32", Flow::WriteLane);
  flow("v_swap_b32", Flow::Swap);
  flow("v_permlane16_swap_b32", Flow::PermlaneSwap16);
  flow("v_permlane32_swap_b32", Flow::PermlaneSwap32);
  flow("v_cndmask_b32", Flow::Select);
  t.find("v_div_fmas_f32")->traits.isDivFmas = 1;
  t.find("v_div_fmas_f64")->traits.isDivFmas = 1;
}
