//===- RunTiming.cpp - Timing a code object with its manifest -------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/RunTiming.h"
#include "attn/Emulator/Machine.h"
#include "attn/Emulator/Timing/TimingReport.h"
#include "attn/Runtime/HostBuffer.h"
#include "attn/Runtime/Launch.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <random>

using namespace llvm;
using namespace attn::manifest;

namespace attn::rt {

uint64_t findRowTiles(uint64_t workgroups, ArrayRef<int64_t> query) {
  if (query.size() != 4)
    return workgroups;
  for (unsigned headDim : {1, 2}) {
    uint64_t heads = query[0] * query[headDim];
    uint64_t rows = query[3 - headDim];
    if (!heads || !rows || workgroups % heads)
      continue;
    uint64_t period = workgroups / heads;
    for (uint64_t tile : {16, 32, 64, 128, 256})
      if ((rows + tile - 1) / tile == period)
        return period;
  }
  return workgroups;
}

namespace {

/// Bits of `value` in the type `dtype`, rounded to nearest.
uint64_t encode(double value, DType dtype) {
  const fltSemantics *semantics = nullptr;
  switch (dtype) {
  case DType::F64:
    semantics = &APFloat::IEEEdouble();
    break;
  case DType::F32:
    semantics = &APFloat::IEEEsingle();
    break;
  case DType::F16:
    semantics = &APFloat::IEEEhalf();
    break;
  case DType::BF16:
    semantics = &APFloat::BFloat();
    break;
  case DType::F8E4M3FN:
    semantics = &APFloat::Float8E4M3FN();
    break;
  case DType::F8E4M3FNUZ:
    semantics = &APFloat::Float8E4M3FNUZ();
    break;
  case DType::F8E5M2:
    semantics = &APFloat::Float8E5M2();
    break;
  case DType::F8E5M2FNUZ:
    semantics = &APFloat::Float8E5M2FNUZ();
    break;
  case DType::I1:
    return 1;
  default:
    return 0;
  }
  APFloat number(value);
  bool losesInfo;
  number.convert(*semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return number.bitcastToAPInt().getZExtValue();
}

struct DeviceBuffer {
  ResolvedBuffer layout;
  std::optional<NpyFile> file;
  uint64_t address = 0;
  uint8_t *host = nullptr;
};

/// The device with its buffers.
class TimedDevice {
public:
  explicit TimedDevice(const KernelProgram &program)
      : object(*program.object), manifest(program.manifest),
        unusedArgs(program.unusedArgs), machine(object.getChip()) {}

  Error makeBuffers(const FileMap &inputs, uint64_t seed);
  /// The launches of one kernel, or of all.
  Expected<std::vector<PreparedLaunch>> prepare(StringRef kernel);
  Expected<LaunchTiming> time(const PreparedLaunch &launch,
                              const TimingOptions &options);

private:
  void draw(DeviceBuffer &buffer, std::mt19937_64 &random);
  Expected<emu::WorkgroupTrace> record(const emu::LaunchConfig &config,
                                       ArrayRef<uint8_t> kernarg, uint64_t id);

  const emu::CodeObject &object;
  const Manifest &manifest;
  ArrayRef<std::string> unusedArgs;
  emu::Machine machine;
  DimMap dims;
  std::vector<DeviceBuffer> buffers;
};

void TimedDevice::draw(DeviceBuffer &buffer, std::mt19937_64 &random) {
  DType dtype = buffer.layout.buffer->dtype;
  unsigned width = getByteWidth(dtype);
  std::normal_distribution<double> normal;
  // A scalar is mostly a scale: keep the scores ordinary.
  if (buffer.layout.shape.empty()) {
    uint64_t bits = encode(0.125, dtype);
    memcpy(buffer.host, &bits, width);
    return;
  }
  // Drawing every element of a long sequence would take longer than the rest.
  // The table's length shares no factor with any row.
  constexpr uint64_t tableLength = 65521;
  std::vector<char> table(tableLength * width);
  for (uint64_t n = 0; n < tableLength; ++n) {
    uint64_t bits = encode(normal(random), dtype);
    memcpy(&table[n * width], &bits, width);
  }
  for (uint64_t at = 0; at < buffer.layout.bytes; at += table.size())
    memcpy(buffer.host + at, table.data(),
           std::min<uint64_t>(table.size(), buffer.layout.bytes - at));
}

Error TimedDevice::makeBuffers(const FileMap &inputs, uint64_t seed) {
  std::mt19937_64 random(seed);
  StringMap<SmallVector<int64_t>> shapes;
  for (const auto &[name, path] : inputs)
    if (!manifest.findBuffer(name) && !is_contained(unusedArgs, name))
      return createStringError("--in expects the name of an argument, but got "
                               "'" +
                               name + "'");
  for (const Buffer &buffer : manifest.buffers) {
    DeviceBuffer &device = buffers.emplace_back();
    device.layout.buffer = &buffer;
    auto input = inputs.find(buffer.name);
    if (input == inputs.end())
      continue;
    Expected<NpyFile> file = NpyFile::open(input->second);
    if (!file)
      return file.takeError();
    SmallVector<int64_t> shape;
    for (const SizeExpr &size : buffer.shape)
      shape.push_back(size.getConstant().value_or(-1));
    if (Error error = checkFile(buffer.name, *file, buffer.dtype, shape))
      return error;
    if (!shape.empty())
      shapes[buffer.name].assign(file->getShape().begin(),
                                 file->getShape().end());
    device.file = std::move(*file);
  }
  Expected<DimMap> inferred = manifest.inferDims(shapes);
  if (!inferred)
    return inferred.takeError();
  dims = std::move(*inferred);

  for (DeviceBuffer &device : buffers) {
    const Buffer &buffer = *device.layout.buffer;
    Expected<ResolvedBuffer> layout = resolve(buffer, dims);
    if (!layout)
      return createStringError(toString(layout.takeError()) + "; --in " +
                               buffer.name + "=FILE.npy would give it");
    device.layout = std::move(*layout);
    Expected<uint64_t> address =
        machine.allocate(buffer.name, device.layout.bytes);
    if (!address)
      return address.takeError();
    device.address = *address;
    device.host = machine.getHostPointer(*address);
    if (device.layout.bytes == 0)
      continue;
    if (device.file)
      device.file->copyTo(buffer.dtype, reinterpret_cast<char *>(device.host),
                          device.layout.strides);
    else if (buffer.role == Role::Input)
      draw(device, random);
  }
  return Error::success();
}

Expected<std::vector<PreparedLaunch>> TimedDevice::prepare(StringRef kernel) {
  std::vector<Operand> operands;
  for (const DeviceBuffer &buffer : buffers) {
    const Buffer &described = *buffer.layout.buffer;
    Operand &operand = operands.emplace_back();
    operand.name = described.name;
    operand.dtype = described.dtype;
    operand.shape = buffer.layout.shape;
    operand.strides = buffer.layout.strides;
    operand.address = buffer.address;
    if (buffer.layout.getNumElements() == 1)
      memcpy(&operand.value.emplace(0), buffer.host,
             getByteWidth(described.dtype));
  }
  return prepareLaunches(manifest, operands, kernel);
}

Expected<emu::WorkgroupTrace>
TimedDevice::record(const emu::LaunchConfig &config, ArrayRef<uint8_t> kernarg,
                    uint64_t id) {
  emu::TraceRecorder recorder;
  emu::LaunchOptions options;
  options.observerFactory = &recorder;
  options.workgroupBegin = id;
  options.workgroupEnd = id + 1;
  Expected<emu::Report> report =
      machine.launch(object, config, kernarg, options);
  if (!report)
    return report.takeError();
  std::vector<emu::WorkgroupTrace> traces = recorder.takeWorkgroups();
  return std::move(traces.front());
}

/// Where to look in a period: the ends, the middle, and the quarters of a long
/// one.
SmallVector<uint64_t> choosePositions(uint64_t period) {
  SmallVector<uint64_t> positions = {0, period - 1};
  if (period > 2)
    positions.push_back(period / 2);
  if (period >= 8)
    positions.append({period / 4, 3 * period / 4});
  llvm::sort(positions);
  positions.erase(std::unique(positions.begin(), positions.end()),
                  positions.end());
  return positions;
}

uint64_t countSteps(const emu::WorkgroupTrace &trace) {
  uint64_t steps = 0;
  for (const emu::WaveTrace &wave : trace.waves)
    steps += wave.size();
  return steps;
}

std::vector<uint64_t> getLoopAddresses(const emu::WorkgroupTrace &trace,
                                       const emu::LoopInfo &loop) {
  const emu::WaveTrace &wave = trace.waves.front();
  SmallVector<size_t> starts;
  for (auto [n, step] : enumerate(wave))
    if (step.op == loop.header)
      starts.push_back(n);
  size_t begin = 0, length = 0;
  for (size_t n = 1; n < starts.size(); ++n) {
    size_t steps = starts[n] - starts[n - 1];
    if (length && steps >= length)
      continue;
    begin = starts[n - 1];
    length = steps;
  }
  std::vector<uint64_t> result;
  for (const emu::TimedStep &step : ArrayRef(wave).slice(begin, length))
    result.push_back(trace.program->ops[step.op].pc);
  return result;
}

Expected<LaunchTiming> TimedDevice::time(const PreparedLaunch &launch,
                                         const TimingOptions &options) {
  const Kernel &kernel = *launch.kernel;
  LaunchTiming result;
  result.kernel = kernel.name;
  result.grid = launch.grid;
  uint64_t total = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];

  emu::TimingTable table = emu::TimingTable::get(object.getChip());
  if (Error error = table.set(options.constants))
    return error;
  emu::LaunchConfig config;
  config.kernel = kernel.name;
  config.grid = launch.grid;
  config.block = kernel.block;
  uint64_t items =
      uint64_t(kernel.block[0]) * kernel.block[1] * kernel.block[2];
  result.resources.waves = (items + 63) / 64;
  result.resources.ldsBytes = kernel.ldsBytes;
  // The descriptor's count includes accumulation registers.
  Expected<const emu::Kernel *> code = object.getKernel(kernel.name);
  if (!code)
    return code.takeError();
  result.resources.vgprs =
      std::max<uint32_t>((*code)->totalVGPRs, kernel.vgprs + kernel.agprs);
  // A grid that does not fill the chip leaves each compute unit fewer.
  unsigned perCU = getWorkgroupsPerCU(table, result.resources);
  perCU = std::min<uint64_t>(perCU, (total + table.computeUnits - 1) /
                                        table.computeUnits);

  result.rowTiles = buffers.empty()
                        ? total
                        : findRowTiles(total, buffers.front().layout.shape);
  std::vector<emu::WorkgroupTrace> traces;
  auto sample = [&](uint64_t id) -> Expected<uint64_t> {
    for (const emu::WorkgroupTrace &trace : traces)
      if (trace.id == id)
        return countSteps(trace);
    Expected<emu::WorkgroupTrace> trace = record(config, launch.kernarg, id);
    if (!trace)
      return trace.takeError();
    traces.push_back(std::move(*trace));
    return countSteps(traces.back());
  };
  auto isSame = [](uint64_t a, uint64_t b) {
    return std::max(a, b) - std::min(a, b) <= std::min(a, b) / 50;
  };
  result.period = std::min(options.period, total);
  if (!result.period) {
    Expected<uint64_t> head = sample(result.rowTiles - 1);
    if (!head)
      return head.takeError();
    Expected<uint64_t> all = sample(total - 1);
    if (!all)
      return all.takeError();
    result.period = isSame(*head, *all) ? result.rowTiles : total;
  }
  SmallVector<uint64_t> positions = choosePositions(result.period);
  Expected<uint64_t> first = sample(positions.front());
  if (!first)
    return first.takeError();
  Expected<uint64_t> last = sample(positions.back());
  if (!last)
    return last.takeError();
  // Workgroups that do the same need no more samples.
  if (!isSame(*first, *last))
    for (uint64_t position : positions)
      if (Expected<uint64_t> steps = sample(position); !steps)
        return steps.takeError();
  // Those that told the period lie in another one, perhaps.
  llvm::erase_if(traces, [&](const emu::WorkgroupTrace &trace) {
    return !is_contained(positions, trace.id);
  });
  llvm::sort(traces, [](const auto &a, const auto &b) { return a.id < b.id; });

  const emu::WorkgroupTrace *heaviest = &traces.front();
  for (const emu::WorkgroupTrace &trace : traces)
    if (countSteps(trace) > countSteps(*heaviest))
      heaviest = &trace;
  auto simulate = [&](const emu::TimingTable &t,
                      const emu::WorkgroupTrace &trace, bool events) {
    // Neighbours on a compute unit do about the same work.
    SmallVector<const emu::WorkgroupTrace *> copies(perCU, &trace);
    emu::CUOptions cuOptions;
    cuOptions.events = events;
    return emu::simulateCU(t, copies, cuOptions);
  };
  SmallVector<std::pair<uint64_t, double>> clocks, bytes;
  for (emu::WorkgroupTrace &trace : traces) {
    bool isHeaviest = &trace == heaviest;
    Expected<emu::CUTiming> cu =
        simulate(table, trace, options.events && isHeaviest);
    if (!cu)
      return cu.takeError();
    result.samples.push_back({trace.id, double(cu->clocks), trace.globalBytes});
    clocks.push_back({trace.id, double(cu->clocks)});
    bytes.push_back({trace.id, double(trace.globalBytes)});
    if (isHeaviest)
      result.cu = std::move(*cu);
  }
  if (result.cu.loop)
    result.loopAddresses = getLoopAddresses(*heaviest, *result.cu.loop);
  if (options.sensitivities)
    for (const emu::Sensitivity &row : getSensitivities(table)) {
      Expected<emu::CUTiming> cu = simulate(row.table, *heaviest, false);
      if (!cu)
        return cu.takeError();
      result.sensitivities.push_back({row.name, cu->getIterationClocks(),
                                      cu->getMFMAEfficiency(), cu->clocks});
    }

  emu::LaunchRequest request;
  request.workgroups = total;
  request.perCU = perCU;
  auto clocksOf = [&](uint64_t id) {
    return emu::interpolate(clocks, id % result.period);
  };
  request.clocks = clocksOf;
  for (uint64_t n = 0; n < total; ++n)
    request.globalBytes += emu::interpolate(bytes, n % result.period);
  for (const DeviceBuffer &buffer : buffers)
    if (any_of(kernel.args, [&](const Arg &arg) {
          return arg.kind == ArgKind::Pointer &&
                 arg.buffer == buffer.layout.buffer->name;
        }))
      request.memoryBytes += buffer.layout.bytes;
  // What no workgroup reads need not come.
  request.memoryBytes = std::min(request.memoryBytes, request.globalBytes);
  result.projection = emu::projectLaunch(table, request);
  return result;
}

} // namespace

Expected<std::vector<LaunchTiming>> runTiming(const KernelProgram &program,
                                              const FileMap &inputs,
                                              const TimingOptions &options) {
  std::vector<LaunchTiming> result;
  if (!program.object)
    return result;
  TimedDevice device(program);
  if (Error error = device.makeBuffers(inputs, options.seed))
    return error;
  Expected<std::vector<PreparedLaunch>> launches =
      device.prepare(options.kernel);
  if (!launches)
    return launches.takeError();
  for (const PreparedLaunch &launch : *launches) {
    Expected<LaunchTiming> timing = device.time(launch, options);
    if (!timing)
      return timing.takeError();
    if (timing->projection.workgroups)
      result.push_back(std::move(*timing));
  }
  return result;
}

double getMicroseconds(ArrayRef<LaunchTiming> launches) {
  double sum = 0;
  for (const LaunchTiming &launch : launches)
    sum += launch.projection.microseconds;
  return sum;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

void LaunchTiming::print(raw_ostream &os) const {
  emu::printTiming(cu, os);
  if (!sensitivities.empty()) {
    os << "\nsensitivity              iteration       MFMA      total\n";
    for (const SensitivityRow &row : sensitivities)
      os << formatv("  {0,-22}{1,8:f1}clk {2,10:P1} {3,10}\n", row.name,
                    row.iterationClocks, row.mfmaEfficiency, row.clocks);
  }
  os << formatv("\nlaunch of {0} workgroups ({1} a compute unit; {2} VGPRs, "
                "{3} bytes of LDS)\n",
                projection.workgroups, projection.perCU, resources.vgprs,
                resources.ldsBytes);
  for (const TimedSample &sample : samples)
    os << formatv("  workgroup {0,-8} {1,10:f0} clk\n", sample.workgroup,
                  sample.clocks);
  os << formatv("  makespan           {0,10:f0} clk, places used {1:P1}\n",
                projection.makespanClocks, projection.occupancy);
  os << formatv("  bounds             {0,10:f1} us HBM, {1:f1} us L2\n",
                projection.hbmMicroseconds, projection.l2Microseconds);
  os << formatv("  projected          {0,10:f1} us at {1} MHz, {2:f1} us of it "
                "start and end\n",
                projection.microseconds, cu.table.clockMHz,
                projection.overheadMicroseconds);
}

json::Object LaunchTiming::toJSON() const {
  json::Array sampleArray, rows;
  for (const TimedSample &sample : samples)
    sampleArray.push_back(
        json::Object{{"workgroup", int64_t(sample.workgroup)},
                     {"clocks", sample.clocks},
                     {"global_bytes", int64_t(sample.globalBytes)}});
  for (const SensitivityRow &row : sensitivities)
    rows.push_back(json::Object{{"name", row.name},
                                {"iteration_clocks", row.iterationClocks},
                                {"mfma_efficiency", row.mfmaEfficiency},
                                {"clocks", int64_t(row.clocks)}});
  json::Object result = emu::toJSON(cu);
  result["kernel"] = kernel;
  result["grid"] =
      json::Array{int64_t(grid[0]), int64_t(grid[1]), int64_t(grid[2])};
  result["vgprs"] = int64_t(resources.vgprs);
  result["lds_bytes"] = int64_t(resources.ldsBytes);
  result["clock_mhz"] = int64_t(cu.table.clockMHz);
  result["row_tiles"] = int64_t(rowTiles);
  result["period"] = int64_t(period);
  json::Array addresses;
  for (uint64_t address : loopAddresses)
    addresses.push_back(int64_t(address));
  result["loop_addresses"] = std::move(addresses);
  result["samples"] = std::move(sampleArray);
  result["sensitivities"] = std::move(rows);
  result["launch"] = projection.toJSON();
  return result;
}

} // namespace attn::rt
