//===- Perfetto.cpp - Trace Event JSON ------------------------------------===//
//
// Format: "Trace Event Format" of the Chromium project.
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/Timing/TimingReport.h"
#include "llvm/Support/FormatVariadic.h"

using namespace attn::emu;
using namespace llvm;

/// The process of what the SIMDs share.
static constexpr unsigned sharedProcess = 100;

static const char *const pipeNames[] = {"vector pipe", "matrix pipe", "LDS",
                                        "vector memory"};

void attn::emu::writePerfetto(const CUTiming &timing, raw_ostream &os) {
  json::OStream j(os);
  auto meta = [&](StringRef kind, unsigned process, unsigned thread,
                  const Twine &name) {
    j.object([&] {
      j.attribute("ph", "M");
      j.attribute("name", kind);
      j.attribute("pid", process);
      j.attribute("tid", thread);
      j.attributeObject("args", [&] { j.attribute("name", name.str()); });
    });
  };
  auto complete = [&](StringRef name, StringRef category, unsigned process,
                      unsigned thread, uint64_t begin, uint64_t end,
                      function_ref<void()> args) {
    j.object([&] {
      j.attribute("ph", "X");
      j.attribute("name", name);
      j.attribute("cat", category);
      j.attribute("pid", process);
      j.attribute("tid", thread);
      j.attribute("ts", int64_t(begin));
      j.attribute("dur", int64_t(end - begin));
      if (args)
        j.attributeObject("args", args);
    });
  };
  const TimedProgram &program = *timing.program;
  // All steady iterations look alike; a long run would be a file that no viewer
  // likes.
  uint64_t skipBegin = ~uint64_t(0), skipEnd = 0;
  for (const WaveTiming &wave : timing.waves)
    if (size_t n = wave.iterations.size(); n > 8) {
      skipBegin = std::min(skipBegin, wave.iterations[5].begin);
      skipEnd = std::max(skipEnd, wave.iterations[n - 2].begin);
    }
  auto isSkipped = [&](uint64_t begin) {
    return begin >= skipBegin && begin < skipEnd;
  };
  auto thread = [&](const WaveTiming &wave) {
    return 10 + wave.workgroup * 32 + wave.wave;
  };
  j.object([&] {
    j.attribute("displayTimeUnit", "ns");
    j.attributeObject("otherData", [&] {
      j.attribute("kernel", program.kernel);
      j.attribute("chip", getChipName(program.chip));
      j.attribute("unit", "1 us = 1 clk");
    });
    j.attributeArray("traceEvents", [&] {
      for (size_t n = 0; n < timing.simds.size(); ++n) {
        meta("process_name", n, 0, "SIMD " + Twine(n));
        for (Pipe pipe : {Pipe::Vector, Pipe::Matrix})
          meta("thread_name", n, static_cast<unsigned>(pipe),
               pipeNames[static_cast<unsigned>(pipe)]);
      }
      meta("process_name", sharedProcess, 0, "compute unit");
      for (Pipe pipe : {Pipe::LDS, Pipe::Memory})
        meta("thread_name", sharedProcess, static_cast<unsigned>(pipe),
             pipeNames[static_cast<unsigned>(pipe)]);
      for (const WaveTiming &wave : timing.waves)
        meta("thread_name", wave.simd, thread(wave),
             "workgroup " + Twine(wave.workgroup) + " wave " +
                 Twine(wave.wave));
      for (const IssueEvent &event : timing.issueEvents) {
        if (isSkipped(event.begin))
          continue;
        const TimedOp &op = program.ops[event.op];
        const WaveTiming &wave = timing.waves[event.wave];
        complete(StringRef(op.text).split(' ').first, getIssueUnitName(op.unit),
                 wave.simd, thread(wave), event.begin, event.end, [&] {
                   j.attribute("pc", formatv("{0:x-}", op.pc).str());
                   j.attribute("text", op.text);
                 });
      }
      for (const StallEvent &event : timing.stallEvents) {
        // What lies inside the instruction's own event is shown by that.
        if (isSkipped(event.begin) || event.activity == WaveActivity::Nop ||
            event.activity == WaveActivity::Branch ||
            event.activity == WaveActivity::Sleep)
          continue;
        const WaveTiming &wave = timing.waves[event.wave];
        complete(("wait: " + getWaveActivityName(event.activity)).str(),
                 "stall", wave.simd, thread(wave), event.begin, event.end,
                 nullptr);
      }
      for (const PipeEvent &event : timing.pipeEvents) {
        if (isSkipped(event.begin))
          continue;
        bool isShared = event.pipe == Pipe::LDS || event.pipe == Pipe::Memory;
        const TimedOp &op = program.ops[event.op];
        complete(StringRef(op.text).split(' ').first, "pipe",
                 isShared ? sharedProcess : event.simd,
                 static_cast<unsigned>(event.pipe), event.begin, event.end,
                 [&] {
                   const WaveTiming &wave = timing.waves[event.wave];
                   j.attribute("workgroup", int64_t(wave.workgroup));
                   j.attribute("wave", int64_t(wave.wave));
                 });
      }
    });
  });
  os << '\n';
}
