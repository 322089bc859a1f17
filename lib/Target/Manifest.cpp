//===- Manifest.cpp - What a launcher must know of a code object ----------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/Manifest.h"
#include "attn/Target/ParseJSON.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>
#include <limits>

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
constexpr uint64_t maxBytes = uint64_t(1) << 48;
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

static std::string dtypeNames() {
  return join(map_range(dtypeTable, [](const DTypeRow &r) { return r.name; }),
              ", ");
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Error fieldError(const Twine &path, const Twine &message) {
  return createStringError(path + ": " + message);
}

/// What a wrong value is, short enough for one line.
static std::string describe(const json::Value &value) {
  switch (value.kind()) {
  case json::Value::Null:
    return "null";
  case json::Value::Boolean:
    return *value.getAsBoolean() ? "true" : "false";
  case json::Value::Number:
    return formatv("{0}", value);
  case json::Value::String: {
    std::string text = formatv("{0}", value);
    return text.size() > 60 ? text.substr(0, 60) + "...\"" : text;
  }
  case json::Value::Array:
    return formatv("an array of {0}", value.getAsArray()->size());
  case json::Value::Object:
    return "an object";
  }
  return "nothing";
}

namespace {
/// A JSON value and where it stands. Accessors return the first error.
struct Cursor {
  const json::Value *value;
  std::string path;

  Error expected(const Twine &what) const {
    return fieldError(path.empty() ? "manifest" : path,
                      "expects " + what + ", but got " +
                          (value ? describe(*value) : "nothing"));
  }

  /// The field `key`, of value null when absent.
  Expected<Cursor> field(StringRef key) const {
    const json::Object *object = value ? value->getAsObject() : nullptr;
    if (!object)
      return expected("an object");
    return Cursor{object->get(key),
                  path.empty() ? key.str() : path + "." + key.str()};
  }

  Expected<std::string> string() const {
    std::optional<StringRef> text = value ? value->getAsString() : std::nullopt;
    // Names are part of one-line messages.
    if (!text || any_of(*text, [](unsigned char c) { return c < ' '; }))
      return expected("a string without control characters");
    return text->str();
  }

  template <typename Enum>
  Expected<Enum> symbol(std::optional<Enum> (*symbolize)(StringRef),
                        const Twine &what) const {
    std::optional<StringRef> text = value ? value->getAsString() : std::nullopt;
    std::optional<Enum> result =
        text ? symbolize(*text) : std::optional<Enum>();
    if (!result)
      return expected(what);
    return *result;
  }

  /// An integer from 0 to the maximum of T.
  template <typename T> Expected<T> natural() const {
    std::optional<int64_t> number =
        value ? value->getAsInteger() : std::nullopt;
    if (!number || *number < 0 ||
        static_cast<uint64_t>(*number) > std::numeric_limits<T>::max())
      return expected("a non-negative integer");
    return static_cast<T>(*number);
  }

  Expected<SizeExpr> size() const {
    if (value) {
      // getAsInteger also takes 3.0; getAsString comes second.
      if (std::optional<int64_t> number = value->getAsInteger())
        return SizeExpr(*number);
      if (std::optional<StringRef> text = value->getAsString()) {
        Expected<SizeExpr> expr = SizeExpr::parse(*text);
        if (!expr)
          return fieldError(path, toString(expr.takeError()));
        return expr;
      }
    }
    return expected("an integer or a size expression");
  }

  Expected<std::vector<Cursor>> array() const {
    const json::Array *elements = value ? value->getAsArray() : nullptr;
    if (!elements)
      return expected("an array");
    std::vector<Cursor> result;
    for (auto [i, element] : enumerate(*elements))
      result.push_back({&element, path + "[" + std::to_string(i) + "]"});
    return result;
  }
};

/// Reads fields one after the other and keeps the first error.
class Reader {
public:
  explicit Reader(Cursor at) : at(std::move(at)) {}

  /// Assigns `read(field)` to `out` unless something failed before.
  template <typename T, typename Read>
  Reader &get(StringRef key, T &out, Read read) {
    if (failure)
      return *this;
    Expected<Cursor> field = at.field(key);
    if (!field) {
      failure = field.takeError();
      return *this;
    }
    auto result = read(*field);
    if (!result)
      failure = result.takeError();
    else
      out = std::move(*result);
    return *this;
  }

  /// Same for a list; `read` is called for every element.
  template <typename List, typename Read>
  Reader &list(StringRef key, List &out, Read read) {
    std::vector<Cursor> elements;
    get(key, elements, [](const Cursor &c) { return c.array(); });
    for (const Cursor &element : elements) {
      if (failure)
        break;
      auto result = read(element);
      if (!result)
        failure = result.takeError();
      else
        out.push_back(std::move(*result));
    }
    return *this;
  }

  bool has(StringRef key) const {
    const json::Object *object = at.value ? at.value->getAsObject() : nullptr;
    return object && object->get(key);
  }

  Error take() { return std::move(failure); }

private:
  Cursor at;
  Error failure = Error::success();
};

auto readString = [](const Cursor &c) { return c.string(); };
auto readSize = [](const Cursor &c) { return c.size(); };
auto readU32 = [](const Cursor &c) { return c.natural<uint32_t>(); };
// JSON integers are signed here: 2^63 - 1 is the largest.
auto readU64 = [](const Cursor &c) -> Expected<uint64_t> {
  Expected<int64_t> value = c.natural<int64_t>();
  if (!value)
    return value.takeError();
  return *value;
};
} // namespace

template <typename T, typename Read>
static Expected<std::array<T, 3>> readTriple(const Cursor &c, Read read) {
  Expected<std::vector<Cursor>> elements = c.array();
  if (!elements)
    return elements.takeError();
  if (elements->size() != 3)
    return c.expected("an array of 3");
  std::array<T, 3> result;
  for (auto [out, element] : zip_equal(result, *elements)) {
    Expected<T> value = read(element);
    if (!value)
      return value.takeError();
    out = *value;
  }
  return result;
}

static Expected<Buffer> readBuffer(const Cursor &c) {
  Buffer buffer;
  Reader reader(c);
  reader.get("name", buffer.name, readString)
      .get("dtype", buffer.dtype,
           [](const Cursor &f) {
             return f.symbol(symbolizeDType, "one of " + dtypeNames());
           })
      .list("shape", buffer.shape, readSize)
      .list("strides", buffer.strides, readSize)
      .get("role", buffer.role, [](const Cursor &f) {
        return f.symbol(symbolizeRole, "input, output or workspace");
      });
  if (reader.has("alignment"))
    reader.get("alignment", buffer.alignment, readU64);
  if (reader.has("reach"))
    reader.list("reach", buffer.reach, readU64);
  if (Error error = reader.take())
    return error;
  return buffer;
}

static Expected<std::variant<SizeExpr, double>> readValue(const Cursor &c) {
  if (c.value && !c.value->getAsInteger())
    if (std::optional<double> number = c.value->getAsNumber())
      return *number;
  Expected<SizeExpr> size = c.size();
  if (!size)
    return size.takeError();
  return *size;
}

static Expected<Arg> readArg(const Cursor &c) {
  Arg arg;
  Reader reader(c);
  reader.get("name", arg.name, readString)
      .get("kind", arg.kind,
           [](const Cursor &f) {
             return f.symbol(symbolizeArgKind, "pointer, i32, i64 or f32");
           })
      .get("offset", arg.offset, readU64)
      .get("size", arg.size, readU64);
  if (reader.has("buffer"))
    reader.get("buffer", arg.buffer, readString);
  if (reader.has("value"))
    reader.get("value", arg.value, readValue);
  if (Error error = reader.take())
    return error;
  return arg;
}

static Expected<Kernel> readKernel(const Cursor &c) {
  Kernel kernel;
  Reader reader(c);
  reader.get("name", kernel.name, readString)
      .get("block", kernel.block,
           [](const Cursor &f) { return readTriple<uint32_t>(f, readU32); })
      .get("lds_bytes", kernel.ldsBytes, readU64)
      .get("kernarg_bytes", kernel.kernargBytes, readU64)
      .get("vgprs", kernel.vgprs, readU32)
      .get("agprs", kernel.agprs, readU32)
      .get("sgprs", kernel.sgprs, readU32)
      .get("scratch_bytes", kernel.scratchBytes, readU64)
      .list("args", kernel.args, readArg);
  if (Error error = reader.take())
    return error;
  return kernel;
}

static Expected<Launch> readLaunch(const Cursor &c) {
  Launch launch;
  Reader reader(c);
  reader.get("kernel", launch.kernel, readString)
      .get("grid", launch.grid,
           [](const Cursor &f) { return readTriple<SizeExpr>(f, readSize); });
  if (Error error = reader.take())
    return error;
  return launch;
}

static Expected<Multiple> readMultiple(const Cursor &c) {
  Expected<std::vector<Cursor>> pair = c.array();
  if (!pair)
    return pair.takeError();
  if (pair->size() != 2)
    return c.expected("an array of 2");
  Expected<SizeExpr> lhs = pair->front().size();
  if (!lhs)
    return lhs.takeError();
  Expected<SizeExpr> rhs = pair->back().size();
  if (!rhs)
    return rhs.takeError();
  return Multiple{*lhs, *rhs};
}

static Expected<Contents> readContents(const Cursor &c) {
  Contents contents;
  Reader reader(c);
  reader
      .get("kind", contents.kind,
           [](const Cursor &f) {
             return f.symbol(symbolizeContentsKind,
                             "length, cumulative or page");
           })
      .get("buffer", contents.buffer, readString)
      .get("limit", contents.limit, readSize);
  if (reader.has("longest"))
    reader.list("longest", contents.longest, readSize);
  if (contents.kind == Contents::Kind::Page)
    reader.get("lengths", contents.lengths, readString)
        .get("page_size", contents.pageSize,
             [](const Cursor &f) { return f.natural<int64_t>(); });
  if (Error error = reader.take())
    return error;
  return contents;
}

Expected<Manifest> Manifest::fromJSON(const json::Value &value) {
  Manifest manifest;
  Reader reader({&value, ""});
  reader.get("version", manifest.version,
             [](const Cursor &f) { return f.natural<int64_t>(); });
  if (Error error = reader.take())
    return error;
  if (manifest.version != currentVersion)
    return fieldError("version", formatv("expects {0}, but got {1}",
                                         currentVersion, manifest.version));
  reader.get("chip", manifest.chip, readString)
      .list("buffers", manifest.buffers, readBuffer)
      .list("kernels", manifest.kernels, readKernel)
      .list("launches", manifest.launches, readLaunch);
  if (reader.has("multiples"))
    reader.list("multiples", manifest.multiples, readMultiple);
  if (reader.has("contents"))
    reader.list("contents", manifest.contents, readContents);
  if (Error error = reader.take())
    return error;
  if (Error error = manifest.validate())
    return error;
  return manifest;
}

Expected<Manifest> Manifest::parse(StringRef text) {
  Expected<json::Value> value = parseJSON(text);
  if (!value)
    return fieldError("manifest", toString(value.takeError()));
  return fromJSON(*value);
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

//===----------------------------------------------------------------------===//
// Validation
//===----------------------------------------------------------------------===//

const Buffer *Manifest::findBuffer(StringRef name) const {
  auto it = find_if(buffers, [&](const Buffer &b) { return b.name == name; });
  return it == buffers.end() ? nullptr : &*it;
}

const Kernel *Manifest::findKernel(StringRef name) const {
  auto it = find_if(kernels, [&](const Kernel &k) { return k.name == name; });
  return it == kernels.end() ? nullptr : &*it;
}

static Error checkNegative(const SizeExpr &size, const Twine &path) {
  std::optional<int64_t> value = size.getConstant();
  if (value && *value < 0)
    return fieldError(
        path, formatv("expects a non-negative integer, but got {0}", *value));
  return Error::success();
}

static Error validateBuffer(const Buffer &buffer, const std::string &path) {
  // A page: more than any load needs.
  constexpr uint64_t maxAlignment = 4096;
  if (!isPowerOf2_64(buffer.alignment) || buffer.alignment > maxAlignment)
    return fieldError(path + ".alignment",
                      formatv("expects a power of two up to {0}, but got {1}",
                              maxAlignment, buffer.alignment));
  if (buffer.shape.size() != buffer.strides.size())
    return fieldError(path + ".strides",
                      formatv("expects one stride a dimension of shape, but "
                              "got {0} for {1}",
                              buffer.strides.size(), buffer.shape.size()));
  if (!buffer.reach.empty() && buffer.reach.size() != buffer.shape.size())
    return fieldError(path + ".reach",
                      formatv("expects one count a dimension of shape, but got "
                              "{0} for {1}",
                              buffer.reach.size(), buffer.shape.size()));
  for (auto [i, count] : enumerate(buffer.reach))
    if (count == 0)
      return fieldError(path + ".reach[" + Twine(i) + "]",
                        "expects a positive integer, but got 0");
  for (auto [i, sizes] : enumerate(zip(buffer.shape, buffer.strides))) {
    if (Error error = checkNegative(std::get<0>(sizes),
                                    path + ".shape[" + Twine(i) + "]"))
      return error;
    if (Error error = checkNegative(std::get<1>(sizes),
                                    path + ".strides[" + Twine(i) + "]"))
      return error;
  }
  return Error::success();
}

static Error validateArg(const Manifest &manifest, const Kernel &kernel,
                         const Arg &arg, const std::string &path) {
  unsigned size = getByteWidth(arg.kind);
  if (arg.size != size)
    return fieldError(path + ".size",
                      formatv("expects {0} for {1}, but got {2}", size,
                              stringify(arg.kind), arg.size));
  if (arg.offset % size != 0)
    return fieldError(
        path + ".offset",
        formatv("expects a multiple of {0}, but got {1}", size, arg.offset));
  if (arg.offset > kernel.kernargBytes ||
      kernel.kernargBytes - arg.offset < size)
    return fieldError(path + ".offset",
                      formatv("expects {0} bytes inside kernarg_bytes {1}, but "
                              "got offset {2}",
                              size, kernel.kernargBytes, arg.offset));
  if (arg.kind == ArgKind::Pointer) {
    if (!arg.buffer)
      return fieldError(path, arg.value ? "expects buffer for a pointer, but "
                                          "got a value alone"
                                        : "expects buffer for a pointer, but "
                                          "got nothing");
    if (arg.value && !std::holds_alternative<SizeExpr>(*arg.value))
      return fieldError(path + ".value", "expects a byte offset for a pointer");
  } else if (arg.buffer.has_value() == arg.value.has_value()) {
    return fieldError(path, arg.buffer
                                ? "expects buffer or value, but got both"
                                : "expects buffer or value, but got neither");
  }
  if (arg.value && !arg.buffer) {
    const auto *number = std::get_if<double>(&*arg.value);
    if (number && arg.kind != ArgKind::F32)
      return fieldError(path + ".value",
                        formatv("expects an integer or a size expression for "
                                "{0}, but got {1}",
                                stringify(arg.kind), json::Value(*number)));
    if (number && !(std::abs(*number) <= std::numeric_limits<float>::max()))
      return fieldError(
          path + ".value",
          formatv("expects a finite f32, but got {0:e}", *number));
    return Error::success();
  }
  const Buffer *buffer = manifest.findBuffer(*arg.buffer);
  if (!buffer)
    return fieldError(path + ".buffer",
                      "expects the name of a buffer, but got '" + *arg.buffer +
                          "'");
  if (arg.kind == ArgKind::Pointer)
    return Error::success();
  if (stringify(buffer->dtype) != stringify(arg.kind))
    return fieldError(path + ".buffer",
                      formatv("expects a buffer of dtype {0}, but got '{1}' of "
                              "{2}",
                              stringify(arg.kind), buffer->name,
                              stringify(buffer->dtype)));
  if (!all_of(buffer->shape,
              [](const SizeExpr &s) { return s.getConstant() == 1; }))
    return fieldError(path + ".buffer",
                      "expects a buffer of one element for a scalar, but got "
                      "'" +
                          buffer->name + "'");
  if (buffer->role != Role::Input)
    return fieldError(path + ".buffer",
                      formatv("expects an input for a scalar, but got '{0}' of "
                              "role {1}",
                              buffer->name, stringify(buffer->role)));
  return Error::success();
}

static Error validateKernel(const Manifest &manifest, const Kernel &kernel,
                            const std::string &path) {
  uint64_t threads = 1;
  for (uint32_t extent : kernel.block) {
    // 1024 is the largest workgroup of every AMD chip.
    if (extent == 0 || extent > 1024 || (threads *= extent) > 1024)
      return fieldError(path + ".block",
                        formatv("expects 1 to 1024 work-items, but got "
                                "[{0}, {1}, {2}]",
                                kernel.block[0], kernel.block[1],
                                kernel.block[2]));
  }
  constexpr uint64_t maxKernarg = 1 << 20;
  if (kernel.kernargBytes > maxKernarg)
    return fieldError(path + ".kernarg_bytes",
                      formatv("expects at most {0}, but got {1}", maxKernarg,
                              kernel.kernargBytes));
  StringSet<> names;
  for (auto [i, arg] : enumerate(kernel.args)) {
    std::string argPath = path + ".args[" + std::to_string(i) + "]";
    if (!names.insert(arg.name).second)
      return fieldError(argPath + ".name",
                        "expects a new name, but got '" + arg.name + "' again");
    if (Error error = validateArg(manifest, kernel, arg, argPath))
      return error;
  }
  SmallVector<const Arg *> sorted(make_pointer_range(kernel.args));
  sort(sorted,
       [](const Arg *a, const Arg *b) { return a->offset < b->offset; });
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i - 1]->offset + sorted[i - 1]->size > sorted[i]->offset)
      return fieldError(path + ".args", "expects disjoint arguments, but '" +
                                            sorted[i - 1]->name + "' and '" +
                                            sorted[i]->name + "' overlap");
  return Error::success();
}

