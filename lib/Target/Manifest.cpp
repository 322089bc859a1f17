//===- Manifest.cpp - Vocabulary and text of the manifest -----------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ManifestImpl.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace attn::manifest {

//===----------------------------------------------------------------------===//
// Vocabulary
//===----------------------------------------------------------------------===//

namespace {
struct DTypeRow {
  DType dtype;
  StringLiteral name;
  unsigned bytes;
};
constexpr DTypeRow dtypeTable[] = {
    {DType::F64, "f64", 8},
    {DType::F32, "f32", 4},
    {DType::F16, "f16", 2},
    {DType::BF16, "bf16", 2},
    {DType::F8E4M3FN, "f8E4M3FN", 1},
    {DType::F8E4M3FNUZ, "f8E4M3FNUZ", 1},
    {DType::F8E5M2, "f8E5M2", 1},
    {DType::F8E5M2FNUZ, "f8E5M2FNUZ", 1},
    {DType::I64, "i64", 8},
    {DType::I32, "i32", 4},
    {DType::I16, "i16", 2},
    {DType::I8, "i8", 1},
    {DType::I1, "i1", 1},
};
constexpr StringLiteral roleNames[] = {"input", "output", "workspace"};
constexpr StringLiteral kindNames[] = {"pointer", "i32", "i64", "f32"};
constexpr StringLiteral contentsNames[] = {"length", "cumulative", "page"};
} // namespace

StringRef stringify(DType dtype) {
  return dtypeTable[static_cast<unsigned>(dtype)].name;
}

std::optional<DType> symbolizeDType(StringRef name) {
  for (const DTypeRow &row : dtypeTable)
    if (row.name == name)
      return row.dtype;
  return std::nullopt;
}

std::string getDTypeNames() {
  return join(map_range(dtypeTable, [](const DTypeRow &r) { return r.name; }),
              ", ");
}

unsigned getByteWidth(DType dtype) {
  return dtypeTable[static_cast<unsigned>(dtype)].bytes;
}

template <typename Enum, size_t N>
static std::optional<Enum> symbolize(const StringLiteral (&names)[N],
                                     StringRef name) {
  for (unsigned i = 0; i < N; ++i)
    if (names[i] == name)
      return static_cast<Enum>(i);
  return std::nullopt;
}

StringRef stringify(Role role) {
  return roleNames[static_cast<unsigned>(role)];
}
std::optional<Role> symbolizeRole(StringRef name) {
  return symbolize<Role>(roleNames, name);
}
StringRef stringify(ArgKind kind) {
  return kindNames[static_cast<unsigned>(kind)];
}
std::optional<ArgKind> symbolizeArgKind(StringRef name) {
  return symbolize<ArgKind>(kindNames, name);
}
StringRef stringify(Contents::Kind kind) {
  return contentsNames[static_cast<size_t>(kind)];
}
std::optional<Contents::Kind> symbolizeContentsKind(StringRef name) {
  return symbolize<Contents::Kind>(contentsNames, name);
}
unsigned getByteWidth(ArgKind kind) {
  return kind == ArgKind::Pointer || kind == ArgKind::I64 ? 8 : 4;
}

const Buffer *Manifest::findBuffer(StringRef name) const {
  auto it = find_if(buffers, [&](const Buffer &b) { return b.name == name; });
  return it == buffers.end() ? nullptr : &*it;
}

const Kernel *Manifest::findKernel(StringRef name) const {
  auto it = find_if(kernels, [&](const Kernel &k) { return k.name == name; });
  return it == kernels.end() ? nullptr : &*it;
}

