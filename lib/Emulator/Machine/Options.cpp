//===- Options.cpp - What a launch may ask for ----------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/Options.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace attn::emu;
using namespace llvm;

static constexpr StringRef checkNames[numChecks] = {
    "bounds",  "unwritten", "uninitialized", "races",   "waits",
    "hazards", "alignment", "buffer-range",  "barriers"};

StringRef attn::emu::getCheckName(Check check) {
  return checkNames[static_cast<unsigned>(check)];
}

Expected<CheckSet> attn::emu::parseCheckSet(StringRef text) {
  CheckSet set;
  SmallVector<StringRef> parts;
  text.split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    bool remove = part.consume_front("-");
    if (part == "all" || part == "none") {
      set = (part == "all") != remove ? CheckSet::all() : CheckSet::none();
      continue;
    }
    bool known = false;
    for (unsigned n = 0; n < numChecks; ++n) {
      if (part != checkNames[n])
        continue;
      known = true;
      Check check = static_cast<Check>(n);
      remove ? set.remove(check) : set.add(check);
    }
    if (!known)
      return createStringError("expects checks out of none, all, " +
                               join(ArrayRef(checkNames), ", ") +
                               ", but got '" + part + "'");
  }
  return set;
}

static constexpr StringRef scheduleNames[] = {"round-robin", "reversed",
                                              "random"};

StringRef attn::emu::getScheduleName(Schedule schedule) {
  return scheduleNames[static_cast<unsigned>(schedule)];
}

Expected<Schedule> attn::emu::parseSchedule(StringRef text) {
  for (unsigned n = 0; n < 3; ++n)
    if (text == scheduleNames[n])
      return static_cast<Schedule>(n);
  return createStringError("expects a schedule out of " +
                           join(ArrayRef(scheduleNames), ", ") + ", but got '" +
                           text + "'");
}
