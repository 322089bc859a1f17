//===- ReadManifest.cpp - The manifest from JSON --------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ManifestImpl.h"
#include "attn/Target/ParseJSON.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <limits>

using namespace llvm;

namespace attn::manifest {

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
             return f.symbol(symbolizeDType, "one of " + getDTypeNames());
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

} // namespace attn::manifest
