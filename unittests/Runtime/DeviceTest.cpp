//===- DeviceTest.cpp - The emulator and HIP as devices -------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a caller may rely on, the same on both devices. HIP is the stand-in,
// with a gfx942 as device 0 and a gfx950 as device 1.
//
//===----------------------------------------------------------------------===//

#include "../Emulator/Machine/AsmKernel.h"
#include "attn/Runtime/EmulatorDevice.h"
#include "attn/Runtime/HIPDevice.h"
#include "gtest/gtest.h"
#include <dlfcn.h>

using namespace llvm;
using namespace attn;
using namespace attn::rt;
using manifest::DType;

namespace {

/// out[i] = in[i] + 1 for 64 elements.
constexpr StringLiteral increment = "v_lshlrev_b32 v1, 2, v0\n"
                                    "global_load_dword v2, v1, s[8:9]\n"
                                    "s_waitcnt vmcnt(0)\n"
                                    "v_add_u32 v2, 1, v2\n"
                                    "global_store_dword v1, v2, s[10:11]\n";

manifest::Manifest makeManifest(StringRef chip) {
  manifest::Manifest manifest;
  manifest.chip = chip.str();
  for (auto [name, role] : {std::pair("in", manifest::Role::Input),
                            std::pair("out", manifest::Role::Output)}) {
    manifest::Buffer &buffer = manifest.buffers.emplace_back();
    buffer.name = name;
    buffer.dtype = DType::I32;
    buffer.shape = {64};
    buffer.strides = {1};
    buffer.role = role;
  }
  manifest::Kernel &kernel = manifest.kernels.emplace_back();
  kernel.name = "k";
  kernel.block = {64, 1, 1};
  kernel.kernargBytes = 32;
  for (StringRef name : {"in", "out"}) {
    manifest::Arg &arg = kernel.args.emplace_back();
    arg.name = name.str();
    arg.offset = 8 * (kernel.args.size() - 1);
    arg.buffer = name.str();
  }
  manifest.launches.push_back({"k", {1, 1, 1}});
  return manifest;
}

class DeviceTest : public testing::TestWithParam<StringRef> {
protected:
  void SetUp() override {
    ASSERT_EQ(setenv("ATTN_HIP_LIBRARY", ATTN_STAND_IN, /*overwrite=*/1), 0);
    open(emu::Chip::GFX942);
  }

  void open(emu::Chip chip) {
    device.reset();
    if (GetParam() == "emulator") {
      emu::LaunchOptions options;
      options.checks = emu::CheckSet::all();
      device = std::make_unique<EmulatorDevice>(chip, options, report);
      return;
    }
    auto opened = HIPDevice::create(std::nullopt, emu::getChipName(chip));
    ASSERT_TRUE(bool(opened)) << toString(opened.takeError());
    device = std::move(*opened);
  }

  /// A program of one kernel.
  std::unique_ptr<KernelProgram> assemble(emu::Chip chip, StringRef body) {
    emu::AsmKernel kernel;
    kernel.body = body.str();
    auto bytes = emu::assembleBytes(chip, kernel);
    EXPECT_TRUE(bool(bytes)) << toString(bytes.takeError());
    auto program = KernelProgram::create(
        MemoryBuffer::getMemBufferCopy(StringRef(bytes->data(), bytes->size())),
        makeManifest(emu::getChipName(chip)));
    EXPECT_TRUE(bool(program)) << toString(program.takeError());
    return std::make_unique<KernelProgram>(std::move(*program));
  }

  uint64_t allocate(const manifest::Buffer &buffer, bool hasContent) {
    auto layout = resolve(buffer, {});
    EXPECT_TRUE(bool(layout));
    auto address = device->allocate(*layout, hasContent);
    EXPECT_TRUE(bool(address)) << toString(address.takeError());
    return *address;
  }

  std::vector<PreparedLaunch> prepare(const KernelProgram &program, uint64_t in,
                                      uint64_t out) {
    auto launches = prepareLaunches(program.manifest,
                                    {{"in", DType::I32, {64}, {}, in, {}},
                                     {"out", DType::I32, {64}, {}, out, {}}});
    EXPECT_TRUE(bool(launches)) << toString(launches.takeError());
    return std::move(*launches);
  }

  std::string getText(Error error) {
    return error ? toString(std::move(error)) : "no error";
  }

  std::vector<char> read(uint64_t address, size_t bytes) {
    std::vector<char> result(bytes);
    EXPECT_EQ(getText(device->copyFrom(result, address)), "no error");
    return result;
  }