static Error validateContents(const Manifest &manifest, const Contents &rule,
                              const std::string &path) {
  auto checkBuffer = [&](StringRef name, StringRef field) -> Error {
    const Buffer *buffer = manifest.findBuffer(name);
    if (!buffer)
      return fieldError(path + "." + field,
                        "expects the name of a buffer, but got '" + name + "'");
    if (buffer->dtype != DType::I32 && buffer->dtype != DType::I64)
      return fieldError(path + "." + field,
                        "expects a buffer of i32 or i64, but got '" + name +
                            "' of " + stringify(buffer->dtype));
    return Error::success();
  };
  if (Error error = checkBuffer(rule.buffer, "buffer"))
    return error;
  if (rule.kind != Contents::Kind::Page)
    return Error::success();
  if (rule.pageSize <= 0)
    return fieldError(
        path + ".page_size",
        formatv("expects a positive integer, but got {0}", rule.pageSize));
  size_t rank = manifest.findBuffer(rule.buffer)->shape.size();
  if (rank != 2)
    return fieldError(path + ".buffer",
                      formatv("expects a buffer of rank 2 for pages, but got "
                              "'{0}' of rank {1}",
                              rule.buffer, rank));
  return checkBuffer(rule.lengths, "lengths");
}

Error Manifest::validate() const {
  StringSet<> names;
  for (auto [i, buffer] : enumerate(buffers)) {
    std::string path = "buffers[" + std::to_string(i) + "]";
    if (buffer.name.empty())
      return fieldError(path + ".name", "expects a name, but got \"\"");
    if (!names.insert(buffer.name).second)
      return fieldError(path + ".name", "expects a new name, but got '" +
                                            buffer.name + "' again");
    if (Error error = validateBuffer(buffer, path))
      return error;
  }
  names.clear();
  for (auto [i, kernel] : enumerate(kernels)) {
    std::string path = "kernels[" + std::to_string(i) + "]";
    if (kernel.name.empty())
      return fieldError(path + ".name", "expects a name, but got \"\"");
    if (!names.insert(kernel.name).second)
      return fieldError(path + ".name", "expects a new name, but got '" +
                                            kernel.name + "' again");
    if (Error error = validateKernel(*this, kernel, path))
      return error;
  }
  for (auto [i, launch] : enumerate(launches)) {
    std::string path = "launches[" + std::to_string(i) + "]";
    if (!findKernel(launch.kernel))
      return fieldError(path + ".kernel",
                        "expects the name of a kernel, but got '" +
                            launch.kernel + "'");
    // An expression may well come out as 0, then nothing is launched; a 0 that
    // is written down is a mistake.
    for (auto [d, extent] : enumerate(launch.grid))
      if (std::optional<int64_t> value = extent.getConstant();
          value && *value <= 0)
        return fieldError(
            path + ".grid[" + std::to_string(d) + "]",
            formatv("expects a positive integer, but got {0}", *value));
  }
  for (auto [i, rule] : enumerate(contents))
    if (Error error = validateContents(*this, rule,
                                       "contents[" + std::to_string(i) + "]"))
      return error;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

Expected<DimMap>
Manifest::inferDims(const StringMap<SmallVector<int64_t>> &shapes) const {
  DimMap dims;
  // Where a name got its value, for the message about a contradiction.
  StringMap<std::string> origin;

  for (const auto &entry : shapes)
    if (!findBuffer(entry.getKey()))
      return fieldError("buffers", "expects the name of a buffer, but got '" +
                                       entry.getKey() + "'");

  // Names first, in the order of the file, so that expressions can use a name
  // that a later buffer defines.
  for (const Buffer &buffer : buffers) {
    auto it = shapes.find(buffer.name);
    if (it == shapes.end())
      continue;
    ArrayRef<int64_t> shape = it->second;
    if (shape.size() != buffer.shape.size())
      return createStringError(
          formatv("buffer '{0}': expects rank {1}, but got {2}", buffer.name,
                  buffer.shape.size(), shape.size()));
    for (auto [i, size] : enumerate(buffer.shape)) {
      std::optional<StringRef> name = size.getDim();
      if (!name)
        continue;
      if (dims.try_emplace(*name, shape[i]).second)
        origin[*name] = formatv("dimension {0} of '{1}'", i, buffer.name);
    }
  }
  for (const Buffer &buffer : buffers) {
    auto it = shapes.find(buffer.name);
    if (it == shapes.end())
      continue;
    for (auto [i, size] : enumerate(buffer.shape)) {
      Expected<int64_t> expected = size.evaluate(dims);
      if (!expected)
        return createStringError(formatv("buffer '{0}': dimension {1}: {2}",
                                         buffer.name, i,
                                         toString(expected.takeError())));
      if (*expected == it->second[i])
        continue;
      std::string source;
      if (std::optional<StringRef> name = size.getDim())
        source = formatv(" ({0}, from {1})", *name, origin[*name]);
      else if (!size.getConstant())
        source = " (" + size.str() + ")";
      return createStringError(
          formatv("buffer '{0}': expects dimension {1} to be {2}{3}, but got "
                  "{4}",
                  buffer.name, i, *expected, source, it->second[i]));
    }
  }

  for (const Buffer &buffer : buffers) {
    if (none_of(buffer.strides, [&](const SizeExpr &s) {
          return s.getDim() && !dims.contains(*s.getDim());
        }))
      continue;
    int64_t contiguous = 1;
    for (size_t i = buffer.shape.size(); i-- > 0;) {
      std::optional<StringRef> name = buffer.strides[i].getDim();
      if (name)
        dims.try_emplace(*name, contiguous);
      Expected<int64_t> extent = buffer.shape[i].evaluate(dims);
      Expected<int64_t> stride = buffer.strides[i].evaluate(dims);
      int64_t next = 0;
      if (!extent || !stride ||
          MulOverflow(*stride, std::max<int64_t>(*extent, 1), next)) {
        // Left to `resolve`, which reports it if the buffer is used.
        consumeError(extent.takeError());
        consumeError(stride.takeError());
        break;
      }
      contiguous = next;
    }
  }
  return dims;
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

int64_t ResolvedBuffer::getNumElements() const {
  if (is_contained(shape, 0))
    return 0;
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

Expected<ResolvedBuffer> resolve(const Buffer &buffer, const DimMap &dims) {
  ResolvedBuffer result;
  result.buffer = &buffer;
  auto evaluate = [&](const SizeExpr &size, StringRef what,
                      size_t i) -> Expected<int64_t> {
    Expected<int64_t> value = size.evaluate(dims);
    if (!value)
      return createStringError(formatv("buffer '{0}': {1} {2}: {3}",
                                       buffer.name, what, i,
                                       toString(value.takeError())));
    if (*value < 0)
      return createStringError(
          formatv("buffer '{0}': expects {1} {2} to be non-negative, but got "
                  "{3}",
                  buffer.name, what, i, *value));
    return value;
  };
  auto tooLarge = [&] {
    return createStringError(
        formatv("buffer '{0}': expects at most 2^48 bytes", buffer.name));
  };

  uint64_t last = 0;
  int64_t count = 1;
  bool overflow = false, empty = false;
  for (auto [i, sizes] : enumerate(zip(buffer.shape, buffer.strides))) {
    Expected<int64_t> extent = evaluate(std::get<0>(sizes), "dimension", i);
    if (!extent)
      return extent.takeError();
    Expected<int64_t> stride = evaluate(std::get<1>(sizes), "stride", i);
    if (!stride)
      return stride.takeError();
    result.shape.push_back(*extent);
    result.strides.push_back(*stride);
    empty |= *extent == 0;
    int64_t reach;
    overflow |=
        MulOverflow(std::max<int64_t>(*extent - 1, 0), *stride, reach) != 0;
    overflow |= MulOverflow(count, std::max<int64_t>(*extent, 1), count) != 0;
    overflow |= reach > int64_t(maxBytes) || count > int64_t(maxBytes);
    if (!overflow)
      last += reach;
    overflow |= last > maxBytes;
  }
  if (empty)
    return result;
  if (overflow)
    return tooLarge();
  result.bytes = (last + 1) * getByteWidth(buffer.dtype);
  if (result.bytes > maxBytes)
    return tooLarge();
  return result;
}

Expected<std::array<uint32_t, 3>> resolveGrid(const Launch &launch,
                                              const DimMap &dims) {
  constexpr int64_t limits[3] = {2147483647, 65535, 65535};
  std::array<uint32_t, 3> grid;
  for (unsigned i = 0; i < 3; ++i) {
    Expected<int64_t> extent = launch.grid[i].evaluate(dims);
    if (!extent)
      return createStringError(formatv("launch of '{0}': grid {1}: {2}",
                                       launch.kernel, "xyz"[i],
                                       toString(extent.takeError())));
    if (*extent < 0 || *extent > limits[i])
      return createStringError(
          formatv("launch of '{0}': expects grid {1} from 0 to {2}, but got "
                  "{3}",
                  launch.kernel, "xyz"[i], limits[i], *extent));
    grid[i] = static_cast<uint32_t>(*extent);
  }
  return grid;
}

/// The bits of a scalar argument.
static Expected<uint64_t> evaluateValue(const Arg &arg, const DimMap &dims) {
  auto toF32 = [](double value) {
    float narrow = static_cast<float>(value);
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof(bits));
    return uint64_t(bits);
  };
  if (const auto *number = std::get_if<double>(&*arg.value))
    return toF32(*number);
  Expected<int64_t> value = std::get<SizeExpr>(*arg.value).evaluate(dims);
  if (!value)
    return value.takeError();
  if (arg.kind == ArgKind::F32)
    return toF32(static_cast<double>(*value));
  // Either signedness: a kernel may read an i32 as unsigned.
  if (arg.kind == ArgKind::I32 && !isInt<32>(*value) && !isUInt<32>(*value))
    return createStringError(formatv("expects 32 bits, but got {0}", *value));
  return static_cast<uint64_t>(*value);
}

Expected<std::vector<uint8_t>> packKernarg(const Kernel &kernel,
                                           const DimMap &dims,
                                           AddressFn address, ScalarFn scalar) {
  std::vector<uint8_t> bytes(kernel.kernargBytes, 0);
  for (const Arg &arg : kernel.args) {
    Expected<uint64_t> bits = arg.kind == ArgKind::Pointer
                                  ? address(*arg.buffer)
                              : arg.buffer ? scalar(*arg.buffer)
                                           : evaluateValue(arg, dims);
    if (bits && arg.kind == ArgKind::Pointer && arg.value) {
      // A view: so many bytes behind the start of the buffer.
      Expected<int64_t> offset = std::get<SizeExpr>(*arg.value).evaluate(dims);
      if (offset)
        *bits += *offset;
      else
        bits = offset.takeError();
    }
    if (!bits)
      return createStringError(formatv("kernel '{0}': argument '{1}': {2}",
                                       kernel.name, arg.name,
                                       toString(bits.takeError())));
    for (uint64_t i = 0; i < arg.size; ++i)
      bytes[arg.offset + i] = static_cast<uint8_t>(*bits >> (8 * i));
  }
  return bytes;
}

} // namespace attn::manifest
