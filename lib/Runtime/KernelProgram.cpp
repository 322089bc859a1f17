//===- KernelProgram.cpp - A code object with its manifest ----------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/KernelProgram.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using attn::manifest::Kernel;
using attn::manifest::Manifest;

namespace attn::rt {

Expected<Manifest> readManifest(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path);
  if (std::error_code ec = buffer.getError())
    return createStringError("cannot read '" + path + "': " + ec.message());
  Expected<Manifest> manifest = Manifest::parse((*buffer)->getBuffer());
  if (!manifest)
    return createStringError("'" + path +
                             "': " + toString(manifest.takeError()));
  return manifest;
}

static Error checkKernel(const emu::CodeObject &object, const Kernel &kernel) {
  Expected<const emu::Kernel *> found = object.getKernel(kernel.name);
  if (!found)
    return found.takeError();
  auto mismatch = [&](StringRef what, uint64_t manifest, uint64_t code) {
    return createStringError(
        formatv("kernel '{0}': the manifest has {1} {2}, but the code object "
                "has {3}",
                kernel.name, what, manifest, code));
  };
  if (kernel.kernargBytes != (*found)->kernargSegmentBytes)
    return mismatch("kernarg_bytes", kernel.kernargBytes,
                    (*found)->kernargSegmentBytes);
  if (kernel.ldsBytes != (*found)->groupSegmentBytes)
    return mismatch("lds_bytes", kernel.ldsBytes, (*found)->groupSegmentBytes);
  // Arguments by position: names are free, places are not.
  for (const emu::KernelArg &arg : (*found)->args) {
    if (arg.isHidden())
      continue;
    auto same = [&](const manifest::Arg &a) {
      return a.offset == arg.offset && a.size == arg.size;
    };
    if (none_of(kernel.args, same))
      return createStringError(
          formatv("kernel '{0}': expects an argument of {1} bytes at offset "
                  "{2} in the manifest, as in the code object",
                  kernel.name, arg.size, arg.offset));
  }
  return Error::success();
}

Expected<KernelProgram>
KernelProgram::create(std::unique_ptr<MemoryBuffer> code, Manifest manifest) {
  KernelProgram program;
  if (manifest.kernels.empty()) {
    program.manifest = std::move(manifest);
    return program;
  }
  assert(code && "kernels need their code");
  auto object = emu::CodeObject::create(*code);
  if (!object)
    return object.takeError();
  StringRef chip = emu::getChipName((*object)->getChip());
  if (manifest.chip != chip)
    return createStringError(formatv("the manifest is for {0}, but the code "
                                     "object is for {1}",
                                     manifest.chip, chip));
  for (const Kernel &kernel : manifest.kernels)
    if (Error error = checkKernel(**object, kernel))
      return error;
  program.code = std::move(code);
  program.object = std::move(*object);
  program.manifest = std::move(manifest);
  return program;
}

} // namespace attn::rt
