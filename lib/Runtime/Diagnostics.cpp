//===- Diagnostics.cpp - One-line errors ----------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace attn::rt {

/// The first place in a file that a location mentions.
static mlir::FileLineColLoc findFile(mlir::Location location) {
  mlir::FileLineColLoc found;
  location->walk([&](mlir::Location inner) {
    found = dyn_cast<mlir::FileLineColLoc>(inner);
    return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return found;
}

FirstError::FirstError(mlir::MLIRContext *context)
    : handler(context, [this](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error ||
            !message.empty())
          return;
        raw_string_ostream os(message);
        if (mlir::FileLineColLoc file = findFile(diagnostic.getLocation()))
          os << file.getFilename().getValue() << ':' << file.getLine() << ':'
             << file.getColumn() << ": ";
        os << diagnostic;
        for (char &c : message)
          if (c == '\n')
            c = ' ';
      }) {}

Error FirstError::take(const Twine &fallback) {
  return createStringError(message.empty() ? fallback.str()
                                           : std::move(message));
}

} // namespace attn::rt
