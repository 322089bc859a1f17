//===- Transcendental.cpp - Models of the special-function unit -----------===//

#include "attn/Emulator/Numerics/Transcendental.h"
#include "Rounding.h"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>

using namespace attn::emu;

/// The NaN an operation makes out of numbers.
static constexpr uint32_t invalidF32 = 0xffc00000;
static constexpr uint64_t invalidF64 = 0xfff8000000000000;

static float quiet(float value) { return asFloat(asBits(value) | 0x00400000); }
static double quiet(double value) {
  return asDouble(asBits(value) | 0x0008000000000000);
}

static float flushF32(float value) {
  return (asBits(value) & 0x7f800000) ? value
                                      : asFloat(asBits(value) & 0x80000000);
}
static double flushF64(double value) {
  return (asBits(value) & 0x7ff0000000000000)
             ? value
             : asDouble(asBits(value) & 0x8000000000000000);
}
static float flushIn(float value, const FloatMode &mode) {
  return mode.denormIn ? value : flushF32(value);
}
static double flushIn(double value, const FloatMode &mode) {
  return mode.denormIn ? value : flushF64(value);
}
static uint16_t flushIn(uint16_t value, const FloatMode &mode) {
  return mode.denormIn || (value & 0x7c00) ? value : uint16_t(value & 0x8000);
}

//===----------------------------------------------------------------------===//
// Perturbation
//===----------------------------------------------------------------------===//

/// -1, 0 or +1 from a seed, an operation and its input (splitmix64's mixer).
static int chooseStep(const Perturb &perturb, TransOp op, uint64_t input) {
  uint64_t x = perturb.seed + 0x9e3779b97f4a7c15 * (uint64_t(op) + 1) + input;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return int((x ^ (x >> 31)) % 3) - 1;
}

//===----------------------------------------------------------------------===//
// f32: kernels in f64
//===----------------------------------------------------------------------===//

// Plain multiplies and adds in a fixed order: the same bits on every host,
// whatever its libm and with or without fused multiply-add.

/// 2^x for |x| <= 160, relative error below 2^-51.
static inline double exp2Kernel(double x) {
  // Adding 1.5 * 2^52 leaves the nearest integer in the low bits.
  double shifted = x + 0x1.8p52;
  double f = x - (shifted - 0x1.8p52);
  // ln(2)^k / k!
  static constexpr double c[] = {
      1.0,
      6.931471805599453094e-1,
      2.402265069591007123e-1,
      5.550410866482157995e-2,
      9.618129107628477162e-3,
      1.333355814642844342e-3,
      1.540353039338160995e-4,
      1.525273380405984028e-5,
      1.321548679014430949e-6,
      1.017808600923969973e-7,
      7.054911620801123329e-9,
      4.445538271870811498e-10,
      2.567843599348820514e-11,
      1.369148885390412888e-12,
  };
  double p = c[13];
  for (int i = 12; i >= 0; --i)
    p = p * f + c[i];
  // p in [0.70, 1.42]; the exponent is added as an integer.
  return asDouble(asBits(p) + (asBits(shifted) << 52));
}

/// log2 of a positive normal f32.
static inline double log2Kernel(float x) {
  uint32_t bits = asBits(x);
  // Mantissa in [sqrt(1/2), sqrt(2)): near 1 the exponent is 0.
  uint32_t biased = bits - 0x3f3504f3;
  int32_t e = int32_t(biased) >> 23;
  double m = double(asFloat(bits - (uint32_t(e) << 23)));
  double s = (m - 1.0) / (m + 1.0), s2 = s * s;
  double p = 1.0 / 23;
  for (int k = 21; k >= 1; k -= 2)
    p = p * s2 + 1.0 / k;
  return double(e) + s * p * 2.885390081777926815; // 2 / ln 2
}

// The wave forms run over arrays so that the compiler can vectorise them.
#if defined(__x86_64__)
#define ATTN_AVX2 __attribute__((target("avx2")))
#endif