  emu::Report report;
  std::unique_ptr<Device> device;
};

TEST_P(DeviceTest, CopiesToAndFrom) {
  manifest::Manifest manifest = makeManifest("gfx942");
  uint64_t address = allocate(manifest.buffers.front(), /*hasContent=*/true);
  std::vector<char> content(256);
  for (int i = 0; i < 256; ++i)
    content[i] = static_cast<char>(i * 7);
  EXPECT_EQ(getText(device->copyTo(address, content)), "no error");
  EXPECT_EQ(read(address, 256), content);
  EXPECT_EQ(getText(device->release(address)), "no error");
  EXPECT_NE(getText(device->release(address)), "no error");
}

TEST_P(DeviceTest, OutputsAreRecognisableBeforeALaunch) {
  manifest::Manifest manifest = makeManifest("gfx942");
  uint64_t address = allocate(manifest.buffers.back(), /*hasContent=*/false);
  EXPECT_EQ(read(address, 256), std::vector<char>(256, char(0xff)));
}

TEST_P(DeviceTest, LaunchesRunInOrder) {
  auto program = assemble(emu::Chip::GFX942, increment);
  EXPECT_EQ(getText(device->load(*program)), "no error");
  const auto &buffers = program->manifest.buffers;
  uint64_t a = allocate(buffers[0], true), b = allocate(buffers[1], false),
           c = allocate(buffers[1], false);
  EXPECT_EQ(getText(device->copyTo(a, std::vector<char>(256, 0))), "no error");
  for (auto [in, out] : {std::pair(a, b), std::pair(b, c)})
    for (const PreparedLaunch &launch : prepare(*program, in, out))
      EXPECT_EQ(getText(device->launch(launch)), "no error");
  EXPECT_EQ(getText(device->synchronize()), "no error");
  std::vector<char> result = read(c, 256);
  for (int i = 0; i < 256; i += 4)
    EXPECT_EQ(result[i], 2) << i;
}

TEST_P(DeviceTest, TellsWhatALaunchDidWrong) {
  // The store lies 16 bytes behind the output.
  auto program = assemble(emu::Chip::GFX942,
                          "v_mov_b32 v1, 0\nv_mov_b32 v2, 0\n"
                          "global_store_dword v1, v2, s[10:11] offset:272\n");
  EXPECT_EQ(getText(device->load(*program)), "no error");
  const auto &buffers = program->manifest.buffers;
  uint64_t in = allocate(buffers[0], true), out = allocate(buffers[1], true);
  for (const PreparedLaunch &launch : prepare(*program, in, out))
    EXPECT_EQ(getText(device->launch(launch)), "no error");
  EXPECT_EQ(getText(device->synchronize()),
            GetParam() == "emulator"
                ? "the checks found 64 violations"
                : "hipStreamSynchronize: unspecified launch failure (HIP error "
                  "719)");
}

TEST_P(DeviceTest, RefusesKernelsOfAnotherChip) {
  auto program = assemble(emu::Chip::GFX950, increment);
  EXPECT_EQ(
      getText(device->load(*program)),
      GetParam() == "emulator"
          ? "expects kernels for gfx942, but got kernels for gfx950"
          : "expects kernels for gfx942, which device 0 (Emulated MI300X) "
            "is, but got kernels for gfx950");
  open(emu::Chip::GFX950);
  EXPECT_EQ(device->getChip(), "gfx950");
  EXPECT_EQ(getText(device->load(*program)), "no error");
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceTest,
                         testing::Values("emulator", "hip"),
                         [](const auto &info) { return info.param.str(); });

// A library that shares the process chose its device; ours is another.
TEST(HIPDeviceTest, KeepsTheCurrentDevice) {
  ASSERT_EQ(setenv("ATTN_HIP_LIBRARY", ATTN_STAND_IN, /*overwrite=*/1), 0);
  auto runtime = hip::Runtime::load();
  ASSERT_TRUE(bool(runtime)) << toString(runtime.takeError());
  ASSERT_EQ(runtime->SetDevice(1), 0);
  auto device = HIPDevice::create(0);
  ASSERT_TRUE(bool(device)) << toString(device.takeError());
  EXPECT_EQ((*device)->getChip(), "gfx942");
  manifest::Manifest manifest = makeManifest("gfx942");
  auto layout = resolve(manifest.buffers.front(), {});
  ASSERT_TRUE(bool(layout));
  auto address = (*device)->allocate(*layout, /*hasContent=*/true);
  ASSERT_TRUE(bool(address)) << toString(address.takeError());
  EXPECT_FALSE(
      bool((*device)->copyTo(*address, std::vector<char>(layout->bytes))));
  device->reset();
  int current = -1;
  EXPECT_EQ(runtime->GetDevice(&current), 0);
  EXPECT_EQ(current, 1);
  EXPECT_EQ(runtime->SetDevice(0), 0);
}

// With PyTorch there is a runtime in the process that no path leads to.
TEST(HIPDeviceTest, TakesTheRuntimeThatIsThere) {
  ASSERT_NE(dlopen(ATTN_STAND_IN, RTLD_NOW | RTLD_LOCAL), nullptr);
  ASSERT_EQ(unsetenv("ATTN_HIP_LIBRARY"), 0);
  auto device = HIPDevice::create(1);
  ASSERT_TRUE(bool(device)) << toString(device.takeError());
  EXPECT_EQ((*device)->getChip(), "gfx950");
}

// Nor does an error of ours stay behind for it to find.
TEST(HIPDeviceTest, LeavesNoLastError) {
  ASSERT_EQ(setenv("ATTN_HIP_LIBRARY", ATTN_STAND_IN, /*overwrite=*/1), 0);
  auto runtime = hip::Runtime::load();
  ASSERT_TRUE(bool(runtime)) << toString(runtime.takeError());
  EXPECT_EQ(toString(runtime->check(runtime->SetDevice(9), "hipSetDevice")),
            "hipSetDevice: invalid device ordinal (HIP error 101)");
  EXPECT_EQ(runtime->GetLastError(), 0);
}

} // namespace
