//===- CheckLaunch.cpp - What has to hold beyond shapes -------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/Manifest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace llvm;

namespace attn::manifest {

Error Manifest::checkMultiples(const DimMap &dims) const {
  for (const Multiple &multiple : multiples) {
    Expected<int64_t> lhs = multiple.lhs.evaluate(dims);
    if (!lhs)
      return lhs.takeError();
    Expected<int64_t> rhs = multiple.rhs.evaluate(dims);
    if (!rhs)
      return rhs.takeError();
    if (*rhs <= 0 || *lhs % *rhs)
      return createStringError(
          formatv("expects the number of query heads to be a multiple of that "
                  "of key and value heads, but got {0} and {1}",
                  *lhs, *rhs));
  }
  return Error::success();
}

static Error wrongElement(StringRef buffer, size_t index, const Twine &expected,
                          int64_t got) {
  return createStringError("buffer '" + buffer + "': expects element " +
                           Twine(index) + " to be " + expected + ", but got " +
                           Twine(got));
}

static Error checkLengths(StringRef buffer, ArrayRef<int64_t> lengths,
                          int64_t limit) {
  for (auto [i, length] : enumerate(lengths))
    if (length < 0 || length > limit)
      return wrongElement(buffer, i, "0 to " + Twine(limit), length);
  return Error::success();
}

static Error checkStarts(StringRef buffer, ArrayRef<int64_t> starts,
                         int64_t limit, int64_t longest) {
  if (starts.empty())
    return createStringError(
        formatv("buffer '{0}': expects one number more than sequences, but got "
                "none",
                buffer));
  int64_t least = 0, most = 0;
  for (auto [i, start] : enumerate(starts)) {
    if (start < least || start > most) {
      std::string range = std::to_string(least);
      if (most > least)
        range += " to " + std::to_string(most);
      return wrongElement(buffer, i, range, start);
    }
    if (i && start - least > longest)
      return createStringError(
          formatv("buffer '{0}': expects sequences of at most {1}, for which "
                  "there is bias, mask or lse, but got one of {2}",
                  buffer, longest, start - least));
    least = start;
    most = limit;
  }
  return Error::success();
}

/// `lengths` has one number for all sequences, or as many as `table` has rows.
static Error checkPages(const Contents &rule, const Integers &table,
                        ArrayRef<int64_t> lengths, int64_t limit,
                        int64_t longest) {
  int64_t pages = table.shape[1];
  if (lengths.size() != 1 && int64_t(lengths.size()) != table.shape[0])
    return createStringError(
        formatv("buffer '{0}': expects a length for each of {1} rows of pages, "
                "but got {2}",
                rule.lengths, table.shape[0], lengths.size()));
  longest = std::min<uint64_t>(
      longest, SaturatingMultiply<uint64_t>(pages, rule.pageSize));
  if (Error error = checkLengths(rule.lengths, lengths, longest))
    return error;
  for (int64_t b = 0; b < table.shape[0]; ++b) {
    int64_t length = lengths.size() == 1 ? lengths[0] : lengths[b];
    for (int64_t p = 0; p < divideCeilSigned(length, rule.pageSize); ++p) {
      size_t i = b * pages + p;
      if (int64_t page = table.values[i]; page < 0 || page >= limit)
        return wrongElement(rule.buffer, i, "a page, 0 to " + Twine(limit - 1),
                            page);
    }
  }
  return Error::success();
}

static Error checkRule(const Contents &rule, const DimMap &dims,
                       IntegersFn read) {
  std::optional<Integers> numbers = read(rule.buffer);
  if (!numbers)
    return Error::success();
  Expected<int64_t> limit = rule.limit.evaluate(dims);
  if (!limit)
    return limit.takeError();
  int64_t longest = std::numeric_limits<int64_t>::max();
  for (const SizeExpr &size : rule.longest) {
    // That of a result may not be known before the launch.
    SmallVector<StringRef> names;
    size.getDims(names);
    if (any_of(names, [&](StringRef name) { return !dims.contains(name); }))
      continue;
    Expected<int64_t> value = size.evaluate(dims);
    if (!value)
      return value.takeError();
    longest = std::min(longest, *value);
  }
  switch (rule.kind) {
  case Contents::Kind::Length:
    return checkLengths(rule.buffer, numbers->values, *limit);
  case Contents::Kind::Cumulative:
    return checkStarts(rule.buffer, numbers->values, *limit, longest);
  case Contents::Kind::Page:
    if (std::optional<Integers> lengths = read(rule.lengths))
      return checkPages(rule, *numbers, lengths->values, *limit, longest);
    return Error::success();
  }
  llvm_unreachable("unknown kind");
}

Error Manifest::checkContents(const DimMap &dims, IntegersFn read) const {
  for (const Contents &rule : contents)
    if (Error error = checkRule(rule, dims, read))
      return error;
  return Error::success();
}

} // namespace attn::manifest