/// The f64 value of an f32 `op`; inputs that handleSpecial() takes give
/// anything.
template <TransOp op>
__attribute__((always_inline)) static inline double evaluate(float x) {
  if constexpr (op == TransOp::Exp) {
    // The clamp keeps the kernel in range; results beyond it are 0 or infinity
    // in f32 either way.
    double y = double(x);
    y = y < -160.0 ? -160.0 : y;
    y = y > 160.0 ? 160.0 : y;
    return exp2Kernel(y);
  } else if constexpr (op == TransOp::Log) {
    return log2Kernel(x);
  } else if constexpr (op == TransOp::Rcp) {
    return 1.0 / double(x);
  } else if constexpr (op == TransOp::Rsq) {
    return 1.0 / __builtin_sqrt(double(x));
  } else {
    return __builtin_sqrt(double(x));
  }
}

/// True if handleSpecial() may want `bits` (of a flushed input). exp's clamp
/// takes infinities.
template <TransOp op>
__attribute__((always_inline)) static inline uint32_t
mayBeSpecial(uint32_t bits) {
  uint32_t magnitude = bits & 0x7fffffff;
  if constexpr (op == TransOp::Exp)
    return magnitude > 0x7f800000;
  else if constexpr (op == TransOp::Rcp)
    return magnitude - 1 >= 0x7f7fffff;
  else
    return bits - 1 >= 0x7f7fffff;
}

/// A whole wave without perturbation; false if a lane needs handleSpecial().
template <TransOp op>
__attribute__((always_inline)) static inline bool
waveLoop(const uint32_t *source, uint32_t *result) {
  alignas(64) uint32_t out[64];
  uint32_t special = 0;
  for (int i = 0; i != 64; ++i) {
    uint32_t bits = source[i];
    bits = bits & 0x7f800000 ? bits : bits & 0x80000000;
    special |= mayBeSpecial<op>(bits);
    uint32_t value = asBits(float(evaluate<op>(asFloat(bits))));
    out[i] = value & 0x7f800000 ? value : value & 0x80000000;
  }
  if (special)
    return false;
  std::copy_n(out, 64, result);
  return true;
}

template <TransOp op>
static bool waveDefault(const uint32_t *source, uint32_t *result) {
  return waveLoop<op>(source, result);
}
#ifdef ATTN_AVX2
template <TransOp op>
ATTN_AVX2 static bool waveAvx2(const uint32_t *source, uint32_t *result) {
  return waveLoop<op>(source, result);
}
#endif

template <TransOp op>
static bool wave(const uint32_t *source, uint32_t *result) {
#ifdef ATTN_AVX2
  static const bool hasAvx2 = __builtin_cpu_supports("avx2");
  if (hasAvx2)
    return waveAvx2<op>(source, result);
#endif
  return waveDefault<op>(source, result);
}

/// Special inputs; false if `value` is an ordinary number for `op`.
static bool handleSpecial(TransOp op, float value, float &result) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  if (std::isnan(value)) {
    result = quiet(value);
    return true;
  }
  float invalid = asFloat(invalidF32);
  switch (op) {
  case TransOp::Exp:
    if (std::isinf(value)) {
      result = value > 0 ? inf : 0.0f;
      return true;
    }
    return false;
  case TransOp::Log:
    if (value == 0)
      result = -inf;
    else if (value < 0)
      result = invalid;
    else if (std::isinf(value))
      result = inf;
    else
      return false;
    return true;
  case TransOp::Rcp:
    if (value == 0)
      result = std::copysign(inf, value);
    else if (std::isinf(value))
      result = std::copysign(0.0f, value);
    else
      return false;
    return true;
  case TransOp::Rsq:
    if (value == 0)
      result = std::copysign(inf, value);
    else if (value < 0)
      result = invalid;
    else if (std::isinf(value))
      result = 0.0f;
    else
      return false;
    return true;
  case TransOp::Sqrt:
    if (value == 0)
      result = value;
    else if (value < 0)
      result = invalid;
    else if (std::isinf(value))
      result = inf;
    else
      return false;
    return true;
  case TransOp::Sin:
  case TransOp::Cos:
    if (std::isinf(value))
      result = invalid;
    else if (std::fabs(value) > 256.0f)
      result = op == TransOp::Sin ? 0.0f : 1.0f;
    else if (op == TransOp::Sin && value == 0)
      result = value;
    else
      return false;
    return true;
  }
  return false;
}

