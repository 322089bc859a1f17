//===- Mfma.cpp - Matrix instructions of gfx942 and gfx950 ----------------===//

#include "attn/Emulator/Numerics/Mfma.h"
#include "Rounding.h"
#include "attn/Emulator/Numerics/Convert.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

using namespace attn::emu;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

using T = MfmaType;

static constexpr MfmaInfo mfmaTable[] = {
    // name, m, n, k, blocks, a, b, sparse, scaled, passes 942, passes 950
    {"v_mfma_f32_32x32x1_2b_f32", 32, 32, 1, 2, T::F32, T::F32, 0, 0, 16, 16},
    {"v_mfma_f32_16x16x1_4b_f32", 16, 16, 1, 4, T::F32, T::F32, 0, 0, 8, 8},
    {"v_mfma_f32_4x4x1_16b_f32", 4, 4, 1, 16, T::F32, T::F32, 0, 0, 2, 2},
    {"v_mfma_f32_32x32x2_f32", 32, 32, 2, 1, T::F32, T::F32, 0, 0, 16, 16},
    {"v_mfma_f32_16x16x4_f32", 16, 16, 4, 1, T::F32, T::F32, 0, 0, 8, 8},
    {"v_mfma_f32_16x16x8_xf32", 16, 16, 8, 1, T::XF32, T::XF32, 0, 0, 4, 0},
    {"v_mfma_f32_32x32x4_xf32", 32, 32, 4, 1, T::XF32, T::XF32, 0, 0, 8, 0},
    {"v_mfma_f32_32x32x4_2b_f16", 32, 32, 4, 2, T::F16, T::F16, 0, 0, 16, 16},
    {"v_mfma_f32_16x16x4_4b_f16", 16, 16, 4, 4, T::F16, T::F16, 0, 0, 8, 8},
    {"v_mfma_f32_4x4x4_16b_f16", 4, 4, 4, 16, T::F16, T::F16, 0, 0, 2, 2},
    {"v_mfma_f32_32x32x8_f16", 32, 32, 8, 1, T::F16, T::F16, 0, 0, 8, 8},
    {"v_mfma_f32_16x16x16_f16", 16, 16, 16, 1, T::F16, T::F16, 0, 0, 4, 4},
    {"v_mfma_f32_32x32x16_f16", 32, 32, 16, 1, T::F16, T::F16, 0, 0, 0, 8},
    {"v_mfma_f32_16x16x32_f16", 16, 16, 32, 1, T::F16, T::F16, 0, 0, 0, 4},
    {"v_mfma_f32_32x32x4_2b_bf16", 32, 32, 4, 2, T::BF16, T::BF16, 0, 0, 16,
     16},
    {"v_mfma_f32_16x16x4_4b_bf16", 16, 16, 4, 4, T::BF16, T::BF16, 0, 0, 8, 8},
    {"v_mfma_f32_4x4x4_16b_bf16", 4, 4, 4, 16, T::BF16, T::BF16, 0, 0, 2, 2},
    {"v_mfma_f32_32x32x8_bf16", 32, 32, 8, 1, T::BF16, T::BF16, 0, 0, 8, 8},
    {"v_mfma_f32_16x16x16_bf16", 16, 16, 16, 1, T::BF16, T::BF16, 0, 0, 4, 4},
    {"v_mfma_f32_32x32x16_bf16", 32, 32, 16, 1, T::BF16, T::BF16, 0, 0, 0, 8},
    {"v_mfma_f32_16x16x32_bf16", 16, 16, 32, 1, T::BF16, T::BF16, 0, 0, 0, 4},
    {"v_mfma_i32_32x32x4_2b_i8", 32, 32, 4, 2, T::I8, T::I8, 0, 0, 16, 16},
    {"v_mfma_i32_16x16x4_4b_i8", 16, 16, 4, 4, T::I8, T::I8, 0, 0, 8, 8},
    {"v_mfma_i32_4x4x4_16b_i8", 4, 4, 4, 16, T::I8, T::I8, 0, 0, 2, 2},
    {"v_mfma_i32_32x32x16_i8", 32, 32, 16, 1, T::I8, T::I8, 0, 0, 8, 8},
    {"v_mfma_i32_16x16x32_i8", 16, 16, 32, 1, T::I8, T::I8, 0, 0, 4, 4},
    {"v_mfma_i32_32x32x32_i8", 32, 32, 32, 1, T::I8, T::I8, 0, 0, 0, 8},
    {"v_mfma_i32_16x16x64_i8", 16, 16, 64, 1, T::I8, T::I8, 0, 0, 0, 4},
    {"v_mfma_f64_16x16x4_f64", 16, 16, 4, 1, T::F64, T::F64, 0, 0, 8, 16},
    {"v_mfma_f64_4x4x4_4b_f64", 4, 4, 4, 4, T::F64, T::F64, 0, 0, 4, 4},
    {"v_mfma_f32_16x16x32_bf8_bf8", 16, 16, 32, 1, T::BF8, T::BF8, 0, 0, 4, 4},
    {"v_mfma_f32_16x16x32_bf8_fp8", 16, 16, 32, 1, T::BF8, T::FP8, 0, 0, 4, 4},
    {"v_mfma_f32_16x16x32_fp8_bf8", 16, 16, 32, 1, T::FP8, T::BF8, 0, 0, 4, 4},
    {"v_mfma_f32_16x16x32_fp8_fp8", 16, 16, 32, 1, T::FP8, T::FP8, 0, 0, 4, 4},
    {"v_mfma_f32_32x32x16_bf8_bf8", 32, 32, 16, 1, T::BF8, T::BF8, 0, 0, 8, 8},
    {"v_mfma_f32_32x32x16_bf8_fp8", 32, 32, 16, 1, T::BF8, T::FP8, 0, 0, 8, 8},
    {"v_mfma_f32_32x32x16_fp8_bf8", 32, 32, 16, 1, T::FP8, T::BF8, 0, 0, 8, 8},
    {"v_mfma_f32_32x32x16_fp8_fp8", 32, 32, 16, 1, T::FP8, T::FP8, 0, 0, 8, 8},
    // The f8f6f4 forms take half the passes when neither operand is 8-bit.
    {"v_mfma_f32_16x16x128_f8f6f4", 16, 16, 128, 1, T::F8F6F4, T::F8F6F4, 0, 0,
     0, 8},
    {"v_mfma_f32_32x32x64_f8f6f4", 32, 32, 64, 1, T::F8F6F4, T::F8F6F4, 0, 0, 0,
     16},
    {"v_mfma_scale_f32_16x16x128_f8f6f4", 16, 16, 128, 1, T::F8F6F4, T::F8F6F4,
     0, 1, 0, 8},
    {"v_mfma_scale_f32_32x32x64_f8f6f4", 32, 32, 64, 1, T::F8F6F4, T::F8F6F4, 0,
     1, 0, 16},
    {"v_smfmac_f32_16x16x32_f16", 16, 16, 32, 1, T::F16, T::F16, 1, 0, 4, 4},
    {"v_smfmac_f32_32x32x16_f16", 32, 32, 16, 1, T::F16, T::F16, 1, 0, 8, 8},
    {"v_smfmac_f32_16x16x32_bf16", 16, 16, 32, 1, T::BF16, T::BF16, 1, 0, 4, 4},
    {"v_smfmac_f32_32x32x16_bf16", 32, 32, 16, 1, T::BF16, T::BF16, 1, 0, 8, 8},
    {"v_smfmac_i32_16x16x64_i8", 16, 16, 64, 1, T::I8, T::I8, 1, 0, 4, 4},
    {"v_smfmac_i32_32x32x32_i8", 32, 32, 32, 1, T::I8, T::I8, 1, 0, 8, 8},
    {"v_smfmac_f32_16x16x64_bf8_bf8", 16, 16, 64, 1, T::BF8, T::BF8, 1, 0, 4,
     4},
    {"v_smfmac_f32_16x16x64_bf8_fp8", 16, 16, 64, 1, T::BF8, T::FP8, 1, 0, 4,
     4},
    {"v_smfmac_f32_16x16x64_fp8_bf8", 16, 16, 64, 1, T::FP8, T::BF8, 1, 0, 4,
     4},
    {"v_smfmac_f32_16x16x64_fp8_fp8", 16, 16, 64, 1, T::FP8, T::FP8, 1, 0, 4,
     4},
    {"v_smfmac_f32_32x32x32_bf8_bf8", 32, 32, 32, 1, T::BF8, T::BF8, 1, 0, 8,
     8},
    {"v_smfmac_f32_32x32x32_bf8_fp8", 32, 32, 32, 1, T::BF8, T::FP8, 1, 0, 8,
     8},
    {"v_smfmac_f32_32x32x32_fp8_bf8", 32, 32, 32, 1, T::FP8, T::BF8, 1, 0, 8,
     8},
    {"v_smfmac_f32_32x32x32_fp8_fp8", 32, 32, 32, 1, T::FP8, T::FP8, 1, 0, 8,
     8},
    {"v_smfmac_f32_16x16x64_f16", 16, 16, 64, 1, T::F16, T::F16, 1, 0, 0, 4},
    {"v_smfmac_f32_32x32x32_f16", 32, 32, 32, 1, T::F16, T::F16, 1, 0, 0, 8},
    {"v_smfmac_f32_16x16x64_bf16", 16, 16, 64, 1, T::BF16, T::BF16, 1, 0, 0, 4},
    {"v_smfmac_f32_32x32x32_bf16", 32, 32, 32, 1, T::BF16, T::BF16, 1, 0, 0, 8},
    {"v_smfmac_i32_16x16x128_i8", 16, 16, 128, 1, T::I8, T::I8, 1, 0, 0, 4},
    {"v_smfmac_i32_32x32x64_i8", 32, 32, 64, 1, T::I8, T::I8, 1, 0, 0, 8},
    {"v_smfmac_f32_16x16x128_bf8_bf8", 16, 16, 128, 1, T::BF8, T::BF8, 1, 0, 0,
     4},
    {"v_smfmac_f32_16x16x128_bf8_fp8", 16, 16, 128, 1, T::BF8, T::FP8, 1, 0, 0,
     4},
    {"v_smfmac_f32_16x16x128_fp8_bf8", 16, 16, 128, 1, T::FP8, T::BF8, 1, 0, 0,
     4},
    {"v_smfmac_f32_16x16x128_fp8_fp8", 16, 16, 128, 1, T::FP8, T::FP8, 1, 0, 0,
     4},
    {"v_smfmac_f32_32x32x64_bf8_bf8", 32, 32, 64, 1, T::BF8, T::BF8, 1, 0, 0,
     8},
    {"v_smfmac_f32_32x32x64_bf8_fp8", 32, 32, 64, 1, T::BF8, T::FP8, 1, 0, 0,
     8},
    {"v_smfmac_f32_32x32x64_fp8_bf8", 32, 32, 64, 1, T::FP8, T::BF8, 1, 0, 0,
     8},
    {"v_smfmac_f32_32x32x64_fp8_fp8", 32, 32, 64, 1, T::FP8, T::FP8, 1, 0, 0,
     8},
};

