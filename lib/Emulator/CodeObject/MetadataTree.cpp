//===- MetadataTree.cpp - MessagePack as a checked tree -------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetadataTree.h"
#include "llvm/BinaryFormat/MsgPackReader.h"
#include "llvm/Support/MemoryBufferRef.h"

using namespace attn::emu;
using namespace llvm;

/// Kernel metadata is five levels deep.
static constexpr unsigned maxDepth = 16;

const MetadataNode *MetadataNode::lookup(StringRef key) const {
  for (size_t n = 0; n < keys.size(); ++n)
    if (keys[n] == key)
      return &elements[n];
  return nullptr;
}

uint64_t MetadataNode::getInteger(StringRef key) const {
  const MetadataNode *node = lookup(key);
  return node && node->kind == Integer ? node->integer : 0;
}

StringRef MetadataNode::getString(StringRef key) const {
  const MetadataNode *node = lookup(key);
  return node && node->kind == String ? StringRef(node->string) : StringRef();
}

const std::vector<MetadataNode> &MetadataNode::getArray(StringRef key) const {
  static const std::vector<MetadataNode> empty;
  const MetadataNode *node = lookup(key);
  return node && node->kind == Array ? node->elements : empty;
}

static Error fail() {
  return createStringError("the metadata note is not valid MessagePack");
}

static Error parse(msgpack::Reader &reader, MetadataNode &node,
                   unsigned depth) {
  msgpack::Object object;
  auto more = reader.read(object);
  if (!more) {
    consumeError(more.takeError());
    return fail();
  }
  if (!*more || depth > maxDepth)
    return fail();
  switch (object.Kind) {
  case msgpack::Type::UInt:
    node.kind = MetadataNode::Integer;
    node.integer = object.UInt;
    return Error::success();
  case msgpack::Type::Int:
    node.kind = MetadataNode::Integer;
    node.integer = static_cast<uint64_t>(object.Int);
    return Error::success();
  case msgpack::Type::String:
    node.kind = MetadataNode::String;
    node.string = object.Raw.str();
    return Error::success();
  case msgpack::Type::Array:
    node.kind = MetadataNode::Array;
    // The claimed length may be a lie: grow as elements really come.
    for (size_t n = 0; n < object.Length; ++n)
      if (Error error = parse(reader, node.elements.emplace_back(), depth + 1))
        return error;
    return Error::success();
  case msgpack::Type::Map:
    node.kind = MetadataNode::Map;
    for (size_t n = 0; n < object.Length; ++n) {
      MetadataNode key;
      if (Error error = parse(reader, key, depth + 1))
        return error;
      if (key.kind != MetadataNode::String)
        return fail();
      node.keys.push_back(std::move(key.string));
      if (Error error = parse(reader, node.elements.emplace_back(), depth + 1))
        return error;
    }
    return Error::success();
  default:
    return Error::success();
  }
}

Expected<MetadataNode> attn::emu::parseMetadata(StringRef blob) {
  msgpack::Reader reader(MemoryBufferRef(blob, "metadata"));
  MetadataNode root;
  if (Error error = parse(reader, root, 0))
    return error;
  return root;
}
