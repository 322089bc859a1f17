//===- Operands.cpp - Vector operands of one instruction ------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operands.h"
#include "../ISA/OpTable.h"
#include "attn/Emulator/Numerics/Convert.h"

using namespace attn::emu;

static void broadcast(uint32_t *buffer, uint32_t value) {
  for (unsigned lane = 0; lane < numLanes; ++lane)
    buffer[lane] = value;
}

const uint32_t *attn::emu::fetchRaw(Wave &w, const Src &src, uint32_t *buffer) {
  switch (src.kind) {
  case SrcKind::Vector:
    return w.vgpr(src.reg);
  case SrcKind::Const:
    return src.lanes;
  case SrcKind::SGPR:
    broadcast(buffer, w.sgpr[src.reg]);
    if (getWords(src.ty) == 2)
      broadcast(buffer + numLanes, w.sgpr[(src.reg + 1) & 127]);
    return buffer;
  case SrcKind::Special:
    broadcast(buffer, w.readSpecial(src.reg));
    broadcast(buffer + numLanes, 0);
    return buffer;
  case SrcKind::None:
    break;
  }
  return buffer;
}

namespace {
/// How abs and neg change the sign bit.
struct SignMods {
  SignMods(const Src &src, uint32_t bit)
      : keep(src.abs ? ~bit : ~0u), flip(src.neg ? bit : 0) {}
  uint32_t apply(uint32_t value) const { return (value & keep) ^ flip; }
  uint32_t keep, flip;
};
} // namespace

const uint32_t *attn::emu::fetch(Wave &w, const Inst &i, unsigned index,
                                 uint32_t *buffer) {
  const Src &src = i.src[index];
  const uint32_t *from = fetchRaw(w, src, buffer);
  if (!i.hasSrcMods)
    return from;
  switch (src.ty) {
  case Ty::F32:
  case Ty::B32: {
    if (!src.neg && !src.abs)
      return from;
    SignMods mods(src, 0x80000000);
    for (unsigned l = 0; l < numLanes; ++l)
      buffer[l] = mods.apply(from[l]);
    return buffer;
  }
  case Ty::F64: {
    if (!src.neg && !src.abs)
      return from;
    SignMods mods(src, 0x80000000);
    for (unsigned l = 0; l < numLanes; ++l) {
      buffer[l] = from[l];
      buffer[numLanes + l] = mods.apply(from[numLanes + l]);
    }
    return buffer;
  }
  case Ty::F16:
  case Ty::B16: {
    SignMods mods(src, 0x8000);
    unsigned shift = src.opSel ? 16 : 0;
    for (unsigned l = 0; l < numLanes; ++l)
      buffer[l] = mods.apply(from[l] >> shift & 0xffff);
    return buffer;
  }
  case Ty::PKF16:
  case Ty::PKB16: {
    unsigned low = src.opSel ? 16 : 0, high = src.opSelHi ? 16 : 0;
    uint32_t flip = (src.neg ? 0x8000u : 0) | (src.negHi ? 0x80000000u : 0);
    for (unsigned l = 0; l < numLanes; ++l)
      buffer[l] = ((from[l] >> low & 0xffff) | from[l] >> high << 16) ^ flip;
    return buffer;
  }
  case Ty::PKF32:
  case Ty::PKB32: {
    const uint32_t *low = from + (src.opSel ? numLanes : 0);
    const uint32_t *high = from + (src.opSelHi ? numLanes : 0);
    uint32_t flip = src.neg ? 0x80000000 : 0;
    uint32_t flipHi = src.negHi ? 0x80000000 : 0;
    for (unsigned l = 0; l < numLanes; ++l) {
      uint32_t a = low[l] ^ flip, b = high[l] ^ flipHi;
      buffer[l] = a;
      buffer[numLanes + l] = b;
    }
    return buffer;
  }
  default:
    return from;
  }
}

static float clampF32(float value, bool dx10) {
  if (value != value)
    return dx10 ? 0.0f : value;
  return value > 1.0f ? 1.0f : value > 0.0f ? value : 0.0f;
}
static double clampF64(double value, bool dx10) {
  if (value != value)
    return dx10 ? 0.0 : value;
  return value > 1.0 ? 1.0 : value > 0.0 ? value : 0.0;
}
static uint32_t clampF16(uint32_t code, bool dx10) {
  code &= 0xffff;
  if ((code & 0x7fff) > 0x7c00)
    return dx10 ? 0 : code;
  return code >> 15 ? 0 : code > 0x3c00 ? 0x3c00 : code;
}

