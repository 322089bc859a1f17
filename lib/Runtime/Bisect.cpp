//===- Bisect.cpp - The level that differs --------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Bisect.h"
#include "attn/Runtime/CompileModule.h"
#include "attn/Runtime/EmulatorDevice.h"
#include "attn/Runtime/HostBuffer.h"
#include "attn/Runtime/RunCPU.h"
#include "attn/Runtime/RunKernels.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;

namespace attn::rt {

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

static const fltSemantics *getSemantics(DType dtype) {
  switch (dtype) {
  case DType::F64:
    return &APFloat::IEEEdouble();
  case DType::F32:
    return &APFloat::IEEEsingle();
  case DType::F16:
    return &APFloat::IEEEhalf();
  case DType::BF16:
    return &APFloat::BFloat();
  case DType::F8E4M3FN:
    return &APFloat::Float8E4M3FN();
  case DType::F8E4M3FNUZ:
    return &APFloat::Float8E4M3FNUZ();
  case DType::F8E5M2:
    return &APFloat::Float8E5M2();
  case DType::F8E5M2FNUZ:
    return &APFloat::Float8E5M2FNUZ();
  default:
    return nullptr;
  }
}

/// The value of one element. Integers are exact up to 2^53.
static double readElement(DType dtype, const char *bytes) {
  unsigned width = manifest::getByteWidth(dtype);
  uint64_t bits = 0;
  memcpy(&bits, bytes, width);
  if (const fltSemantics *semantics = getSemantics(dtype))
    return APFloat(*semantics, APInt(width * 8, bits)).convertToDouble();
  return static_cast<double>(SignExtend64(bits, width * 8));
}

static std::vector<double> readAll(const ArrayView &array) {
  std::vector<double> values;
  forEachElement(array, [&](char *first, int64_t count, int64_t stride) {
    for (int64_t i = 0; i < count; ++i)
      values.push_back(readElement(array.dtype, first + i * stride));
  });
  return values;
}

static double getDistance(double expected, double actual, double scale) {
  if (std::isnan(expected) || std::isnan(actual))
    return std::isnan(expected) == std::isnan(actual) ? 0 : INFINITY;
  if (std::isinf(expected) || std::isinf(actual))
    return expected == actual ? 0 : INFINITY;
  return std::abs(expected - actual) / scale;
}

Difference compare(const ArrayView &expected, const ArrayView &actual) {
  assert(expected.shape == actual.shape && expected.dtype == actual.dtype);
  std::vector<double> e = readAll(expected), a = readAll(actual);
  double scale = 1;
  for (double value : e)
    if (std::isfinite(value))
      scale = std::max(scale, std::abs(value));
  Difference worst;
  size_t at = 0;
  for (size_t i = 0; i < e.size(); ++i) {
    double distance = getDistance(e[i], a[i], scale);
    if (distance > worst.distance) {
      worst.distance = distance;
      at = i;
    }
  }
  if (e.empty())
    return worst;
  worst.expected = e[at];
  worst.actual = a[at];
  worst.index.resize(expected.shape.size());
  for (size_t d = expected.shape.size(); d-- > 0;) {
    worst.index[d] = at % expected.shape[d];
    at /= expected.shape[d];
  }
  return worst;
}

static double getTolerance(DType dtype) {
  if (!getSemantics(dtype))
    return 0;
  return manifest::getByteWidth(dtype) <= 2 ? 0x1p-7 : 0x1p-14;
}

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

namespace {
/// Copies of the outputs of one level.
using Outputs = std::map<std::string, HostBuffer>;

struct Level {
  std::string name;
  std::function<Error(OutputSink)> run;
};
} // namespace

static std::vector<Level> makeLevels(StringRef path, StringRef entry,
                                     StringRef chip, const Bindings &bindings) {
  std::vector<Level> levels;
  auto addHost = [&](StringRef name, const CPUOptions &options) {
    levels.push_back({name.str(), [=, &bindings](OutputSink sink) {
                        return runOnCPU(path, entry, bindings, options, sink);
                      }});
  };
  // More rows and keys than memory holds: one tile is the whole problem.
  constexpr int64_t whole = int64_t(1) << 40;
  addHost("cpu, one tile", {/*optLevel=*/0, /*qTile=*/whole, whole});
  addHost("cpu, tiles", {/*optLevel=*/0});
  addHost("cpu, tiles, optimized", {/*optLevel=*/3});
  if (chip.empty())
    return levels;
  for (unsigned optLevel : {0, 3})
    levels.push_back(
        {(chip + ", code object" + (optLevel ? ", optimized" : "")).str(),
         [=, &bindings](OutputSink sink) -> Error {
           auto program = compileProgram(path, chip, entry, optLevel);
           if (!program)
             return program.takeError();
           auto model = emu::parseChip(chip);
           if (!model)
             return model.takeError();
           emu::Report report;
           EmulatorDevice device(*model, emu::LaunchOptions(), report);
           return runKernels(device, *program, "", bindings, sink);
         }});
  return levels;
}

static Expected<Outputs> runLevel(const Level &level) {
  Outputs outputs;
  Error error = level.run([&](StringRef name, const ArrayView &view) -> Error {
    auto copy = HostBuffer::create(name, view.dtype, view.shape,
                                   getContiguousStrides(view.shape));
    if (!copy)
      return copy.takeError();
    copy->assign(view);
    outputs.emplace(name.str(), std::move(*copy));
    return Error::success();
  });
  if (error)
    return error;
  return outputs;
}

/// What is wrong with a level, for the last line; empty if nothing is.
static std::string describeDifference(const Outputs &expected,
                                      const Outputs &actual, raw_ostream &os) {
  std::string problem;
  for (const auto &[name, reference] : expected) {
    auto found = actual.find(name);
    assert(found != actual.end() && "the sink gets every output");
    const ArrayView &e = reference.getView(), &a = found->second.getView();
    if (e.shape != a.shape || e.dtype != a.dtype) {
      os << "  " << name << " has another type";
      if (problem.empty())
        problem = "'" + name + "' has shape " + printShape(a.shape) + " of " +
                  manifest::stringify(a.dtype).str();
      continue;
    }
    Difference difference = compare(e, a);
    os << "  " << name << ' ' << llvm::format("%.1e", difference.distance);
    if (difference.distance <= getTolerance(e.dtype) || !problem.empty())
      continue;
    problem =
        formatv("'{0}' at [{1}] is {2} instead of {3}", name,
                join(map_range(difference.index,
                               [](int64_t i) { return std::to_string(i); }),
                     ", "),
                difference.actual, difference.expected);
  }
  return problem;
}

Error bisect(StringRef path, StringRef entry, StringRef chip,
             const Bindings &bindings, raw_ostream &os, OutputSink sink) {
  if (bindings.outputs.empty())
    return createStringError("--bisect expects --out NAME=FILE.npy of what it "
                             "is to compare");
  std::optional<Outputs> reference;
  std::string first, verdict;
  for (const Level &level : makeLevels(path, entry, chip, bindings)) {
    Expected<Outputs> outputs = runLevel(level);
    std::string problem;
    if (!outputs) {
      problem = toString(outputs.takeError());
      // Nothing to compare with: the input itself is at fault.
      if (!reference)
        return createStringError(problem);
    } else if (!reference) {
      os << llvm::formatv("{0,-32} reference\n", level.name);
      reference = std::move(*outputs);
      first = level.name;
      continue;
    } else {
      os << llvm::formatv("{0,-32}", level.name);
      problem = describeDifference(*reference, *outputs, os);
      os << (problem.empty() ? "  agrees\n" : "  DIFFERS\n");
    }
    if (!outputs)
      os << llvm::formatv("{0,-32} does not run\n", level.name);
    if (!problem.empty() && verdict.empty())
      verdict = "first difference at level '" + level.name + "': " + problem;
  }
  if (!verdict.empty())
    return createStringError(verdict);
  for (const auto &[name, buffer] : *reference)
    if (Error error = sink(name, buffer.getView()))
      return error;
  return Error::success();
}

} // namespace attn::rt