/// sin or cos of a number of turns, exact at multiples of a quarter.
static double sinTurns(double turns, bool isCos) {
  turns -= std::nearbyint(turns);
  int quarter = int(std::nearbyint(turns * 4.0));
  double angle = (turns - quarter * 0.25) * 6.283185307179586477;
  switch ((quarter + (isCos ? 1 : 0)) & 3) {
  case 0:
    return std::sin(angle);
  case 1:
    return std::cos(angle);
  case 2:
    return -std::sin(angle);
  default:
    return -std::cos(angle);
  }
}

static double evaluateAny(TransOp op, float value) {
  switch (op) {
  case TransOp::Exp:
    return evaluate<TransOp::Exp>(value);
  case TransOp::Log:
    return evaluate<TransOp::Log>(value);
  case TransOp::Rcp:
    return evaluate<TransOp::Rcp>(value);
  case TransOp::Rsq:
    return evaluate<TransOp::Rsq>(value);
  case TransOp::Sqrt:
    return evaluate<TransOp::Sqrt>(value);
  case TransOp::Sin:
  case TransOp::Cos:
    return sinTurns(value, op == TransOp::Cos);
  }
  return 0;
}

/// Rounds to f32, perturbs inexact results, flushes denormal ones.
static float finishF32(TransOp op, double exact, uint32_t input,
                       const Perturb &perturb) {
  float result = float(exact);
  // Stepping the bits moves the magnitude by one last place, to the other side
  // of the exact value: LLVM's integer division counts on a v_rcp_f32 within 1
  // ulp. Zero, the largest number and infinity stay.
  if (perturb.enabled && double(result) != exact && std::isnormal(result) &&
      std::fabs(result) < std::numeric_limits<float>::max() &&
      chooseStep(perturb, op, input) != 0)
    result = asFloat(asBits(result) +
                     (std::fabs(double(result)) < std::fabs(exact) ? 1 : -1));
  return flushF32(result);
}

float attn::emu::transF32(TransOp op, float value, const Perturb &perturb) {
  value = flushF32(value);
  float special;
  if (handleSpecial(op, value, special))
    return special;
  double exact = evaluateAny(op, value);
  return finishF32(op, exact, asBits(value), perturb);
}

void attn::emu::transF32Wave(TransOp op, const uint32_t *source,
                             uint32_t *result, const Perturb &perturb) {
  bool done = false;
  if (!perturb.enabled) {
    switch (op) {
    case TransOp::Exp:
      done = wave<TransOp::Exp>(source, result);
      break;
    case TransOp::Log:
      done = wave<TransOp::Log>(source, result);
      break;
    case TransOp::Rcp:
      done = wave<TransOp::Rcp>(source, result);
      break;
    case TransOp::Rsq:
      done = wave<TransOp::Rsq>(source, result);
      break;
    case TransOp::Sqrt:
      done = wave<TransOp::Sqrt>(source, result);
      break;
    case TransOp::Sin:
    case TransOp::Cos:
      break;
    }
  }
  if (done)
    return;
  for (int i = 0; i != 64; ++i)
    result[i] = asBits(transF32(op, asFloat(source[i]), perturb));
}

//===----------------------------------------------------------------------===//
// f16 and f64
//===----------------------------------------------------------------------===//

uint16_t attn::emu::transF16(TransOp op, uint16_t code, const FloatMode &mode,
                             const Perturb &perturb) {
  code = flushIn(code, mode);
  float value = f16ToF32(code), special;
  EncodeOptions options;
  options.denormOut = mode.denormOut;
  if (handleSpecial(op, value, special)) {
    // An infinity from an infinite or zero operand is exact: not FP16_OVFL's.
    return encode(FloatFormat::F16, special, options);
  }
  double exact = evaluateAny(op, value);
  options.saturate = mode.fp16Ovfl;
  uint16_t result = encode(FloatFormat::F16, exact, options);
  uint16_t magnitude = result & 0x7fff;
  if (perturb.enabled && magnitude != 0 && magnitude < 0x7c00 &&
      double(f16ToF32(result)) != exact) {
    uint16_t stepped = result + chooseStep(perturb, op, code);
    bool leavesRange = (stepped & 0x7fff) >= 0x7c00 ||
                       (!mode.denormOut && (stepped & 0x7c00) == 0);
    if (!leavesRange)
      result = stepped;
  }
  return result;
}