/// omod counts only where denormal results are flushed and IEEE mode is off.
static unsigned getOmod(Wave &w, const Inst &i, const FloatMode &mode) {
  return mode.denormOut || (w.mode & modeIEEE) ? 0 : i.omod;
}

void attn::emu::applyOutputModifiers(Wave &w, const Inst &i, uint32_t *d) {
  static const float factors[4] = {1.0f, 2.0f, 4.0f, 0.5f};
  bool dx10 = w.mode & modeDX10Clamp;
  switch (i.dstTy) {
  case Ty::F32: {
    unsigned omod = getOmod(w, i, w.f32Mode());
    for (unsigned l = 0; l < numLanes; ++l) {
      float value = asFloat(d[l]);
      if (omod) {
        value *= factors[omod];
        if ((asBits(value) & 0x7f800000) == 0)
          value = asFloat(asBits(value) & 0x80000000);
      }
      d[l] = asBits(i.clamp ? clampF32(value, dx10) : value);
    }
    return;
  }
  case Ty::PKF32:
    if (i.clamp)
      for (unsigned l = 0; l < 2 * numLanes; ++l)
        d[l] = asBits(clampF32(asFloat(d[l]), dx10));
    return;
  case Ty::F64: {
    unsigned omod = getOmod(w, i, w.f16Mode());
    for (unsigned l = 0; l < numLanes; ++l) {
      double value = asDouble(uint64_t(d[numLanes + l]) << 32 | d[l]);
      if (omod) {
        value *= factors[omod];
        if ((asBits(value) & 0x7ff0000000000000) == 0)
          value = asDouble(asBits(value) & 0x8000000000000000);
      }
      uint64_t bits = asBits(i.clamp ? clampF64(value, dx10) : value);
      d[l] = bits;
      d[numLanes + l] = bits >> 32;
    }
    return;
  }
  case Ty::F16: {
    FloatMode mode = w.f16Mode();
    unsigned omod = getOmod(w, i, mode);
    static const uint16_t halves[4] = {0x3c00, 0x4000, 0x4400, 0x3800};
    for (unsigned l = 0; l < numLanes; ++l) {
      if (omod)
        d[l] = mulF16(d[l], halves[omod], mode);
      if (i.clamp)
        d[l] = clampF16(d[l], dx10);
    }
    return;
  }
  case Ty::PKF16:
    if (i.clamp)
      for (unsigned l = 0; l < numLanes; ++l)
        d[l] = clampF16(d[l], dx10) | clampF16(d[l] >> 16, dx10) << 16;
    return;
  default:
    // Integer clamps have kernels of their own.
    return;
  }
}

void attn::emu::storeMasked(Wave &w, unsigned reg, const uint32_t *from,
                            unsigned words) {
  uint32_t *to = w.vgpr(reg);
  uint64_t exec = w.exec();
  if (exec == allLanes) {
    std::memcpy(to, from, size_t(words) * numLanes * 4);
    return;
  }
  const uint32_t *mask = w.getLaneMasks(exec);
  for (unsigned word = 0; word < words; ++word)
    for (unsigned l = 0; l < numLanes; ++l) {
      unsigned at = word * numLanes + l;
      to[at] = (from[at] & mask[l]) | (to[at] & ~mask[l]);
    }
}

void attn::emu::storeResult(Wave &w, const Inst &i, const uint32_t *d) {
  bool half = i.dstTy == Ty::F16 || i.dstTy == Ty::B16;
  if (!half || !(i.keepHalf || i.dstOpSel)) {
    storeMasked(w, i.dst, d, getWords(i.dstTy));
    return;
  }
  alignas(64) uint32_t merged[numLanes];
  const uint32_t *old = w.vgpr(i.dst);
  for (unsigned l = 0; l < numLanes; ++l)
    merged[l] = i.dstOpSel ? (old[l] & 0xffff) | d[l] << 16
                           : (old[l] & 0xffff0000) | (d[l] & 0xffff);
  storeMasked(w, i.dst, merged, 1);
}

//===----------------------------------------------------------------------===//
// DPP and SDWA
//===----------------------------------------------------------------------===//