llvm::ArrayRef<MfmaInfo> attn::emu::getMfmaTable() { return mfmaTable; }

/// Lower case without underscores; without the "_2b" of multi-block names when
/// `dropBlocks`.
static std::string normalise(llvm::StringRef name, bool dropBlocks) {
  std::string result;
  while (!name.empty()) {
    llvm::StringRef part;
    std::tie(part, name) = name.split('_');
    if (dropBlocks && (part == "2b" || part == "4b" || part == "16b"))
      continue;
    result += part.lower();
  }
  return result;
}

const MfmaInfo *attn::emu::lookupMfma(llvm::StringRef name) {
  std::string key = normalise(name, /*dropBlocks=*/false);
  const MfmaInfo *best = nullptr;
  size_t bestLength = 0;
  for (const MfmaInfo &info : mfmaTable) {
    for (bool dropBlocks : {false, true}) {
      std::string candidate = normalise(info.name, dropBlocks);
      if (candidate.size() > bestLength &&
          llvm::StringRef(key).starts_with(candidate)) {
        best = &info;
        bestLength = candidate.size();
      }
    }
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// Bits of one element of a type; `code` picks among f8f6f4.
static unsigned getBits(MfmaType type, unsigned code) {
  switch (type) {
  case MfmaType::F64:
    return 64;
  case MfmaType::F32:
  case MfmaType::XF32:
    return 32;
  case MfmaType::F16:
  case MfmaType::BF16:
    return 16;
  case MfmaType::I8:
  case MfmaType::FP8:
  case MfmaType::BF8:
    return 8;
  case MfmaType::F8F6F4:
    return code <= 1 ? 8 : code <= 3 ? 6 : 4;
  }
  return 0;
}

/// Groups of lanes that share rows and differ in k.
static unsigned getLaneGroups(const MfmaInfo &info) {
  return 64 / (info.m * info.blocks);
}
static unsigned getAPerLane(const MfmaInfo &info) {
  return info.k / (info.sparse ? 2 : 1) / getLaneGroups(info);
}
static unsigned getBPerLane(const MfmaInfo &info) {
  return info.k / getLaneGroups(info);
}

unsigned MfmaInfo::getARegs(unsigned code) const {
  return std::max(1u, getAPerLane(*this) * getBits(a, code) / 32);
}
unsigned MfmaInfo::getBRegs(unsigned code) const {
  return std::max(1u, getBPerLane(*this) * getBits(b, code) / 32);
}
unsigned MfmaInfo::getDRegs() const {
  return unsigned(m) * n * blocks / 64 * (isF64() ? 2 : 1);
}

/// k of element `element` in lane group `group`. 8-bit operands of the f8f6f4
/// forms fill their first four registers from the lower half of k.
static unsigned getK(MfmaType type, unsigned code, unsigned perLane,
                     unsigned groups, unsigned group, unsigned element) {
  if (type == MfmaType::F8F6F4 && getBits(type, code) == 8)
    return (element / 16) * groups * 16 + group * 16 + element % 16;
  return group * perLane + element;
}

static MfmaLocation getInputLocation(const MfmaInfo &info, MfmaType type,
                                     unsigned code, unsigned perLane,
                                     unsigned block, unsigned row, unsigned k) {
  unsigned rows = info.m * info.blocks;
  unsigned group = k / perLane, element = k % perLane;
  if (type == MfmaType::F8F6F4 && getBits(type, code) == 8) {
    unsigned half = getLaneGroups(info) * 16;
    group = k % half / 16;
    element = k / half * 16 + k % 16;
  }
  return {group * rows + block * info.m + row, element};
}

MfmaLocation attn::emu::getALocation(const MfmaInfo &info, unsigned code,
                                     unsigned block, unsigned i, unsigned k) {
  return getInputLocation(info, info.a, code, getAPerLane(info), block, i, k);
}
MfmaLocation attn::emu::getBLocation(const MfmaInfo &info, unsigned code,
                                     unsigned block, unsigned j, unsigned k) {
  return getInputLocation(info, info.b, code, getBPerLane(info), block, j, k);
}

MfmaLocation attn::emu::getDLocation(const MfmaInfo &info, unsigned block,
                                     unsigned i, unsigned j) {
  if (info.m == 4) {
    if (info.isF64())
      return {16 * i + 4 * block + j, 0};
    return {4 * block + j, i};
  }
  if (info.isF64())
    return {16 * (i % 4) + j, i / 4};
  // Rows come in fours; the fours go round the 64 / n lane groups.
  unsigned groups = 64 / info.n, four = i / 4;
  unsigned regsPerBlock = unsigned(info.m) * info.n / 64;
  return {info.n * (four % groups) + j,
          regsPerBlock * block + 4 * (four / groups) + i % 4};
}

//===----------------------------------------------------------------------===//
// Operands as arrays
//===----------------------------------------------------------------------===//

namespace {
constexpr unsigned maxInput = 32 * 64; // elements of one input operand

/// A as [block][k][row] and B as [block][k][column], converted.
template <typename Element> struct Matrices {
  alignas(64) Element a[maxInput];
  alignas(64) Element b[maxInput];
};
} // namespace

#if defined(__x86_64__)
#define ATTN_AVX2_FMA __attribute__((target("avx2,fma")))
#endif
#define ATTN_INLINE __attribute__((always_inline)) static inline

/// f16 to f32 without branches; a NaN stays some NaN.
ATTN_INLINE float wideF16(uint32_t code) {
  uint32_t magnitude = (code & 0x7fff) << 13;
  // 2^112 moves the bias from 15 to 127 and normalises denormals.
  uint32_t bits = asBits(asFloat(magnitude) * 0x1p112f);
  bits |= magnitude >= (0x7c00u << 13) ? 0x7f800000u : 0u;
  return asFloat(bits | (code & 0x8000) << 16);
}

/// f32 to xf32: 10 stored mantissa bits, nearest even; f32's range.
ATTN_INLINE float toXF32(uint32_t bits) {
  if ((bits & 0x7f800000) == 0x7f800000)
    return asFloat(bits);
  return asFloat((bits + 0xfff + ((bits >> 13) & 1)) & ~0x1fffu);
}

/// Pairs of 16-bit elements of one block: out[k][row]. Row 0 of the first lane
/// group sits in `lane`, each further group `groupStride` lanes on.
template <typename Convert>
ATTN_INLINE void unpack16(const uint32_t *regs, float *out, unsigned perLane,
                          unsigned rows, unsigned groups, unsigned groupStride,
                          unsigned lane, Convert convert) {
  for (unsigned group = 0; group != groups; ++group) {
    for (unsigned reg = 0; reg != perLane / 2; ++reg) {
      const uint32_t *source = regs + 64 * reg + group * groupStride + lane;
      float *low = out + (group * perLane + 2 * reg) * rows;
      float *high = low + rows;
      for (unsigned i = 0; i != rows; ++i) {
        low[i] = convert(source[i] & 0xffff);
        high[i] = convert(source[i] >> 16);
      }
    }
  }
}

namespace {
/// What the unpacking needs to know about A or B.
struct InputShape {
  MfmaType type;
  unsigned code, perLane, rows, groups, blocks, k;
};
} // namespace

static InputShape getAShape(const MfmaInfo &info, unsigned code) {
  return {info.a,
          code,
          getAPerLane(info),
          info.m,
          getLaneGroups(info),
          info.blocks,
          unsigned(info.k) / (info.sparse ? 2 : 1)};
}
static InputShape getBShape(const MfmaInfo &info, unsigned code) {
  return {info.b,      code,  getBPerLane(info), info.n, getLaneGroups(info),
          info.blocks, info.k};
}

static const float *getTable(const InputShape &shape, bool isOCP) {
  switch (shape.type) {
  case MfmaType::FP8:
    return getDecodeTable(getFP8Format(false, isOCP));
  case MfmaType::BF8:
    return getDecodeTable(getFP8Format(true, isOCP));
  case MfmaType::F8F6F4: {
    static constexpr FloatFormat formats[] = {
        FloatFormat::FP8E4M3FN, FloatFormat::FP8E5M2, FloatFormat::FP6E2M3,
        FloatFormat::FP6E3M2, FloatFormat::FP4E2M1};
    return getDecodeTable(formats[std::min(shape.code, 4u)]);
  }
  default:
    return nullptr;
  }
}

/// Fills out[block][k][row].
ATTN_INLINE void unpackFloat(const uint32_t *regs, const InputShape &shape,
                             bool isOCP, float *out) {
  unsigned stride = shape.rows * shape.blocks;
  for (unsigned block = 0; block != shape.blocks; ++block) {
    unsigned lane = block * shape.rows;
    float *blockOut = out + block * shape.k * shape.rows;
    switch (shape.type) {
    case MfmaType::F16:
      unpack16(regs, blockOut, shape.perLane, shape.rows, shape.groups, stride,
               lane, [](uint32_t code) { return wideF16(code); });
      continue;
    case MfmaType::BF16:
      unpack16(regs, blockOut, shape.perLane, shape.rows, shape.groups, stride,
               lane, [](uint32_t code) { return asFloat(code << 16); });
      continue;
    case MfmaType::F32:
    case MfmaType::XF32:
      for (unsigned group = 0; group != shape.groups; ++group)
        for (unsigned element = 0; element != shape.perLane; ++element)
          for (unsigned i = 0; i != shape.rows; ++i) {
            uint32_t bits = regs[64 * element + group * stride + lane + i];
            blockOut[(group * shape.perLane + element) * shape.rows + i] =
                shape.type == MfmaType::F32 ? asFloat(bits) : toXF32(bits);
          }
      continue;
    default:
      break;
    }
    const float *table = getTable(shape, isOCP);
    unsigned bits = getBits(shape.type, shape.code);
    if (bits == 8) {
      for (unsigned group = 0; group != shape.groups; ++group)
        for (unsigned element = 0; element != shape.perLane; ++element) {
          const uint32_t *source =
              regs + 64 * (element / 4) + group * stride + lane;
          float *row = blockOut + shape.rows * getK(shape.type, shape.code,
                                                    shape.perLane, shape.groups,
                                                    group, element);
          for (unsigned i = 0; i != shape.rows; ++i)
            row[i] = table[(source[i] >> (8 * (element % 4))) & 0xff];
        }
      continue;
    }
    unsigned words = (shape.perLane * bits + 31) / 32;
    for (unsigned group = 0; group != shape.groups; ++group) {
      for (unsigned i = 0; i != shape.rows; ++i) {
        uint32_t packed[9] = {};
        for (unsigned word = 0; word != words; ++word)
          packed[word] = regs[64 * word + group * stride + lane + i];
        for (unsigned element = 0; element != shape.perLane; ++element) {
          unsigned k = getK(shape.type, shape.code, shape.perLane, shape.groups,
                            group, element);
          blockOut[k * shape.rows + i] =
              table[extractCode(packed, element, bits)];
        }
      }
    }
  }
}

static void unpackInt8(const uint32_t *regs, const InputShape &shape,
                       int32_t *out) {
  unsigned stride = shape.rows * shape.blocks;
  for (unsigned block = 0; block != shape.blocks; ++block)
    for (unsigned group = 0; group != shape.groups; ++group)
      for (unsigned element = 0; element != shape.perLane; ++element) {
        const uint32_t *source =
            regs + 64 * (element / 4) + group * stride + block * shape.rows;
        unsigned k = group * shape.perLane + element;
        int32_t *row = out + (block * shape.k + k) * shape.rows;
        for (unsigned i = 0; i != shape.rows; ++i)
          row[i] = int8_t(source[i] >> (8 * (element % 4)));
      }
}

/// Lane of B that takes the place of `lane` under blgp.
static unsigned permuteLane(unsigned lane, unsigned blgp) {
  switch (blgp) {
  case 1:
    return lane % 32;
  case 2:
    return 32 + lane % 32;
  case 3:
    return (lane + 16) % 64;
  case 4:
  case 5:
  case 6:
  case 7:
    return 16 * (blgp - 4) + lane % 16;
  default:
    return lane;
  }
}

/// Block whose A block `block` gets under cbsz and abid.
static unsigned broadcastBlock(const MfmaInfo &info,
                               const MfmaOperands &operands, unsigned block) {
  unsigned size = std::min(1u << operands.cbsz, unsigned(info.blocks));
  return block / size * size + operands.abid % size;
}

//===----------------------------------------------------------------------===//
// Multiply-accumulate
//===----------------------------------------------------------------------===//

/// One row of D: acc[j] = fma(a[k], b[k][j], acc[j]) for k ascending. `a` steps
/// by `aStride`.
template <unsigned n, unsigned rowsAtOnce>
ATTN_INLINE void rowsF32(const float *a, unsigned aStride, const float *b,
                         unsigned depth, const uint32_t *const *c,
                         uint32_t *const *d) {
  float acc[rowsAtOnce][n];
  for (unsigned row = 0; row != rowsAtOnce; ++row)
    for (unsigned j = 0; j != n; ++j)
      acc[row][j] = asFloat(c[row][j]);
  for (unsigned k = 0; k != depth; ++k)
    for (unsigned row = 0; row != rowsAtOnce; ++row) {
      float scalar = a[k * aStride + row];
      for (unsigned j = 0; j != n; ++j)
        acc[row][j] = __builtin_fmaf(scalar, b[k * n + j], acc[row][j]);
    }
  for (unsigned row = 0; row != rowsAtOnce; ++row)
    for (unsigned j = 0; j != n; ++j) {
      uint32_t bits = asBits(acc[row][j]);
      d[row][j] = (bits & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : bits;
    }
}

/// All blocks of a dense f32-accumulating form. `c` and `d` are register
/// arrays; rows of D are contiguous runs of lanes.
template <unsigned m, unsigned n, unsigned rowsAtOnce>
ATTN_INLINE void multiplyF32(const MfmaInfo &info, const unsigned *aBlock,
                             const float *a, const float *b, unsigned depth,
                             const uint32_t *c, uint32_t *d) {
  for (unsigned block = 0; block != info.blocks; ++block) {
    const float *blockA = a + aBlock[block] * depth * m;
    const float *blockB = b + block * depth * n;
    for (unsigned i = 0; i != m; i += rowsAtOnce) {
      const uint32_t *rowC[rowsAtOnce];
      uint32_t *rowD[rowsAtOnce];
      for (unsigned row = 0; row != rowsAtOnce; ++row) {
        MfmaLocation at = getDLocation(info, block, i + row, 0);
        rowC[row] = c + 64 * at.element + at.lane;
        rowD[row] = d + 64 * at.element + at.lane;
      }
      rowsF32<n, rowsAtOnce>(blockA + i, m, blockB, depth, rowC, rowD);
    }
  }
}

ATTN_INLINE void multiplyAnyF32(const MfmaInfo &info, const unsigned *aBlock,
                                const float *a, const float *b, unsigned depth,
                                const uint32_t *c, uint32_t *d) {
  if (info.m == 32)
    multiplyF32<32, 32, 2>(info, aBlock, a, b, depth, c, d);
  else if (info.m == 16)
    multiplyF32<16, 16, 4>(info, aBlock, a, b, depth, c, d);
  else
    multiplyF32<4, 4, 1>(info, aBlock, a, b, depth, c, d);
}

namespace {
/// One kernel call: everything from registers to registers for the dense forms
/// that accumulate in f32.
struct DenseF32 {
  const MfmaInfo &info;
  const unsigned *aBlock;
  const uint32_t *a, *b, *c;
  uint32_t *d;
  bool isOCP;
  unsigned cbsz, blgp;
  /// Order of k, or null for ascending.
  const uint8_t *order;
};
} // namespace

ATTN_INLINE void runDenseF32Body(const DenseF32 &job) {
  const MfmaInfo &info = job.info;
  Matrices<float> in;
  unpackFloat(job.a, getAShape(info, job.cbsz), job.isOCP, in.a);
  unpackFloat(job.b, getBShape(info, job.blgp), job.isOCP, in.b);
  if (!job.order)
    return multiplyAnyF32(info, job.aBlock, in.a, in.b, info.k, job.c, job.d);

  Matrices<float> permuted;
  for (unsigned block = 0; block != info.blocks; ++block)
    for (unsigned k = 0; k != info.k; ++k) {
      unsigned from = block * info.k + job.order[k], to = block * info.k + k;
      std::copy_n(in.a + from * info.m, info.m, permuted.a + to * info.m);
      std::copy_n(in.b + from * info.n, info.n, permuted.b + to * info.n);
    }
  multiplyAnyF32(info, job.aBlock, permuted.a, permuted.b, info.k, job.c,
                 job.d);
}

static void runDenseF32Default(const DenseF32 &job) { runDenseF32Body(job); }
#ifdef ATTN_AVX2_FMA
ATTN_AVX2_FMA static void runDenseF32Avx2(const DenseF32 &job) {
  runDenseF32Body(job);
}
#endif

/// Fused multiply-adds are the same with and without the instruction, so the
/// choice changes speed only.
static void runDenseF32(const DenseF32 &job) {
#ifdef ATTN_AVX2_FMA
  static const bool hasFma =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (hasFma)
    return runDenseF32Avx2(job);
#endif
  runDenseF32Default(job);
}

//===----------------------------------------------------------------------===//
// The slower forms
//===----------------------------------------------------------------------===//

static uint32_t canonical(float value) {
  return std::isnan(value) ? 0x7fc00000 : asBits(value);
}
static uint64_t canonical(double value) {
  return std::isnan(value) ? 0x7ff8000000000000 : asBits(value);
}

/// A seeded order of 0 .. depth - 1.
static std::array<uint8_t, 128> makeOrder(unsigned depth, uint64_t seed) {
  std::array<uint8_t, 128> order;
  std::iota(order.begin(), order.begin() + depth, 0);
  uint64_t state = seed;
  for (unsigned left = depth; left > 1; --left) {
    state = state * 6364136223846793005 + 1442695040888963407;
    std::swap(order[left - 1], order[(state >> 33) % left]);
  }
  return order;
}

/// f32 accumulation with arbitrary products: exact in f64, added with one
/// rounding. `group` products are summed before the rounding.
template <typename Product>
static float accumulate(float c, unsigned depth, const uint8_t *order,
                        unsigned group, Product product) {
  float acc = c;
  for (unsigned k = 0; k < depth; k += group) {
    double sum = product(order ? order[k] : k);
    for (unsigned next = 1; next < group && k + next < depth; ++next)
      sum = addRoundOdd(sum, product(order ? order[k + next] : k + next));
    acc = float(addRoundOdd(sum, acc));
  }
  return acc;
}

/// Scaled forms: exponent of each block of 32 along k for every row.
static void readScales(const MfmaInfo &info, const uint32_t *scale,
                       unsigned byte, ScaleF32 *out) {
  // Lane group g holds the scales of k in [32 g, 32 g + 32).
  for (unsigned lane = 0; lane != 64; ++lane)
    out[lane] = getScaleE8M0(scale[lane] >> (8 * byte));
}

static void runExactF32(const MfmaInfo &info, const MfmaOperands &operands,
                        const uint32_t *b, const uint32_t *c,
                        const unsigned *aBlock, const MfmaOptions &options,
                        unsigned group) {
  Matrices<float> in;
  unpackFloat(operands.a, getAShape(info, operands.cbsz), options.isOCP, in.a);
  unpackFloat(b, getBShape(info, operands.blgp), options.isOCP, in.b);
  ScaleF32 scaleA[64], scaleB[64];
  if (info.scaled) {
    readScales(info, operands.scaleA, operands.scaleByteA, scaleA);
    readScales(info, operands.scaleB, operands.scaleByteB, scaleB);
  }
  std::array<uint8_t, 128> order;
  if (options.perturb.enabled)
    order = makeOrder(info.k, options.perturb.seed);

  for (unsigned block = 0; block != info.blocks; ++block)
    for (unsigned i = 0; i != info.m; ++i)
      for (unsigned j = 0; j != info.n; ++j) {
        MfmaLocation at = getDLocation(info, block, i, j);
        unsigned index = 64 * at.element + at.lane;
        auto product = [&](unsigned k) {
          double value =
              double(in.a[(aBlock[block] * info.k + k) * info.m + i]) *
              double(in.b[(block * info.k + k) * info.n + j]);
          if (!info.scaled)
            return value;
          ScaleF32 sa = scaleA[k / 32 * info.m + i];
          ScaleF32 sb = scaleB[k / 32 * info.n + j];
          if (sa.isNaN || sb.isNaN)
            return std::numeric_limits<double>::quiet_NaN();
          return std::ldexp(value, sa.exponent + sb.exponent);
        };
        operands.d[index] = canonical(accumulate(
            asFloat(c[index]), info.k,
            options.perturb.enabled ? order.data() : nullptr, group, product));
      }
}

/// Scales small enough that scaled inputs stay normal f32 numbers go through
/// the fast kernel: a * 2^sa and b * 2^sb are then exact.
static bool scalesAreSmall(const MfmaOperands &operands) {
  for (unsigned lane = 0; lane != 64; ++lane)
    for (ScaleF32 scale :
         {getScaleE8M0(operands.scaleA[lane] >> (8 * operands.scaleByteA)),
          getScaleE8M0(operands.scaleB[lane] >> (8 * operands.scaleByteB))})
      if (scale.isNaN || std::abs(scale.exponent) > 100)
        return false;
  return true;
}

static void runScaledFast(const MfmaInfo &info, const MfmaOperands &operands,
                          const unsigned *aBlock, const uint32_t *c,
                          const MfmaOptions &options) {
  Matrices<float> in;
  unpackFloat(operands.a, getAShape(info, operands.cbsz), options.isOCP, in.a);
  unpackFloat(operands.b, getBShape(info, operands.blgp), options.isOCP, in.b);
  for (unsigned k = 0; k != info.k; ++k)
    for (unsigned i = 0; i != info.m; ++i) {
      unsigned lane = k / 32 * info.m + i;
      auto scale = [&](const uint32_t *words, unsigned byte) {
        uint32_t code = (words[lane] >> (8 * byte)) & 0xff;
        return asFloat(code << 23); // 2^(code - 127)
      };
      in.a[k * info.m + i] *= scale(operands.scaleA, operands.scaleByteA);
      in.b[k * info.n + i] *= scale(operands.scaleB, operands.scaleByteB);
    }
  multiplyAnyF32(info, aBlock, in.a, in.b, info.k, c, operands.d);
}

static void runInteger(const MfmaInfo &info, const MfmaOperands &operands,
                       const uint32_t *b, const uint32_t *c,
                       const unsigned *aBlock) {
  Matrices<int32_t> in;
  unpackInt8(operands.a, getAShape(info, 0), in.a);
  unpackInt8(b, getBShape(info, 0), in.b);
  for (unsigned block = 0; block != info.blocks; ++block)
    for (unsigned i = 0; i != info.m; ++i) {
      MfmaLocation at = getDLocation(info, block, i, 0);
      unsigned base = 64 * at.element + at.lane;
      uint32_t acc[32];
      std::copy_n(c + base, info.n, acc);
      for (unsigned k = 0; k != info.k; ++k) {
        int32_t scalar = in.a[(aBlock[block] * info.k + k) * info.m + i];
        const int32_t *row = in.b + (block * info.k + k) * info.n;
        for (unsigned j = 0; j != info.n; ++j)
          acc[j] += uint32_t(scalar * row[j]);
      }
      std::copy_n(acc, info.n, operands.d + base);
    }
}

static void runF64(const MfmaInfo &info, const MfmaOperands &operands,
                   const MfmaOptions &options) {
  auto read = [](const uint32_t *regs, unsigned element, unsigned lane) {
    return asDouble(uint64_t(regs[64 * (2 * element + 1) + lane]) << 32 |
                    regs[64 * 2 * element + lane]);
  };
  // blgp negates A, B and C.
  auto negate = [&](double value, unsigned bit) {
    return operands.blgp & (1u << bit) ? -value : value;
  };
  std::array<uint8_t, 128> order =
      makeOrder(info.k, options.perturb.enabled ? options.perturb.seed : 0);
  if (!options.perturb.enabled)
    std::iota(order.begin(), order.begin() + info.k, 0);

  uint64_t results[4][64];
  for (unsigned block = 0; block != info.blocks; ++block)
    for (unsigned i = 0; i != info.m; ++i)
      for (unsigned j = 0; j != info.n; ++j) {
        MfmaLocation at = getDLocation(info, block, i, j);
        double acc = operands.c ? read(operands.c, at.element, at.lane)
                                : asDouble(operands.cConstant);
        acc = negate(acc, 2);
        for (unsigned step = 0; step != info.k; ++step) {
          unsigned k = order[step];
          MfmaLocation atA = getALocation(info, 0, block, i, k);
          MfmaLocation atB = getBLocation(info, 0, block, j, k);
          acc =
              std::fma(negate(read(operands.a, atA.element, atA.lane), 0),
                       negate(read(operands.b, atB.element, atB.lane), 1), acc);
        }
        results[at.element][at.lane] = canonical(acc);
      }
  for (unsigned reg = 0; reg != info.getDRegs(); ++reg)
    for (unsigned lane = 0; lane != 64; ++lane)
      operands.d[64 * reg + lane] =
          uint32_t(results[reg / 2][lane] >> (32 * (reg % 2)));
}

/// Dense k of each compressed element: [element][row] of A.
static void readIndices(const MfmaInfo &info, const MfmaOperands &operands,
                        uint8_t *out) {
  unsigned perLane = getAPerLane(info), groups = getLaneGroups(info);
  // Two bits an element; a register holds several sets of them.
  unsigned setBits = 2 * perLane;
  unsigned set = operands.cbsz == 0 ? operands.abid % (32 / setBits) : 0;
  for (unsigned group = 0; group != groups; ++group)
    for (unsigned i = 0; i != info.m; ++i) {
      uint32_t bits = operands.index[group * info.m + i] >> (set * setBits);
      for (unsigned element = 0; element != perLane; ++element)
        out[(group * perLane + element) * info.m + i] =
            2 * group * perLane + 4 * (element / 2) +
            ((bits >> (2 * element)) & 3);
    }
}

static void runSparse(const MfmaInfo &info, const MfmaOperands &operands,
                      const uint32_t *c, const MfmaOptions &options) {
  unsigned depth = info.k / 2;
  uint8_t dense[maxInput];
  readIndices(info, operands, dense);
  std::array<uint8_t, 128> order =
      makeOrder(depth, options.perturb.enabled ? options.perturb.seed : 0);
  if (!options.perturb.enabled)
    std::iota(order.begin(), order.begin() + depth, 0);

  if (info.isInteger()) {
    Matrices<int32_t> in;
    unpackInt8(operands.a, getAShape(info, 0), in.a);
    unpackInt8(operands.b, getBShape(info, 0), in.b);
    for (unsigned i = 0; i != info.m; ++i)
      for (unsigned j = 0; j != info.n; ++j) {
        MfmaLocation at = getDLocation(info, 0, i, j);
        uint32_t acc = c[64 * at.element + at.lane];
        for (unsigned k = 0; k != depth; ++k)
          acc += uint32_t(in.a[k * info.m + i] *
                          in.b[dense[k * info.m + i] * info.n + j]);
        operands.d[64 * at.element + at.lane] = acc;
      }
    return;
  }
  Matrices<float> in;
  unpackFloat(operands.a, getAShape(info, 0), options.isOCP, in.a);
  unpackFloat(operands.b, getBShape(info, 0), options.isOCP, in.b);
  for (unsigned i = 0; i != info.m; ++i)
    for (unsigned j = 0; j != info.n; ++j) {
      MfmaLocation at = getDLocation(info, 0, i, j);
      unsigned index = 64 * at.element + at.lane;
      float acc = asFloat(c[index]);
      for (unsigned step = 0; step != depth; ++step) {
        unsigned k = order[step];
        acc = std::fma(in.a[k * info.m + i],
                       in.b[dense[k * info.m + i] * info.n + j], acc);
      }
      operands.d[index] = canonical(acc);
    }
}

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

void attn::emu::runMfma(const MfmaInfo &info, const MfmaOperands &operands,
                        const MfmaOptions &options) {
  if (info.isF64())
    return runF64(info, operands, options);

  alignas(64) uint32_t constantC[32 * 64];
  const uint32_t *c = operands.c;
  if (!c) {
    std::fill_n(constantC, 64 * info.getDRegs(), uint32_t(operands.cConstant));
    c = constantC;
  }
  if (info.sparse)
    return runSparse(info, operands, c, options);

  bool isF8F6F4 = info.a == MfmaType::F8F6F4;
  unsigned aBlock[16];
  for (unsigned block = 0; block != info.blocks; ++block)
    aBlock[block] = isF8F6F4 ? block : broadcastBlock(info, operands, block);

  uint32_t permutedB[8 * 64];
  const uint32_t *b = operands.b;
  if (operands.blgp && !isF8F6F4) {
    for (unsigned reg = 0; reg != info.getBRegs(); ++reg)
      for (unsigned lane = 0; lane != 64; ++lane)
        permutedB[64 * reg + lane] =
            b[64 * reg + permuteLane(lane, operands.blgp)];
    b = permutedB;
  }

  if (info.isInteger())
    return runInteger(info, operands, b, c, aBlock);

  const Perturb &perturb = options.perturb;
  bool grouped = perturb.enabled && (perturb.seed & 1);
  if (info.scaled && !perturb.enabled && scalesAreSmall(operands))
    return runScaledFast(info, operands, aBlock, c, options);
  if (info.scaled || grouped)
    return runExactF32(info, operands, b, c, aBlock, options, grouped ? 4 : 1);

  std::array<uint8_t, 128> order;
  if (perturb.enabled)
    order = makeOrder(info.k, perturb.seed);
  runDenseF32({info, aBlock, operands.a, b, c, operands.d, options.isOCP,
               operands.cbsz, operands.blgp,
               perturb.enabled ? order.data() : nullptr});
}