/// Nearest value of 24 significant bits.
static double cutTo24Bits(double value) {
  uint64_t bits = asBits(value);
  constexpr uint64_t dropped = (uint64_t(1) << 29) - 1;
  bits += dropped / 2 + ((bits >> 29) & 1);
  return asDouble(bits & ~dropped);
}

double attn::emu::transF64(TransOp op, double value, const FloatMode &mode,
                           const Perturb &perturb) {
  value = flushIn(value, mode);
  constexpr double inf = std::numeric_limits<double>::infinity();
  if (std::isnan(value))
    return quiet(value);
  double exact;
  if (op == TransOp::Rcp) {
    if (value == 0)
      return std::copysign(inf, value);
    exact = 1.0 / value;
  } else {
    if (value == 0)
      return op == TransOp::Sqrt ? value : std::copysign(inf, value);
    if (value < 0)
      return asDouble(invalidF64);
    double root = std::sqrt(value);
    exact = op == TransOp::Sqrt ? root : 1.0 / root;
  }
  if (std::isinf(exact) || exact == 0)
    return exact;
  double result = cutTo24Bits(exact);
  if (perturb.enabled && result != exact)
    result = asDouble(asBits(result) +
                      (int64_t(chooseStep(perturb, op, asBits(value))) << 29));
  return mode.denormOut ? result : flushF64(result);
}

//===----------------------------------------------------------------------===//
// ldexp, frexp, fract
//===----------------------------------------------------------------------===//

static EncodeOptions makeOptions(const FloatMode &mode, bool isF16 = false) {
  EncodeOptions options;
  options.round = mode.round;
  options.denormOut = mode.denormOut;
  options.saturate = isF16 && mode.fp16Ovfl;
  return options;
}

float attn::emu::ldexpF32(float value, int32_t exponent,
                          const FloatMode &mode) {
  value = flushIn(value, mode);
  if (std::isnan(value))
    return quiet(value);
  double exact = std::ldexp(double(value), std::clamp(exponent, -600, 600));
  return asFloat(encode(FloatFormat::F32, exact, makeOptions(mode)));
}

uint16_t attn::emu::ldexpF16(uint16_t value, int16_t exponent,
                             const FloatMode &mode) {
  value = flushIn(value, mode);
  double exact = std::ldexp(decode(FloatFormat::F16, value),
                            std::clamp<int>(exponent, -600, 600));
  return encode(FloatFormat::F16, exact, makeOptions(mode, !std::isinf(exact)));
}

/// Rounds a finite f64 times 2^exponent.
static double scaleF64(double value, int exponent, const EncodeOptions &opt) {
  if (value == 0)
    return value;
  int valueExp;
  double mantissa = std::frexp(std::fabs(value), &valueExp);
  uint64_t integer = uint64_t(std::ldexp(mantissa, 53));
  return asDouble(encodeParts(FloatFormat::F64, std::signbit(value), integer,
                              valueExp - 53 + exponent, false, opt));
}

double attn::emu::ldexpF64(double value, int32_t exponent,
                           const FloatMode &mode) {
  value = flushIn(value, mode);
  if (std::isnan(value))
    return quiet(value);
  if (std::isinf(value))
    return value;
  return scaleF64(value, std::clamp(exponent, -5000, 5000), makeOptions(mode));
}

int32_t attn::emu::frexpExpF32(float value, const FloatMode &mode) {
  return frexpExpF64(double(flushIn(value, mode)), FloatMode());
}
int16_t attn::emu::frexpExpF16(uint16_t value, const FloatMode &mode) {
  return int16_t(
      frexpExpF64(decode(FloatFormat::F16, flushIn(value, mode)), FloatMode()));
}
int32_t attn::emu::frexpExpF64(double value, const FloatMode &mode) {
  value = flushIn(value, mode);
  if (value == 0 || !std::isfinite(value))
    return 0;
  int exponent;
  std::frexp(value, &exponent);
  return exponent;
}