int attn::emu::getDPPSource(unsigned control, unsigned lane) {
  unsigned row = lane & ~15u, at = lane & 15;
  if (control <= 0xff)
    return (lane & ~3u) | (control >> 2 * (lane & 3) & 3);
  unsigned n = control & 15;
  switch (control >> 4) {
  case 0x10: // row_shl
    return at + n < 16 ? int(row + at + n) : -1;
  case 0x11: // row_shr
    return at >= n ? int(row + at - n) : -1;
  case 0x12: // row_ror
    return row + ((at - n) & 15);
  case 0x15: // row_newbcast
    return row + n;
  default:
    break;
  }
  switch (control) {
  case 0x130: // wave_shl:1
    return lane < 63 ? int(lane + 1) : -1;
  case 0x134: // wave_rol:1
    return (lane + 1) & 63;
  case 0x138: // wave_shr:1
    return lane ? int(lane - 1) : -1;
  case 0x13c: // wave_ror:1
    return (lane - 1) & 63;
  case 0x140: // row_mirror
    return row + 15 - at;
  case 0x141: // row_half_mirror
    return (lane & ~7u) + 7 - (lane & 7);
  case 0x142: // row_bcast:15
    return row ? int(row - 1) : -1;
  case 0x143: // row_bcast:31
    return lane >= 32 ? 31 : -1;
  default:
    return -2;
  }
}

void attn::emu::executeDPP(Wave &w, const Inst &i) {
  uint64_t exec = w.exec();
  uint64_t writes = exec;
  alignas(64) uint32_t buffer[2 * numLanes], permuted[2 * numLanes];
  const uint32_t *from = fetchRaw(w, i.src[0], buffer);
  unsigned words = getWords(i.src[0].ty);
  for (unsigned lane = 0; lane < numLanes; ++lane) {
    int source = getDPPSource(i.dppCtrl, lane);
    if (source == -2) {
      w.raise("uses DPP control 0x" + llvm::Twine::utohexstr(i.dppCtrl) +
              ", which the chip does not have");
      return;
    }
    bool valid = source >= 0 && (exec >> source & 1);
    if (!valid && !i.boundCtrl)
      writes &= ~(uint64_t(1) << lane);
    if (!(i.rowMask >> (lane / 16) & 1) || !(i.bankMask >> (lane / 4 % 4) & 1))
      writes &= ~(uint64_t(1) << lane);
    for (unsigned word = 0; word < words; ++word)
      permuted[word * numLanes + lane] =
          valid ? from[word * numLanes + source] : 0;
  }
  Inst plain = i;
  plain.src[0].kind = SrcKind::Const;
  plain.src[0].lanes = permuted;
  w.setExec(writes);
  i.inner(w, plain);
  w.setExec(exec);
}

void attn::emu::executeSDWA(Wave &w, const Inst &i) {
  Inst plain = i;
  alignas(64) uint32_t selected[2][numLanes], buffer[2 * numLanes];
  for (unsigned n = 0; n < 2 && n < i.numSrcs; ++n) {
    if (i.src[n].ty == Ty::Mask || (n == 1 && i.format == Format::VOP1))
      continue;
    const uint32_t *from = fetchRaw(w, i.src[n], buffer);
    unsigned sel = i.srcSel[n];
    unsigned shift = sel < 4 ? 8 * sel : sel == 5 ? 16 : 0;
    unsigned width = sel < 4 ? 8 : sel < 6 ? 16 : 32;
    for (unsigned l = 0; l < numLanes; ++l) {
      uint32_t value = from[l] >> shift;
      if (width < 32)
        value = i.srcSext[n]
                    ? uint32_t(int32_t(value << (32 - width)) >> (32 - width))
                    : value & ((1u << width) - 1);
      selected[n][l] = value;
    }
    plain.src[n].kind = SrcKind::Const;
    plain.src[n].lanes = selected[n];
  }
  if (i.format == Format::VOPC || i.dstSel == 6) {
    i.inner(w, plain);
    return;
  }
  plain.dst = tempVGPR;
  i.inner(w, plain);
  const uint32_t *result = w.vgpr(tempVGPR), *old = w.vgpr(i.dst);
  unsigned shift = i.dstSel < 4 ? 8 * i.dstSel : i.dstSel == 5 ? 16 : 0;
  unsigned width = i.dstSel < 4 ? 8 : 16;
  uint32_t field = ((1u << width) - 1) << shift;
  alignas(64) uint32_t merged[numLanes];
  for (unsigned l = 0; l < numLanes; ++l) {
    uint32_t value = result[l] << shift & field;
    if (i.dstUnused == 2)
      value |= old[l] & ~field;
    else if (i.dstUnused == 1 && value >> (shift + width - 1) & 1)
      value |= ~(field | ((1u << shift) - 1));
    merged[l] = value;
  }
  storeMasked(w, i.dst, merged, 1);
}
