//===- NpyFuzzer.cpp - Any bytes as .npy ----------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any bytes are either refused in one line or copied without a stray access.
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Bindings.h"
#include "attn/Runtime/HostBuffer.h"
#include <cstdlib>

using namespace llvm;
using namespace attn::rt;

/// Unlike assert, stays in every build.
static void require(bool condition) {
  if (!condition)
    abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef bytes(reinterpret_cast<const char *>(data), size);
  Expected<NpyFile> file =
      NpyFile::parse(MemoryBuffer::getMemBufferCopy(bytes, "f.npy"));
  if (!file) {
    require(!StringRef(toString(file.takeError())).contains('\n'));
    return 0;
  }
  for (DType dtype :
       {DType::F64, DType::F32, DType::F16, DType::BF16, DType::F8E4M3FN,
        DType::I64, DType::I32, DType::I16, DType::I8, DType::I1}) {
    if (Error error = checkFile("a", *file, dtype, file->getShape())) {
      consumeError(std::move(error));
      continue;
    }
    Expected<HostBuffer> buffer = HostBuffer::create(
        "a", dtype, file->getShape(), getContiguousStrides(file->getShape()));
    if (!buffer) {
      // The file is small, so only a rounding of sizes could be the reason.
      consumeError(buffer.takeError());
      continue;
    }
    buffer->assign(*file);
    std::string text;
    raw_string_ostream os(text);
    writeNpy(os, buffer->getView());
    Expected<NpyFile> again =
        NpyFile::parse(MemoryBuffer::getMemBuffer(text, "again", false));
    require(bool(again));
    require(again->getShape() == file->getShape());
    require(!buffer->checkGuards());
  }
  return 0;
}