bool Manifest::keepsContent(const Buffer &output) const {
  auto isStarts = [](const Contents &rule) {
    return rule.kind == Contents::Kind::Cumulative;
  };
  if (any_of(contents, isStarts))
    return true;
  unsigned uses = 0;
  for (const Kernel &kernel : kernels)
    uses += count_if(kernel.args, [&](const Arg &arg) {
      return arg.kind == ArgKind::Pointer && arg.buffer == output.name;
    });
  return uses > 1;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

template <typename Range> static json::Array sizesToJSON(const Range &sizes) {
  json::Array array;
  for (const SizeExpr &size : sizes)
    array.push_back(size.toJSON());
  return array;
}

static json::Value toJSON(const Arg &arg) {
  json::Object object{{"name", arg.name},
                      {"kind", stringify(arg.kind)},
                      {"offset", static_cast<int64_t>(arg.offset)},
                      {"size", static_cast<int64_t>(arg.size)}};
  if (arg.buffer)
    object["buffer"] = *arg.buffer;
  if (arg.value) {
    if (const auto *number = std::get_if<double>(&*arg.value))
      object["value"] = *number;
    else
      object["value"] = std::get<SizeExpr>(*arg.value).toJSON();
  }
  return object;
}

static json::Value toJSON(const Kernel &kernel) {
  json::Array args;
  for (const Arg &arg : kernel.args)
    args.push_back(toJSON(arg));
  return json::Object{
      {"name", kernel.name},
      {"block", json::Array{kernel.block[0], kernel.block[1], kernel.block[2]}},
      {"lds_bytes", static_cast<int64_t>(kernel.ldsBytes)},
      {"kernarg_bytes", static_cast<int64_t>(kernel.kernargBytes)},
      {"vgprs", kernel.vgprs},
      {"agprs", kernel.agprs},
      {"sgprs", kernel.sgprs},
      {"scratch_bytes", static_cast<int64_t>(kernel.scratchBytes)},
      {"args", std::move(args)}};
}

static json::Value toJSON(const Contents &contents) {
  json::Object object{{"kind", stringify(contents.kind)},
                      {"buffer", contents.buffer},
                      {"limit", contents.limit.toJSON()}};
  if (!contents.longest.empty())
    object["longest"] = sizesToJSON(contents.longest);
  if (contents.kind == Contents::Kind::Page) {
    object["lengths"] = contents.lengths;
    object["page_size"] = contents.pageSize;
  }
  return object;
}

json::Value Manifest::toJSON() const {
  json::Array bufferList, kernelList, launchList;
  for (const Buffer &buffer : buffers) {
    json::Object object{{"name", buffer.name},
                        {"dtype", stringify(buffer.dtype)},
                        {"shape", sizesToJSON(buffer.shape)},
                        {"strides", sizesToJSON(buffer.strides)},
                        {"role", stringify(buffer.role)}};
    if (buffer.alignment != 1)
      object["alignment"] = static_cast<int64_t>(buffer.alignment);
    if (!buffer.reach.empty())
      object["reach"] = json::Array(buffer.reach);
    bufferList.push_back(std::move(object));
  }
  for (const Kernel &kernel : kernels)
    kernelList.push_back(::attn::manifest::toJSON(kernel));
  for (const Launch &launch : launches)
    launchList.push_back(json::Object{{"kernel", launch.kernel},
                                      {"grid", sizesToJSON(launch.grid)}});
  json::Object object{{"version", version},
                      {"chip", chip},
                      {"buffers", std::move(bufferList)},
                      {"kernels", std::move(kernelList)},
                      {"launches", std::move(launchList)}};
  json::Array multipleList, contentsList;
  for (const Multiple &multiple : multiples)
    multipleList.push_back(sizesToJSON(ArrayRef({multiple.lhs, multiple.rhs})));
  for (const Contents &rule : contents)
    contentsList.push_back(::attn::manifest::toJSON(rule));
  if (!multipleList.empty())
    object["multiples"] = std::move(multipleList);
  if (!contentsList.empty())
    object["contents"] = std::move(contentsList);
  return object;
}

void Manifest::print(raw_ostream &os) const {
  os << formatv("{0:2}", toJSON()) << '\n';
}

} // namespace attn::manifest
