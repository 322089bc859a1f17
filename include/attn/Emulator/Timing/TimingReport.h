//===- TimingReport.h - Text, JSON, traces and pictures ---------*- C++ -*-===//
///
/// \file
/// Views of a CUTiming.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_TIMING_TIMINGREPORT_H
#define ATTN_EMULATOR_TIMING_TIMINGREPORT_H

#include "attn/Emulator/Timing/CUModel.h"
#include "llvm/Support/JSON.h"

namespace attn::emu {

/// The loop's clocks by SIMD, prologue and epilogue, and what each wave did
/// with its steady iterations.
void printTiming(const CUTiming &timing, llvm::raw_ostream &os);

/// {"kernel", "chip", "clocks", "workgroups", "iterations",
///  "iteration_clocks", "mfma_efficiency", "total_mfma_efficiency",
///  "prologue_clocks", "epilogue_clocks", "lds_conflicts",
///  "loop": {"begin", "end"} (addresses of its first and last instruction),
///  "simds": [{"iteration_clocks", "mfma_efficiency", "matrix_busy",
///             "vector_busy"}],
///  "waves": [{"workgroup", "wave", "simd", "begin", "end",
///             "steady": {activity: clocks an iteration}}]}
llvm::json::Object toJSON(const CUTiming &timing);

/// Trace Event JSON, which Perfetto and chrome://tracing read: a process a
/// SIMD with a track a wave and a pipe, one for what the SIMDs share. A
/// microsecond of the viewer is a clock. Of more than 8 iterations the middle
/// ones are left out. The timing needs events
/// (CUOptions::events).
void writePerfetto(const CUTiming &timing, llvm::raw_ostream &os);

/// A picture of SIMD 0 and the shared pipes in two steady iterations (or the
/// whole run without a loop), about 1200 x 300 pixels. Needs events.
void writeTimeline(const CUTiming &timing, llvm::raw_ostream &os);

} // namespace attn::emu

#endif // ATTN_EMULATOR_TIMING_TIMINGREPORT_H
