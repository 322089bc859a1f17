//===- Wave.h - The state handlers work on ----------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// One wave, its workgroup and the launch they belong to.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_MACHINE_WAVE_H
#define ATTN_LIB_EMULATOR_MACHINE_WAVE_H

#include "../ISA/Inst.h"
#include "../ISA/Program.h"
#include "DeviceMemory.h"
#include "attn/Emulator/Numerics/Transcendental.h"
#include <cstring>

namespace attn::emu {

inline constexpr unsigned numLanes = 64;
inline constexpr uint64_t allLanes = ~uint64_t(0);

/// Vector register numbers: architected 0..255, accumulation 256..511, and
/// scratch ones for wrappers.
inline constexpr unsigned accBase = 256;
inline constexpr unsigned tempVGPR = 512;
inline constexpr unsigned numVectorRegs = 512 + 4;

/// Scalar register numbers with a role.
inline constexpr unsigned regFlatScratch = 102;
inline constexpr unsigned regVCC = 106;
inline constexpr unsigned regM0 = 124;
inline constexpr unsigned regEXEC = 126;
inline constexpr unsigned numScalarRegs = 128;

/// High halves of the FLAT apertures.
inline constexpr uint32_t sharedApertureHi = 0x10000;
inline constexpr uint32_t privateApertureHi = 0x20000;

/// MODE register as the kernel descriptor and s_setreg see it.
inline constexpr uint32_t modeFP16Overflow = 1u << 23;
inline constexpr uint32_t modeDX10Clamp = 1u << 8;
inline constexpr uint32_t modeIEEE = 1u << 9;
/// Round to nearest, denormals kept.
inline constexpr uint32_t modeFloatMask = 0xff;
inline constexpr uint32_t modeFloatPlain = 0xf0;

struct LaunchContext {
  Chip chip = Chip::GFX942;
  const CodeObject *object = nullptr;
  const Kernel *kernel = nullptr;
  const Program *program = nullptr;
  DeviceMemory *memory = nullptr;
  LaunchConfig config;
  LaunchOptions options;
  /// Device address of image offset 0.
  uint64_t loadAddress = 0;
  uint64_t kernargAddress = 0;
  uint64_t dispatchAddress = 0;
  uint64_t queueAddress = 0;
  const uint8_t *kernarg = nullptr;
  uint32_t ldsBytes = 0;
  uint32_t scratchBytes = 0;
  unsigned wavesPerWorkgroup = 1;
  unsigned workItems = 64;
  Perturb perturb;
  bool isOCP = false;
  /// An invalid access is a finding, not the end of the launch.
  bool tolerant = false;
};

struct Workgroup {
  LaunchContext *ctx = nullptr;
  std::array<uint32_t, 3> id = {0, 0, 0};
  uint64_t linear = 0;
  /// ldsBytes long, with padding behind so that wide copies need no care.
  std::vector<uint8_t> lds;
};

enum class WaveState : uint8_t { Running, AtBarrier, Ended, Faulted };

struct Wave {
  uint32_t *vgprs = nullptr;
  alignas(16) uint32_t sgpr[numScalarRegs] = {};
  bool scc = false;
  uint32_t mode = modeFloatPlain;
  bool plainMode = true;
  /// Between s_set_gpr_idx_on and _off.
  bool indexMode = false;
  /// s_setvskip: vector instructions are skipped.
  bool skipsVector = false;

  const Inst *pc = nullptr;
  /// Instructions until the scheduler takes over; handlers set it to 0 to stop.
  int64_t budget = 0;
  /// Instructions before this turn.
  uint64_t executed = 0;
  WaveState state = WaveState::Running;

  unsigned id = 0;
  Workgroup *wg = nullptr;
  LaunchContext *ctx = nullptr;
  /// Scratch: lane-major, scratchBytes a lane.
  uint8_t *scratch = nullptr;
  /// Where the last global access was; the next one is usually there too.
  const Buffer *lastBuffer = nullptr;
  std::string fault;
  std::array<uint64_t, numInstClasses> classCounts = {};
  uint64_t mfmaFlops = 0;
  uint64_t globalRead = 0, globalWrite = 0, ldsRead = 0, ldsWrite = 0,
           ldsDMA = 0;

  /// EXEC as 64 words of 0 or ~0, made on demand.
  alignas(64) uint32_t laneMasks[numLanes];
  uint64_t laneMasksFor = 0;
  bool laneMasksValid = false;

  uint32_t *vgpr(unsigned reg) { return vgprs + size_t(reg) * numLanes; }

  uint64_t get64(unsigned reg) const {
    uint64_t value;
    std::memcpy(&value, &sgpr[reg], 8);
    return value;
  }
  void set64(unsigned reg, uint64_t value) {
    std::memcpy(&sgpr[reg], &value, 8);
  }
  uint64_t exec() const { return get64(regEXEC); }
  void setExec(uint64_t value) { set64(regEXEC, value); }
  uint64_t vcc() const { return get64(regVCC); }

  const uint32_t *getLaneMasks(uint64_t mask) {
    if (!laneMasksValid || laneMasksFor != mask) {
      for (unsigned lane = 0; lane < numLanes; ++lane)
        laneMasks[lane] = -(uint32_t)(mask >> lane & 1);
      laneMasksFor = mask;
      laneMasksValid = true;
    }
    return laneMasks;
  }

  uint32_t read32(const Src &src) const {
    if (src.kind == SrcKind::SGPR)
      return sgpr[src.reg];
    if (src.kind == SrcKind::Const)
      return static_cast<uint32_t>(src.value);
    return readSpecial(src.reg);
  }
  uint64_t read64(const Src &src) const {
    if (src.kind == SrcKind::SGPR)
      return get64(src.reg);
    if (src.kind == SrcKind::Const)
      return src.value;
    return readSpecial(src.reg);
  }
  uint32_t readSpecial(unsigned encoding) const {
    if (encoding == 251)
      return vcc() == 0;
    if (encoding == 252)
      return exec() == 0;
    return scc;
  }

  void stop(WaveState newState) {
    state = newState;
    budget = 0;
  }
  /// Ends the launch with an error about the current instruction.
  void raise(const llvm::Twine &message) {
    if (state != WaveState::Faulted)
      fault = message.str();
    stop(WaveState::Faulted);
  }

  FloatMode f32Mode() const { return getF32Mode(mode); }
  FloatMode f16Mode() const { return getF16F64Mode(mode); }
  void setMode(uint32_t value) {
    mode = value;
    plainMode = (value & modeFloatMask) == modeFloatPlain;
  }
};

/// Calls \p fn(lane) for each set bit.
template <typename Fn> inline void forEachLane(uint64_t mask, Fn &&fn) {
  while (mask) {
    fn(static_cast<unsigned>(__builtin_ctzll(mask)));
    mask &= mask - 1;
  }
}

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_MACHINE_WAVE_H