float attn::emu::frexpMantF32(float value, const FloatMode &mode) {
  value = flushIn(value, mode);
  if (std::isnan(value))
    return quiet(value);
  int exponent;
  return std::isinf(value) ? value : std::frexp(value, &exponent);
}
uint16_t attn::emu::frexpMantF16(uint16_t value, const FloatMode &mode) {
  int exponent;
  double wide = decode(FloatFormat::F16, flushIn(value, mode));
  return encode(FloatFormat::F16,
                std::isfinite(wide) ? std::frexp(wide, &exponent) : wide);
}
double attn::emu::frexpMantF64(double value, const FloatMode &mode) {
  value = flushIn(value, mode);
  if (std::isnan(value))
    return quiet(value);
  int exponent;
  return std::isinf(value) ? value : std::frexp(value, &exponent);
}

float attn::emu::fractF32(float value, const FloatMode &mode) {
  value = flushIn(value, mode);
  if (std::isnan(value))
    return quiet(value);
  if (std::isinf(value))
    return asFloat(invalidF32);
  double fract = double(value) - std::floor(double(value));
  float result = asFloat(encode(FloatFormat::F32, fract, makeOptions(mode)));
  return std::min(result, 0x1.fffffep-1f);
}
uint16_t attn::emu::fractF16(uint16_t value, const FloatMode &mode) {
  double wide = decode(FloatFormat::F16, flushIn(value, mode));
  if (std::isnan(wide))
    return encode(FloatFormat::F16, wide);
  if (std::isinf(wide))
    return 0xfe00;
  uint16_t result = encode(FloatFormat::F16, wide - std::floor(wide),
                           makeOptions(mode, /*isF16=*/true));
  return std::min<uint16_t>(result, 0x3bff);
}
double attn::emu::fractF64(double value, const FloatMode &mode) {
  value = flushIn(value, mode);
  if (std::isnan(value))
    return quiet(value);
  if (std::isinf(value))
    return asDouble(invalidF64);
  double result = addF64(value, -std::floor(value), mode.round);
  // x - x is -0 when rounding down; the fraction of an integer is +0.
  return result == 0 ? 0.0 : std::min(result, 0x1.fffffffffffffp-1);
}

double attn::emu::trigPreopF64(double value, uint32_t segment) {
  // 2/pi: the 1216 bits behind the point, most significant word first.
  static constexpr uint64_t twoOverPi[20] = {
      0xa2f9836e4e441529, 0xfc2757d1f534ddc0,
      0xdb6295993c439041, 0xfe5163abdebbc561,
      0xb7246e3a424dd2e0, 0x06492eea09d1921c,
      0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
      0xe99c7026b45f7e41, 0x3991d639835339f4,
      0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
      0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
      0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
      0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08,
      0x56033046fc7b6bab, 0};
  int exponent = int((asBits(value) >> 52) & 0x7ff);
  unsigned shift = (segment & 0x1f) * 53;
  if (exponent > 1077)
    shift += exponent - 1077;
  // The guide's constant has 1201 bits; what is shifted in behind is zero.
  auto bitsAt = [&](unsigned position) -> uint64_t {
    uint64_t word = position / 64 < 20 ? twoOverPi[position / 64] : 0;
    if (position / 64 == 18)
      word &= ~uint64_t(0) << (64 - (1201 - 18 * 64));
    if (position / 64 >= 19)
      word = 0;
    return word;
  };
  uint64_t high = bitsAt(shift), low = bitsAt(shift + 64);
  unsigned offset = shift % 64;
  uint64_t window = offset ? high << offset | low >> (64 - offset) : high;
  int scale = -53 - int(shift);
  if (exponent >= 1968)
    scale += 128;
  return std::ldexp(double(window >> 11), scale);
}

//===----------------------------------------------------------------------===//
// Division helpers
//===----------------------------------------------------------------------===//

