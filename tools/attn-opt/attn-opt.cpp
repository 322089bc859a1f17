//===- attn-opt.cpp - The optimizer driver ----------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/InitAll.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    if (llvm::StringRef(argv[i]) == "--attn-print-capabilities") {
      llvm::outs() << llvm::formatv("{0:2}\n", mlir::attn::getCapabilities());
      return 0;
    }
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  mlir::attn::registerAllAttnDialects(registry);
  mlir::attn::registerAllAttnPasses();
  mlir::attn::registerAllAttnPipelines();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "AttnMLIR optimizer driver\n", registry));
}
