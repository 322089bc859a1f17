//===- Device.cpp - Where kernels run -------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Device.h"
#include <cstring>

using namespace llvm;

namespace attn::rt {

Device::~Device() = default;

Error Device::copyTo(uint64_t address, ArrayRef<char> bytes) {
  return write(address, bytes.size(), [&](MutableArrayRef<char> to) {
    memcpy(to.data(), bytes.data(), bytes.size());
  });
}

Error Device::copyFrom(MutableArrayRef<char> bytes, uint64_t address) {
  return read(address, bytes.size(), [&](ArrayRef<char> from) {
    memcpy(bytes.data(), from.data(), bytes.size());
    return Error::success();
  });
}

} // namespace attn::rt