static int biasedExponent(float value) { return (asBits(value) >> 23) & 0xff; }
static int biasedExponent(double value) {
  return (asBits(value) >> 52) & 0x7ff;
}
template <typename T> static bool isDenormal(T value) {
  return value != 0 && std::fabs(value) < std::numeric_limits<T>::min();
}

/// Both widths; `step` is the scale exponent, `maxGap` the exponent difference
/// that may overflow, `tiny` the numerator's exponent below which it is scaled.
template <typename T>
static T divScale(T value, T denominator, T numerator, bool &vcc, int step,
                  int maxGap, int tiny) {
  vcc = false;
  if (numerator == 0 || denominator == 0)
    return std::numeric_limits<T>::quiet_NaN();
  T quotient = numerator / denominator;
  if (biasedExponent(numerator) - biasedExponent(denominator) >= maxGap) {
    vcc = true;
    return value == denominator ? std::ldexp(value, step) : value;
  }
  if (isDenormal(denominator))
    return std::ldexp(value, step);
  bool reciprocalDenormal = isDenormal(T(1) / denominator);
  if (reciprocalDenormal && isDenormal(quotient)) {
    vcc = true;
    return value == denominator ? std::ldexp(value, -step) : value;
  }
  if (reciprocalDenormal)
    return std::ldexp(value, -step);
  if (isDenormal(quotient)) {
    vcc = true;
    return value == numerator ? std::ldexp(value, step) : value;
  }
  if (biasedExponent(numerator) <= tiny)
    return std::ldexp(value, step);
  return value;
}

float attn::emu::divScaleF32(float value, float denominator, float numerator,
                             bool &vcc) {
  return divScale(value, denominator, numerator, vcc, 64, 96, 23);
}
double attn::emu::divScaleF64(double value, double denominator,
                              double numerator, bool &vcc) {
  return divScale(value, denominator, numerator, vcc, 128, 768, 53);
}

float attn::emu::divFmasF32(float a, float b, float c, bool vcc,
                            const FloatMode &mode) {
  a = flushIn(a, mode), b = flushIn(b, mode), c = flushIn(c, mode);
  if (!vcc || !std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c)) {
    float result = fmaF32(a, b, c, mode.round);
    return mode.denormOut ? result : flushF32(result);
  }
  // Scaled before the one rounding; a f64 holds the product, odd rounding the
  // sum.
  double sum = addRoundOdd(double(a) * double(b), double(c));
  int scale = biasedExponent(c) > 127 ? 64 : -64;
  return asFloat(
      encode(FloatFormat::F32, std::ldexp(sum, scale), makeOptions(mode)));
}

double attn::emu::divFmasF64(double a, double b, double c, bool vcc,
                             const FloatMode &mode) {
  a = flushIn(a, mode), b = flushIn(b, mode), c = flushIn(c, mode);
  double result = fmaF64(a, b, c, mode.round);
  if (!vcc || !std::isfinite(result))
    return mode.denormOut ? result : flushF64(result);
  // Scaling a normal result to a normal one is exact. A denormal result takes
  // its one rounding from the truncated fma, which still has all its bits, and
  // a sticky bit.
  int scale = biasedExponent(c) > 1023 ? 128 : -128;
  double scaled = std::ldexp(result, scale);
  if (std::fabs(scaled) >= 2 * std::numeric_limits<double>::min() ||
      result == 0)
    return std::isinf(scaled) ? scaleF64(result, scale, makeOptions(mode))
                              : scaled;
  double truncated = fmaF64(a, b, c, Rounding::TowardZero);
  bool inexact =
      fmaF64(a, b, c, Rounding::PlusInf) != fmaF64(a, b, c, Rounding::MinusInf);
  int exponent;
  double mantissa = std::frexp(std::fabs(truncated), &exponent);
  return asDouble(encodeParts(FloatFormat::F64, std::signbit(result),
                              uint64_t(std::ldexp(mantissa, 53)),
                              exponent - 53 + scale, inexact,
                              makeOptions(mode)));
}

