//===- OpTable.cpp - What the emulator knows of each mnemonic -------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "llvm/ADT/StringSwitch.h"

using namespace attn::emu;
using namespace llvm;

static Ty parseTy(StringRef text) {
  Ty ty = StringSwitch<Ty>(text)
              .Case("-", Ty::None)
              .Case("b16", Ty::B16)
              .Case("f16", Ty::F16)
              .Case("b32", Ty::B32)
              .Case("f32", Ty::F32)
              .Case("b64", Ty::B64)
              .Case("i64", Ty::I64)
              .Case("f64", Ty::F64)
              .Case("pkb16", Ty::PKB16)
              .Case("pkf16", Ty::PKF16)
              .Case("pkb32", Ty::PKB32)
              .Case("pkf32", Ty::PKF32)
              .Case("mask", Ty::Mask)
              .Case("b96", Ty::B96)
              .Case("b128", Ty::B128)
              .Case("b192", Ty::B192)
              .Case("b256", Ty::B256)
              .Case("b512", Ty::B512)
              .Case("b1024", Ty::B1024)
              .Default(Ty::None);
  assert((ty != Ty::None || text == "-") && "bad operand type in a signature");
  return ty;
}

OpInfo &OpTable::add(StringRef mnemonic, StringRef signature,
                     InstClass instClass, Handler fn) {
  assert(!ops.contains(mnemonic) && "mnemonic added twice");
  OpInfo &info = ops[mnemonic];
  info.fn = fn;
  info.instClass = instClass;
  auto [first, rest] = signature.split(' ');
  info.dst = parseTy(first);
  while (!rest.empty()) {
    std::tie(first, rest) = rest.split(' ');
    info.srcs[info.numSrcs++] = parseTy(first);
  }
  switch (instClass) {
  case InstClass::VALU:
  case InstClass::Transcendental:
  case InstClass::MFMA:
    info.traits.isVALU = 1;
    info.traits.isTrans = instClass == InstClass::Transcendental;
    info.traits.isMFMA = instClass == InstClass::MFMA;
    break;
  case InstClass::SALU:
    info.traits.isSALU = 1;
    break;
  case InstClass::SMEM:
    info.traits.isSMEM = 1;
    break;
  default:
    break;
  }
  return info;
}

const OpTable &OpTable::get() {
  static const OpTable table = [] {
    OpTable result;
    addScalarOps(result);
    addScalarMemoryOps(result);
    addVectorOps(result);
    addSpecialVectorOps(result);
    addMatrixOps(result);
    addLDSOps(result);
    addFlatOps(result);
    addBufferOps(result);
    return result;
  }();
  return table;
}
