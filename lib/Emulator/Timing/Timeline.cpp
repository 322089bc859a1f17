//===- Timeline.cpp - A picture of the steady loop ------------------------===//

#include "attn/Emulator/Timing/TimingReport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace attn::emu;
using namespace llvm;

namespace {

/// What a track shows at some time.
enum class Shade : uint8_t {
  Matrix,
  Vector,
  Transcendental,
  LDS,
  Memory,
  Scalar,
  Barrier,
  Stall,
  Conflict,
};
constexpr unsigned numShades = 9;
const char *const shadeColors[] = {"#3366cc", "#66aa55", "#dd8833",
                                   "#aa55aa", "#885533", "#999999",
                                   "#eecccc", "#f6e2b3", "#e8e8e8"};
const char *const shadeNames[] = {
    "MFMA",    "vector", "transcendental",          "LDS", "memory", "scalar",
    "barrier", "wait",   "other wave's or own pipe"};

struct Span {
  uint64_t begin, end;
  Shade shade;
};

Shade getShade(const TimedOp &op) {
  switch (op.unit) {
  case IssueUnit::MFMA:
    return Shade::Matrix;
  case IssueUnit::VALU:
    return op.rate == VectorRate::Transcendental ? Shade::Transcendental
                                                 : Shade::Vector;
  case IssueUnit::LDS:
    return Shade::LDS;
  case IssueUnit::VMEM:
    return Shade::Memory;
  default:
    return op.internal == InternalOp::Barrier ? Shade::Barrier : Shade::Scalar;
  }
}

Shade getShade(WaveActivity activity) {
  switch (activity) {
  case WaveActivity::Barrier:
    return Shade::Barrier;
  case WaveActivity::IssueConflict:
  case WaveActivity::OwnPipe:
    return Shade::Conflict;
  case WaveActivity::Nop:
  case WaveActivity::Branch:
  case WaveActivity::Sleep:
    return Shade::Scalar;
  default:
    return Shade::Stall;
  }
}

/// Joins neighbours of one shade, so that the file stays small.
void join(std::vector<Span> &spans) {
  llvm::sort(spans,
             [](const Span &a, const Span &b) { return a.begin < b.begin; });
  std::vector<Span> joined;
  for (const Span &span : spans) {
    if (!joined.empty() && joined.back().shade == span.shade &&
        span.begin <= joined.back().end)
      joined.back().end = std::max(joined.back().end, span.end);
    else
      joined.push_back(span);
  }
  spans = std::move(joined);
}

class Picture {
public:
  Picture(const CUTiming &timing, raw_ostream &os) : timing(timing), os(os) {
    choosePeriod();
  }
  void write();

private:
  static constexpr unsigned left = 130, width = 1040, rowHeight = 26, top = 46;

  void choosePeriod();
  double x(uint64_t clock) const {
    return left + double(clock - begin) * width / double(end - begin);
  }
  void track(StringRef name, std::vector<Span> spans);