/// What div_fixup returns for all but ordinary quotients.
template <typename T>
static bool divFixupSpecial(T denominator, T numerator, T invalid, T &result) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  T sign = std::signbit(denominator) != std::signbit(numerator) ? T(-1) : T(1);
  if (std::isnan(numerator))
    result = quiet(numerator);
  else if (std::isnan(denominator))
    result = quiet(denominator);
  else if ((denominator == 0 && numerator == 0) ||
           (std::isinf(denominator) && std::isinf(numerator)))
    result = invalid;
  else if (denominator == 0 || std::isinf(numerator))
    result = std::copysign(inf, sign);
  else if (std::isinf(denominator) || numerator == 0)
    result = std::copysign(T(0), sign);
  else
    return false;
  return true;
}

/// v_div_fixup of a format whose quotient vanishes when the exponents differ by
/// less than \p minGap.
template <typename T>
static T divFixup(T quotient, T denominator, T numerator, const FloatMode &mode,
                  FloatFormat format, T invalid, int minGap) {
  quotient = flushIn(quotient, mode);
  denominator = flushIn(denominator, mode);
  numerator = flushIn(numerator, mode);
  T result;
  if (divFixupSpecial(denominator, numerator, invalid, result))
    return result;
  bool negative = std::signbit(denominator) != std::signbit(numerator);
  // Far out of range: what rounding makes of it.
  auto extreme = [&](int exponent) {
    return T(decode(format, encodeParts(format, negative, 1, exponent, false,
                                        makeOptions(mode))));
  };
  if (biasedExponent(numerator) - biasedExponent(denominator) < minGap)
    return extreme(-5000);
  // The steps overflow to NaN where the quotient does.
  if (std::isnan(quotient))
    return extreme(5000);
  return std::copysign(quotient, negative ? T(-1) : T(1));
}

float attn::emu::divFixupF32(float quotient, float denominator, float numerator,
                             const FloatMode &mode) {
  return divFixup(quotient, denominator, numerator, mode, FloatFormat::F32,
                  asFloat(invalidF32), -150);
}
double attn::emu::divFixupF64(double quotient, double denominator,
                              double numerator, const FloatMode &mode) {
  return divFixup(quotient, denominator, numerator, mode, FloatFormat::F64,
                  asDouble(invalidF64), -1075);
}

uint16_t attn::emu::divFixupF16(uint16_t quotient, uint16_t denominator,
                                uint16_t numerator, const FloatMode &mode) {
  float d = f16ToF32(flushIn(denominator, mode));
  float n = f16ToF32(flushIn(numerator, mode));
  float result;
  if (divFixupSpecial(d, n, asFloat(invalidF32), result))
    return encode(FloatFormat::F16, result);
  return (flushIn(quotient, mode) & 0x7fff) |
         (std::signbit(d) != std::signbit(n) ? 0x8000 : 0);
}

//===----------------------------------------------------------------------===//
// Arithmetic under a rounding mode
//===----------------------------------------------------------------------===//

float attn::emu::fmaF32(float a, float b, float c, Rounding round) {
  if (round == Rounding::NearestEven || !std::isfinite(a) ||
      !std::isfinite(b) || !std::isfinite(c))
    return std::fma(a, b, c);
  double product = double(a) * double(b), sum = addRoundOdd(product, c);
  if (sum == 0) {
    // Exact cancellation: -0 only when rounding down (or both are -0).
    bool bothNegative = std::signbit(product) && std::signbit(c);
    bool samesign = std::signbit(product) == std::signbit(c);
    if (samesign && product == 0)
      return bothNegative ? -0.0f : 0.0f;
    return round == Rounding::MinusInf ? -0.0f : 0.0f;
  }
  EncodeOptions options;
  options.round = round;
  return asFloat(encode(FloatFormat::F32, sum, options));
}

float attn::emu::addF32(float a, float b, Rounding round) {
  return round == Rounding::NearestEven ? a + b : fmaF32(a, 1.0f, b, round);
}

float attn::emu::mulF32(float a, float b, Rounding round) {
  double product = double(a) * double(b);
  if (round == Rounding::NearestEven || !std::isfinite(product))
    return a * b;
  EncodeOptions options;
  options.round = round;
  return asFloat(encode(FloatFormat::F32, product, options));
}

