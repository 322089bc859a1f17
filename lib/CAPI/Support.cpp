//===- Support.cpp - Results, blobs and versions --------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn-c/Support.h"
#include "Handles.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/TargetParser/Host.h"
#include <link.h>

using namespace llvm;
using namespace attn::capi;

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

struct attnResultStorage {
  attnCode code;
  std::string message;
};

namespace attn::capi {

char CodedError::ID;

Error fail(attnCode code, const Twine &message) {
  return make_error<CodedError>(code, message.str());
}

Error withCode(attnCode code, Error error) {
  if (!error || error.isA<CodedError>())
    return error;
  return fail(code, toString(std::move(error)));
}

attnResult toResult(Error error) {
  if (!error)
    return nullptr;
  attnCode code = ATTN_FAILED;
  std::string message;
  handleAllErrors(
      std::move(error),
      [&](const CodedError &coded) {
        code = coded.code;
        message = coded.message;
      },
      [&](const ErrorInfoBase &other) { message = other.message(); });
  return new attnResultStorage{code, std::move(message)};
}

Error refuseNull(std::initializer_list<Pointer> pointers) {
  for (const Pointer &pointer : pointers)
    if (!pointer.value)
      return fail(ATTN_INVALID_ARGUMENT,
                  pointer.name + ": expects an address, but got NULL");
  return Error::success();
}

attnBlob makeBlob(StringRef bytes) { return new attnBlobStorage{bytes.str()}; }

std::string getHostName() {
  SmallVector<std::string> features;
  for (const auto &feature : sys::getHostCPUFeatures())
    if (feature.second)
      features.push_back(feature.first().str());
  llvm::sort(features);
  return (sys::getHostCPUName() + ":" + join(features, ",")).str();
}

} // namespace attn::capi

attnCode attnResultGetCode(attnResult result) {
  return result ? result->code : ATTN_SUCCESS;
}
const char *attnResultGetMessage(attnResult result) {
  return result ? result->message.c_str() : "";
}
void attnResultDestroy(attnResult result) { delete result; }

//===----------------------------------------------------------------------===//
// Blobs
//===----------------------------------------------------------------------===//

const char *attnBlobGetData(attnBlob blob) {
  return blob ? blob->bytes.c_str() : "";
}
size_t attnBlobGetSize(attnBlob blob) { return blob ? blob->bytes.size() : 0; }
void attnBlobDestroy(attnBlob blob) { delete blob; }

//===----------------------------------------------------------------------===//
// Versions
//===----------------------------------------------------------------------===//

uint32_t attnGetVersion() {
  return ATTN_C_VERSION_MAJOR * 1000 + ATTN_C_VERSION_MINOR;
}

const char *attnGetProjectVersion() { return ATTN_PROJECT_VERSION; }

namespace {
/// The build ids of the loaded objects that hold some addresses.
struct BuildIds {
  SmallVector<uintptr_t> addresses;
  std::string text;

  void add(const dl_phdr_info &info);
};
} // namespace

static bool contains(const dl_phdr_info &info, uintptr_t address) {
  for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
    const auto &segment = info.dlpi_phdr[i];
    uintptr_t begin = info.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= begin &&
        address - begin < segment.p_memsz)
      return true;
  }
  return false;
}

void BuildIds::add(const dl_phdr_info &info) {
  if (none_of(addresses, [&](uintptr_t a) { return contains(info, a); }))
    return;
  for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
    const auto &segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE)
      continue;
    const char *note =
        reinterpret_cast<const char *>(info.dlpi_addr + segment.p_vaddr);
    const char *end = note + segment.p_memsz;
    while (note + sizeof(ElfW(Nhdr)) <= end) {
      const auto &header = *reinterpret_cast<const ElfW(Nhdr) *>(note);
      StringRef name(note + sizeof(header), header.n_namesz);
      const char *data = name.data() + alignTo(header.n_namesz, 4);
      if (header.n_type == NT_GNU_BUILD_ID && name == StringRef("GNU\0", 4)) {
        ArrayRef<uint8_t> id(reinterpret_cast<const uint8_t *>(data),
                             header.n_descsz);
        text += (text.empty() ? "" : "-") + toHex(id, /*LowerCase=*/true);
      }
      note = data + alignTo(header.n_descsz, 4);
    }
  }
}

const char *attnGetBuildId() {
  static const std::string id = [] {
    BuildIds ids;
    // One address of ours, of LLVM's and of MLIR's; the linker hashed what each
    // object holds.
    ids.addresses = {
        reinterpret_cast<uintptr_t>(&attnGetBuildId),
        reinterpret_cast<uintptr_t>(&sys::getHostCPUName),
        reinterpret_cast<uintptr_t>(&mlir::registerPassManagerCLOptions)};
    dl_iterate_phdr(
        [](dl_phdr_info *info, size_t, void *data) {
          static_cast<BuildIds *>(data)->add(*info);
          return 0;
        },
        &ids);
    return ids.text;
  }();
  return id.c_str();
}

attnResult attnGetCapabilities(attnBlob *blob) {
  if (Error error = refuseNull({{"blob", blob}}))
    return toResult(std::move(error));
  json::Array devices;
  for (auto [name, kind] : {std::pair("cpu", ATTN_DEVICE_CPU),
                            std::pair("emulator", ATTN_DEVICE_EMULATOR),
                            std::pair("hip", ATTN_DEVICE_HIP)}) {
    json::Object device{{"name", name}, {"available", true}};
    if (attnResult result = attnDeviceIsAvailable(kind)) {
      device["available"] = false;
      // A copy: json::Value keeps no bytes of its own for a C string.
      device["reason"] = std::string(attnResultGetMessage(result));
      attnResultDestroy(result);
    }
    devices.push_back(std::move(device));
  }
  json::Object object{{"version", attnGetProjectVersion()},
                      {"build_id", attnGetBuildId()},
                      {"llvm", LLVM_VERSION_STRING},
                      {"targets", json::Array{"cpu", "gfx942", "gfx950"}},
                      {"host", getHostName()},
                      {"devices", std::move(devices)}};
  *blob = makeBlob(formatv("{0:2}", json::Value(std::move(object))).str());
  return nullptr;
}