  const CUTiming &timing;
  raw_ostream &os;
  uint64_t begin = 0, end = 1;
  unsigned row = 0;
};

void Picture::choosePeriod() {
  end = std::max<uint64_t>(1, timing.clocks);
  for (const WaveTiming &wave : timing.waves) {
    if (wave.simd != 0 || !wave.getSteadyBegin())
      continue;
    begin = wave.getSteadyBegin()->begin;
    size_t first = wave.iterations.size() > 2;
    size_t last = std::min(first + 2, wave.iterations.size() - 1);
    end = std::max(begin + 1, wave.iterations[last].begin);
    return;
  }
}

void Picture::track(StringRef name, std::vector<Span> spans) {
  unsigned y = top + row++ * rowHeight;
  os << formatv("<text x=\"{0}\" y=\"{1}\" text-anchor=\"end\">{2}</text>\n",
                left - 8, y + 15, name);
  // One path a shade: far fewer bytes than one rectangle a span.
  join(spans);
  for (unsigned shade = 0; shade < numShades; ++shade) {
    std::string path;
    raw_string_ostream p(path);
    for (const Span &span : spans) {
      if (static_cast<unsigned>(span.shade) != shade || span.end <= begin ||
          span.begin >= end)
        continue;
      double from = x(std::max(span.begin, begin));
      double to = x(std::min(span.end, end));
      p << formatv("M{0:f1} {1}H{2:f1}V{3}H{0:f1}z", from, y, to, y + 20);
    }
    if (!path.empty())
      os << "<path fill=\"" << shadeColors[shade] << "\" d=\"" << path
         << "\"/>\n";
  }
}

void Picture::write() {
  std::vector<const WaveTiming *> waves;
  for (const WaveTiming &wave : timing.waves)
    if (wave.simd == 0)
      waves.push_back(&wave);
  unsigned rows = waves.size() + 4;
  unsigned height = top + rows * rowHeight + 52;
  os << formatv("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1200\" "
                "height=\"{0}\" viewBox=\"0 0 1200 {0}\" "
                "font-family=\"sans-serif\" font-size=\"12\">\n"
                "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
                height);
  os << formatv("<text x=\"{0}\" y=\"20\" font-size=\"14\">{1} on {2}, SIMD 0, "
                "clocks {3} to {4}",
                left, timing.program->kernel, getChipName(timing.program->chip),
                begin, end);
  if (timing.getIterationClocks())
    os << formatv("; {0:f0} clk an iteration, MFMA {1:P1}",
                  timing.getIterationClocks(), timing.getMFMAEfficiency());
  os << "</text>\n";

  for (const WaveTiming *wave : waves) {
    std::vector<Span> spans;
    size_t index = wave - timing.waves.data();
    for (const IssueEvent &event : timing.issueEvents)
      if (event.wave == index)
        spans.push_back(
            {event.begin, event.end, getShade(timing.program->ops[event.op])});
    for (const StallEvent &event : timing.stallEvents)
      if (event.wave == index)
        spans.push_back({event.begin, event.end, getShade(event.activity)});
    track(formatv("wave {0}.{1}", wave->workgroup, wave->wave).str(),
          std::move(spans));
  }
  static const char *const names[] = {"vector pipe", "matrix pipe",
                                      "LDS (shared)", "memory (shared)"};
  for (Pipe pipe : {Pipe::Vector, Pipe::Matrix, Pipe::LDS, Pipe::Memory}) {
    std::vector<Span> spans;
    for (const PipeEvent &event : timing.pipeEvents)
      if (event.pipe == pipe &&
          (event.simd == 0 || pipe == Pipe::LDS || pipe == Pipe::Memory))
        spans.push_back(
            {event.begin, event.end, getShade(timing.program->ops[event.op])});
    track(names[static_cast<unsigned>(pipe)], std::move(spans));
  }

  unsigned axis = top + rows * rowHeight + 4;
  for (unsigned n = 0; n <= 8; ++n) {
    uint64_t clock = begin + (end - begin) * n / 8;
    os << formatv("<line x1=\"{0:f1}\" x2=\"{0:f1}\" y1=\"{1}\" y2=\"{2}\" "
                  "stroke=\"#ccc\"/><text x=\"{0:f1}\" y=\"{3}\" "
                  "text-anchor=\"middle\">{4}</text>\n",
                  x(clock), top - 4, axis, axis + 12, clock - begin);
  }
  double at = left;
  for (unsigned shade = 0; shade < numShades; ++shade) {
    os << formatv("<rect x=\"{0:f0}\" y=\"{1}\" width=\"12\" height=\"12\" "
                  "fill=\"{2}\"/><text x=\"{3:f0}\" y=\"{4}\">{5}</text>\n",
                  at, axis + 22, shadeColors[shade], at + 16, axis + 33,
                  shadeNames[shade]);
    at += 34 + 7.2 * strlen(shadeNames[shade]);
  }
  os << "</svg>\n";
}

} // namespace

void attn::emu::writeTimeline(const CUTiming &timing, raw_ostream &os) {
  Picture(timing, os).write();
}
