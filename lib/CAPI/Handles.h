//===- Handles.h - What is behind the opaque handles ------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CAPI_HANDLES_H
#define ATTN_LIB_CAPI_HANDLES_H

#include "attn-c/Attn.h"
#include "attn/Runtime/CPUProgram.h"
#include "attn/Runtime/Interface.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace attn::capi {

/// An error with a code. Any other error has the code its function chose.
class CodedError : public llvm::ErrorInfo<CodedError> {
public:
  static char ID;
  CodedError(attnCode code, std::string message)
      : code(code), message(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

  const attnCode code;
  const std::string message;
};

llvm::Error fail(attnCode code, const llvm::Twine &message);
/// The same error with `code`, unless it has one.
llvm::Error withCode(attnCode code, llvm::Error error);
/// NULL for success; the code of errors without one is ATTN_FAILED.
attnResult toResult(llvm::Error error);

/// An argument by its name in the header.
struct Pointer {
  llvm::StringRef name;
  const void *value;
};
/// A mistake of the caller if an argument is NULL.
llvm::Error refuseNull(std::initializer_list<Pointer> pointers);

attnBlob makeBlob(llvm::StringRef bytes);

/// What every program consists of.
struct Program {
  std::string target;
  std::string entry;
  /// MLIR text.
  std::string source;
  manifest::Manifest interface;
  /// JSON.
  std::string interfaceText, manifestText;
  llvm::SmallVector<char, 0> code;
  unsigned optLevel = 3;
  /// Target "cpu" only.
  rt::Signature signature;
  /// Chips only.
  manifest::Manifest manifest;

  bool isForCPU() const { return target == "cpu"; }
};

llvm::Expected<std::shared_ptr<const Program>>
compileProgram(llvm::StringRef text, const attnCompileOptions *options);
llvm::Error checkSupport(llvm::StringRef text,
                         const attnCompileOptions *options);
/// JSON, see attnProgramGetStages.
llvm::Expected<std::string> compileStages(const Program &program);

std::string serialize(const Program &program);
llvm::Expected<std::shared_ptr<const Program>>
deserialize(llvm::StringRef bytes);

/// Module text from JSON, see attnDescribe.
llvm::Expected<std::string> describe(llvm::StringRef text);

/// The CPU that "cpu" is for: its name and features.
std::string getHostName();

} // namespace attn::capi

struct attnBlobStorage {
  std::string bytes;
};

struct attnProgramStorage {
  std::shared_ptr<const attn::capi::Program> program;
};

#endif // ATTN_LIB_CAPI_HANDLES_H
