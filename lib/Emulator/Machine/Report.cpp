//===- Report.cpp - What a launch found and counted -----------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/Report.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>

using namespace attn::emu;
using namespace llvm;

void Finding::print(raw_ostream &os) const {
  os << "check " << getCheckName(check) << ": " << message << '\n';
  if (!where.text.empty()) {
    os << formatv("  at {0:x} '{1}' in kernel '{2}', workgroup ({3}, {4}, "
                  "{5}), wave {6}",
                  where.pc, where.text, kernel, workgroup[0], workgroup[1],
                  workgroup[2], wave);
    if (lane >= 0)
      os << ", lane " << lane;
    os << '\n';
  }
  if (other) {
    os << formatv("  after {0:x} '{1}'", other->pc, other->text);
    if (otherWave)
      os << " of wave " << *otherWave;
    os << '\n';
  }
  if (count > 1)
    os << "  seen " << count << " times\n";
  if (!hint.empty())
    os << "  fix: " << hint << '\n';
}

static json::Value toJSON(const InstructionRef &ref) {
  return json::Object{{"address", static_cast<int64_t>(ref.pc)},
                      {"text", ref.text}};
}

json::Value Finding::toJSON() const {
  json::Object object{
      {"check", getCheckName(check)},
      {"message", message},
      {"hint", hint},
      {"kernel", kernel},
      {"workgroup", json::Array{workgroup[0], workgroup[1], workgroup[2]}},
      {"wave", wave},
      {"count", static_cast<int64_t>(count)}};
  if (lane >= 0)
    object["lane"] = lane;
  if (!where.text.empty())
    object["instruction"] = ::toJSON(where);
  if (other)
    object["other"] = ::toJSON(*other);
  if (otherWave)
    object["otherWave"] = *otherWave;
  return object;
}

StringRef attn::emu::getInstClassName(InstClass instClass) {
  static const char *const names[numInstClasses] = {
      "salu", "smem",    "valu",   "transcendental", "mfma", "lds",
      "vmem", "scratch", "branch", "barrier",        "wait", "other"};
  return names[static_cast<unsigned>(instClass)];
}

uint64_t Statistics::getTotalInstructions() const {
  return std::accumulate(instructions.begin(), instructions.end(), uint64_t(0));
}

Statistics &Statistics::operator+=(const Statistics &other) {
  workgroups += other.workgroups;
  waves += other.waves;
  for (unsigned n = 0; n < numInstClasses; ++n)
    instructions[n] += other.instructions[n];
  mfmaFlops += other.mfmaFlops;
  globalReadBytes += other.globalReadBytes;
  globalWriteBytes += other.globalWriteBytes;
  ldsReadBytes += other.ldsReadBytes;
  ldsWriteBytes += other.ldsWriteBytes;
  ldsDMABytes += other.ldsDMABytes;
  ldsBankConflicts += other.ldsBankConflicts;
  return *this;
}

void Statistics::print(raw_ostream &os) const {
  os << formatv("{0} workgroups, {1} waves, {2} instructions\n", workgroups,
                waves, getTotalInstructions());
  for (unsigned n = 0; n < numInstClasses; ++n)
    if (instructions[n])
      os << formatv("  {0,-16}{1}\n",
                    getInstClassName(static_cast<InstClass>(n)),
                    instructions[n]);
  os << formatv("  mfma flops      {0}\n", mfmaFlops)
     << formatv("  global bytes    {0} read, {1} written\n", globalReadBytes,
                globalWriteBytes)
     << formatv("  lds bytes       {0} read, {1} written, {2} by dma\n",
                ldsReadBytes, ldsWriteBytes, ldsDMABytes)
     << formatv("  lds conflicts   {0}\n", ldsBankConflicts);
}

json::Value Statistics::toJSON() const {
  json::Object classes;
  for (unsigned n = 0; n < numInstClasses; ++n)
    classes[getInstClassName(static_cast<InstClass>(n))] =
        static_cast<int64_t>(instructions[n]);
  auto number = [](uint64_t value) { return static_cast<int64_t>(value); };
  return json::Object{{"workgroups", number(workgroups)},
                      {"waves", number(waves)},
                      {"instructions", std::move(classes)},
                      {"totalInstructions", number(getTotalInstructions())},
                      {"mfmaFlops", number(mfmaFlops)},
                      {"globalReadBytes", number(globalReadBytes)},
                      {"globalWriteBytes", number(globalWriteBytes)},
                      {"ldsReadBytes", number(ldsReadBytes)},
                      {"ldsWriteBytes", number(ldsWriteBytes)},
                      {"ldsDMABytes", number(ldsDMABytes)},
                      {"ldsBankConflicts", number(ldsBankConflicts)}};
}

void Report::printFindings(raw_ostream &os) const {
  if (isClean())
    return;
  for (const Finding &finding : findings)
    finding.print(os);
  os << "checks failed:";
  for (unsigned n = 0; n < numChecks; ++n)
    if (counts[n])
      os << ' ' << getCheckName(static_cast<Check>(n)) << " x" << counts[n];
  os << " (schedule " << getScheduleName(schedule);
  if (schedule == Schedule::Random)
    os << ", seed " << seed;
  os << ")\n";
}

json::Value Report::toJSON() const {
  json::Array list;
  for (const Finding &finding : findings)
    list.push_back(finding.toJSON());
  json::Object totals;
  for (unsigned n = 0; n < numChecks; ++n)
    totals[getCheckName(static_cast<Check>(n))] =
        static_cast<int64_t>(counts[n]);
  return json::Object{{"clean", isClean()},
                      {"findings", std::move(list)},
                      {"counts", std::move(totals)},
                      {"schedule", getScheduleName(schedule)},
                      {"seed", static_cast<int64_t>(seed)},
                      {"statistics", statistics.toJSON()}};
}
