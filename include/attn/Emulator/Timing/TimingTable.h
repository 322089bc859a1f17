//===- TimingTable.h - The constants of the timing model --------*- C++ -*-===//
///
/// \file
/// One struct a chip, from Constants.def, which says what each number means,
/// its unit and its source.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_TIMING_TIMINGTABLE_H
#define ATTN_EMULATOR_TIMING_TIMINGTABLE_H

#include "attn/Emulator/Chip.h"
#include "llvm/Support/JSON.h"
#include <vector>

namespace attn::emu {

struct TimingTable {
  Chip chip = Chip::GFX942;
#define ATTN_TIMING_CONSTANT(name, gfx942, gfx950, unit, meaning, source)      \
  unsigned name = 0;
#include "attn/Emulator/Timing/Constants.def"

  /// The constants of \p chip.
  static TimingTable get(Chip chip);

  /// Applies "name=value[,name=value...]". Errors: unknown name, value that is
  /// no number, a zero where the model divides.
  llvm::Error set(llvm::StringRef text);

  /// Name to value.
  llvm::json::Object toJSON() const;
};

/// A named change of the table that shows how much a figure depends on what is
/// not known.
struct Sensitivity {
  /// "barrier 32 clk", ...
  const char *name;
  TimingTable table;
};

/// The changed tables that reports list: slow barrier (32 clk), MFMA operand
/// read + 4 clk, transcendentals x 1.5, these three together, half the LDS
/// bandwidth, twice the LDS latency, twice the memory latency.
std::vector<Sensitivity> getSensitivities(const TimingTable &table);

} // namespace attn::emu

#endif // ATTN_EMULATOR_TIMING_TIMINGTABLE_H
