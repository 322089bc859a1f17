//===- Report.h - A compilation to look at ----------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One HTML file without references to anything outside: the IR of every level,
// the assembly, what each kernel occupies, the layouts as pictures and, when
// asked for, the timing model's timeline.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REPORT_REPORT_H
#define ATTN_REPORT_REPORT_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <string>

namespace attn::report {

struct ReportOptions {
  std::string chip;
  /// Function that the manifest describes; empty if only one launches kernels.
  std::string entry;
  /// LLVM's, 0 to 3.
  unsigned optLevel = 3;
  /// Run a few workgroups on the timing model. Needs static shapes.
  bool timing = false;
};

/// Compiles the module in `source` and collects what the page shows. Errors are
/// one line, as compileModule's.
llvm::Expected<llvm::json::Object> collectReport(llvm::MemoryBufferRef source,
                                                 const ReportOptions &options);

/// Writes the page for what `collectReport` gave.
void writeReport(llvm::json::Object data, llvm::raw_ostream &os);

} // namespace attn::report

#endif // ATTN_REPORT_REPORT_H
