//===- HSACOTest.cpp ------------------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/HSACO.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

#include "gtest/gtest.h"

using namespace llvm;
using namespace mlir::attn;

static constexpr StringRef source = R"(
@lds = internal addrspace(3) global [256 x i32] poison, align 16
define amdgpu_kernel void @copy(ptr addrspace(1) inreg %in, i32 inreg %n) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %a = getelementptr i32, ptr addrspace(3) @lds, i32 %t
  store i32 %n, ptr addrspace(3) %a
  %x = load i32, ptr addrspace(3) %a
  %g = getelementptr i32, ptr addrspace(1) %in, i32 %t
  store i32 %x, ptr addrspace(1) %g
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
attributes #0 = { "amdgpu-flat-work-group-size"="256,256" }
)";

static std::unique_ptr<llvm::Module> parse(LLVMContext &context) {
  SMDiagnostic diagnostic;
  auto module = parseAssemblyString(source, diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  return module;
}

static unsigned countTemporaries() {
  SmallString<128> directory;
  sys::path::system_temp_directory(true, directory);
  std::error_code ec;
  unsigned count = 0;
  for (sys::fs::directory_iterator it(directory, ec), end; it != end && !ec;
       it.increment(ec))
    count += sys::path::filename(it->path()).starts_with("attn-link");
  return count;
}

class HSACO : public testing::TestWithParam<const char *> {};

TEST_P(HSACO, CompilesLinksAndReadsBack) {
  LLVMContext context;
  auto module = parse(context);
  ASSERT_FALSE(errorToBool(prepareModule(*module, GetParam())));
  ASSERT_FALSE(errorToBool(optimizeModule(*module, GetParam())));
  auto object = emitObject(*module, GetParam());
  ASSERT_TRUE(bool(object)) << toString(object.takeError());
  unsigned before = countTemporaries();
  auto code = linkCodeObject(*object);
  ASSERT_TRUE(bool(code)) << toString(code.takeError());
  EXPECT_EQ(countTemporaries(), before);
  auto kernels = readKernelInfo(*code);
  ASSERT_TRUE(bool(kernels)) << toString(kernels.takeError());
  ASSERT_EQ(kernels->size(), 1u);
  const KernelInfo &kernel = kernels->front();
  EXPECT_EQ(kernel.name, "copy");
  EXPECT_EQ(kernel.ldsBytes, 1024u);
  EXPECT_EQ(kernel.scratchBytes, 0u);
  EXPECT_EQ(kernel.maxWorkgroupSize, 256u);
  ASSERT_EQ(kernel.args.size(), 2u);
  EXPECT_EQ(kernel.args[0].valueKind, "global_buffer");
  EXPECT_EQ(kernel.args[1].offset, 8u);
  EXPECT_EQ(kernel.args[1].size, 4u);
}

TEST_P(HSACO, EmitsAssemblyForTheChip) {
  LLVMContext context;
  auto module = parse(context);
  ASSERT_FALSE(errorToBool(prepareModule(*module, GetParam())));
  auto text = emitAssembly(*module, GetParam());
  ASSERT_TRUE(bool(text)) << toString(text.takeError());
  EXPECT_NE(text->find("amdgcn-amd-amdhsa--" + std::string(GetParam())),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Chips, HSACO, testing::Values("gfx942", "gfx950"));

TEST(HSACOErrors, RefusesWhatIsNoCodeObject) {
  auto kernels = readKernelInfo(ArrayRef<char>("not an ELF file", 15));
  ASSERT_FALSE(bool(kernels));
  consumeError(kernels.takeError());
  auto code = linkCodeObject(ArrayRef<char>("not an object", 13));
  ASSERT_FALSE(bool(code));
  EXPECT_TRUE(StringRef(toString(code.takeError())).contains("linking failed"));
}