namespace {
/// Sets the host's rounding mode for one operation.
class HostRounding {
public:
  explicit HostRounding(Rounding round) : saved(std::fegetround()) {
    static constexpr int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                                    FE_TOWARDZERO};
    std::fesetround(modes[unsigned(round)]);
  }
  ~HostRounding() { std::fesetround(saved); }

private:
  int saved;
};
} // namespace

// The volatile operands keep the operation between the two mode changes.
double attn::emu::fmaF64(double a, double b, double c, Rounding round) {
  if (round == Rounding::NearestEven)
    return std::fma(a, b, c);
  HostRounding host(round);
  volatile double x = a, y = b, z = c;
  volatile double result = std::fma(x, y, z);
  return result;
}
double attn::emu::addF64(double a, double b, Rounding round) {
  if (round == Rounding::NearestEven)
    return a + b;
  HostRounding host(round);
  volatile double x = a, y = b;
  volatile double result = x + y;
  return result;
}
double attn::emu::mulF64(double a, double b, Rounding round) {
  if (round == Rounding::NearestEven)
    return a * b;
  HostRounding host(round);
  volatile double x = a, y = b;
  volatile double result = x * y;
  return result;
}

/// Rounds product + c to f16; both are exact in f64.
static uint16_t finishF16(double product, double c, const FloatMode &mode) {
  double sum = addRoundOdd(product, c);
  if (sum == 0) {
    bool negative =
        std::signbit(product) == std::signbit(c) && product == 0 && c == 0
            ? std::signbit(product)
            : mode.round == Rounding::MinusInf;
    return negative ? 0x8000 : 0;
  }
  // FP16_OVFL clamps overflow, not a true infinity.
  return encode(FloatFormat::F16, sum, makeOptions(mode, std::isfinite(sum)));
}

uint16_t attn::emu::fmaF16(uint16_t a, uint16_t b, uint16_t c,
                           const FloatMode &mode) {
  double product = decode(FloatFormat::F16, flushIn(a, mode)) *
                   decode(FloatFormat::F16, flushIn(b, mode));
  return finishF16(product, decode(FloatFormat::F16, flushIn(c, mode)), mode);
}

uint16_t attn::emu::addF16(uint16_t a, uint16_t b, const FloatMode &mode) {
  return finishF16(decode(FloatFormat::F16, flushIn(a, mode)),
                   decode(FloatFormat::F16, flushIn(b, mode)), mode);
}

uint16_t attn::emu::mulF16(uint16_t a, uint16_t b, const FloatMode &mode) {
  double product = decode(FloatFormat::F16, flushIn(a, mode)) *
                   decode(FloatFormat::F16, flushIn(b, mode));
  return encode(FloatFormat::F16, product,
                makeOptions(mode, std::isfinite(product)));
}

//===----------------------------------------------------------------------===//
// Cube maps
//===----------------------------------------------------------------------===//

/// 2 for |z| >= both others, 1 for |y| >= |x|, else 0.
static int majorAxis(float x, float y, float z) {
  if (std::fabs(z) >= std::fabs(x) && std::fabs(z) >= std::fabs(y))
    return 2;
  return std::fabs(y) >= std::fabs(x) ? 1 : 0;
}

float attn::emu::cubeIdF32(float x, float y, float z) {
  int axis = majorAxis(x, y, z);
  float major = axis == 2 ? z : axis == 1 ? y : x;
  return float(2 * axis + (major < 0 ? 1 : 0));
}
float attn::emu::cubeScF32(float x, float y, float z) {
  switch (majorAxis(x, y, z)) {
  case 2:
    return z < 0 ? -x : x;
  case 1:
    return x;
  default:
    return x < 0 ? z : -z;
  }
}
float attn::emu::cubeTcF32(float x, float y, float z) {
  return majorAxis(x, y, z) == 1 ? (y < 0 ? -z : z) : -y;
}
float attn::emu::cubeMaF32(float x, float y, float z) {
  int axis = majorAxis(x, y, z);
  return 2.0f * (axis == 2 ? z : axis == 1 ? y : x);
}
