//===- ManifestFuzzer.cpp - Any bytes as manifest -------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any text is either refused in one line or survives printing, inference of
// dimensions and packing.
//
//===----------------------------------------------------------------------===//

#include "attn/Target/Manifest.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace llvm;
using namespace attn::manifest;

/// Unlike assert, stays in every build.
static void require(bool condition) {
  if (!condition)
    abort();
}

static std::string print(const Manifest &manifest) {
  std::string text;
  raw_string_ostream os(text);
  manifest.print(os);
  return text;
}

/// Uses everything for which there are sizes.
static void launch(const Manifest &manifest, const DimMap &dims) {
  for (const Buffer &buffer : manifest.buffers)
    consumeError(resolve(buffer, dims).takeError());
  auto anything = [](StringRef) -> Expected<uint64_t> { return 42; };
  for (const Kernel &kernel : manifest.kernels) {
    auto bytes = packKernarg(kernel, dims, anything, anything);
    if (bytes)
      require(bytes->size() == kernel.kernargBytes);
    else
      consumeError(bytes.takeError());
  }
  for (const Launch &launch : manifest.launches)
    consumeError(resolveGrid(launch, dims).takeError());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef text(reinterpret_cast<const char *>(data), size);
  Expected<Manifest> manifest = Manifest::parse(text);
  if (!manifest) {
    require(!StringRef(toString(manifest.takeError())).contains('\n'));
    return 0;
  }
  std::string printed = print(*manifest);
  Expected<Manifest> again = Manifest::parse(printed);
  require(bool(again));
  require(print(*again) == printed);

  // Shapes that count up, so that names meet different and equal sizes.
  StringMap<SmallVector<int64_t>> shapes;
  int64_t extent = 1;
  for (const Buffer &buffer : manifest->buffers)
    for (size_t i = 0; i < buffer.shape.size(); ++i)
      shapes[buffer.name].push_back(
          buffer.shape[i].getConstant().value_or(extent++ % 3));
  Expected<DimMap> dims = manifest->inferDims(shapes);
  if (dims)
    launch(*manifest, *dims);
  else
    consumeError(dims.takeError());
  launch(*manifest, {});
  return 0;
}
