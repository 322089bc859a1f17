//===- HIPRuntime.cpp - The HIP runtime library ---------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/HIPRuntime.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"
#include <dlfcn.h>

using namespace llvm;

namespace attn::rt::hip {

/// Newest first; a plain name comes with the development files only.
static SmallVector<std::string> listCandidates() {
  if (auto file = sys::Process::GetEnv("ATTN_HIP_LIBRARY"))
    return {*file};
  SmallVector<std::string> candidates = {"libamdhip64.so.7", "libamdhip64.so.6",
                                         "libamdhip64.so"};
  if (auto folder = sys::Process::GetEnv("ROCM_PATH"))
    candidates.push_back(*folder + "/lib/libamdhip64.so");
  candidates.push_back("/opt/rocm/lib/libamdhip64.so");
  return candidates;
}

Expected<Runtime> Runtime::load() {
  SmallVector<std::string> candidates = listCandidates();
  void *library = nullptr;
  std::string path, reason;
  // A process has one HIP runtime: the one that is there, perhaps PyTorch's.
  for (const std::string &candidate : candidates) {
    path = candidate;
    if ((library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_NOLOAD)))
      break;
  }
  for (const std::string &candidate : candidates) {
    if (library)
      break;
    path = candidate;
    if ((library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL)))
      break;
    // A library that is there but does not load says more than one that is not.
    std::string message = dlerror();
    if (reason.empty() || !StringRef(message).starts_with(candidate))
      reason = message;
  }
  if (!library)
    return createStringError(
        "cannot load the HIP runtime (" + join(candidates, ", ") +
        "; ATTN_HIP_LIBRARY names another file): " + reason);

  Runtime runtime;
  auto find = [&](auto &pointer, const char *name) -> llvm::Error {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(
        dlsym(library, name));
    if (pointer)
      return llvm::Error::success();
    return createStringError("expects the entry point " + Twine(name) +
                             " of ROCm 6 or later in the HIP runtime '" + path +
                             "', but it has none");
  };
#define ATTN_HIP_FIND(NAME, RESULT, PARAMS)                                    \
  if (llvm::Error error = find(runtime.NAME, "hip" #NAME))                     \
    return error;
  ATTN_HIP_ENTRY_POINTS(ATTN_HIP_FIND)
#undef ATTN_HIP_FIND
  return runtime;
}

llvm::Error Runtime::check(Error error, StringRef call) const {
  if (error == 0)
    return llvm::Error::success();
  // Who shares the process looks at the last error for its own calls.
  (void)GetLastError();
  return createStringError(
      formatv("{0}: {1} (HIP error {2})", call, GetErrorString(error), error));
}

} // namespace attn::rt::hip
