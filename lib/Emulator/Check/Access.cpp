//===- Access.cpp - Memory access of one instruction ----------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Access.h"

using namespace attn::emu;
using namespace llvm;

bool attn::emu::computeAccess(Wave &w, const Inst &i, Access &access) {
  access.none = true;
  access.dma = false;
  if (!(i.traits.isVMEM || (i.traits.isDS && i.memBytes)))
    return true;
  access.none = false;
  access.reads = i.traits.isLoad || i.traits.isAtomic;
  access.writes = i.traits.isStore;
  access.atomic = i.traits.isAtomic;
  access.bytes = i.memBytes;
  access.count = 1;
  access.at[0].outOfRange = 0;
  access.at[0].dubious = 0;
  access.at[0].partial = false;
  access.at[0].mixedSpaces = false;
  if (i.format == Format::MUBUF) {
    if (!getBufferAddresses(w, i, access.at[0]))
      return false;
  } else if (i.format == Format::FLAT) {
    getFlatAddresses(w, i, access.at[0]);
  } else if (i.traits.readsM0) {
    // Addresses by thread number, or one counter for the wave.
    LaneAddresses &at = access.at[0];
    at.active = w.exec();
    bool counter = i.traits.isAtomic;
    uint32_t base = w.sgpr[regM0] & 0xffff;
    for (unsigned lane = 0; lane < numLanes; ++lane) {
      at.space[lane] = Space::LDS;
      at.address[lane] = base + i.offset + (counter ? 0 : 4 * lane);
    }
    if (counter)
      at.active &= -at.active;
  } else {
    getLDSAddresses(w, i, false, access.at[0]);
    if (i.traits.hasTwoAddresses) {
      access.count = 2;
      access.at[1].outOfRange = 0;
      access.at[1].dubious = 0;
      access.at[1].partial = false;
      access.at[1].mixedSpaces = false;
      getLDSAddresses(w, i, true, access.at[1]);
    }
  }
  if (i.traits.isLDSDMA) {
    access.dma = true;
    access.ldsBase = getDMABase(w, i);
    access.ldsBytes = getDMABytes(i);
  }
  return true;
}

std::string attn::emu::getRegisterName(bool isVector, unsigned first,
                                       unsigned count) {
  std::string prefix = "s";
  if (isVector) {
    prefix = first >= accBase ? "a" : "v";
    first %= accBase;
  } else if (first == regVCC || first == regVCC + 1) {
    return "vcc";
  } else if (first == regEXEC || first == regEXEC + 1) {
    return "exec";
  } else if (first == regM0) {
    return "m0";
  }
  if (count <= 1)
    return (prefix + Twine(first)).str();
  return (prefix + "[" + Twine(first) + ":" + Twine(first + count - 1) + "]")
      .str();
}
