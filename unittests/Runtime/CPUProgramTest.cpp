//===- CPUProgramTest.cpp - Code for the host -----------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/CPUProgram.h"
#include "attn/Runtime/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace attn::rt;

namespace {

class CPUProgramTest : public testing::Test {
protected:
  CPUProgramTest() : context(makeRegistry()) {}

  static mlir::DialectRegistry makeRegistry() {
    mlir::DialectRegistry registry;
    registerCPUDialects(registry);
    return registry;
  }

  Expected<std::unique_ptr<CPUProgram>> compile(StringRef text,
                                                StringRef entry = "") {
    FirstError diagnostics(&context);
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      return diagnostics.take("no module");
    return CPUProgram::compile(*module, entry);
  }

  std::string error(StringRef text, StringRef entry = "") {
    auto program = compile(text, entry);
    return program ? "no error" : toString(program.takeError());
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

template <typename T> T read(const ArrayView &view) {
  T value;
  memcpy(&value, view.base, sizeof(T));
  return value;
}

TEST_F(CPUProgramTest, ScalarsOfEveryWidthKeepTheirPlaces) {
  // Alignment gaps in the returned struct: i8, f64, i1, i16, f16, index, f32.
  auto program = compile(R"mlir(
    func.func @f(%a: i8, %b: f64, %c: i1, %d: i16, %e: f16, %f: index, %g: f32)
        -> (i8, f64, i1, i16, f16, index, f32) {
      return %a, %b, %c, %d, %e, %f, %g : i8, f64, i1, i16, f16, index, f32
    })mlir");
  ASSERT_TRUE(bool(program)) << toString(program.takeError());
  uint64_t bits[] = {0x81,   0x3ff8000000000000, 1,         0xfffe,
                     0x3e00, 0x123456789a,       0x40200000};
  std::vector<ArgValue> args(std::begin(bits), std::end(bits));
  auto results = (*program)->run(args);
  ASSERT_TRUE(bool(results)) << toString(results.takeError());
  ASSERT_EQ(results->views.size(), 7u);
  EXPECT_EQ(read<uint8_t>(results->views[0]), 0x81);
  EXPECT_EQ(read<double>(results->views[1]), 1.5);
  EXPECT_EQ(read<uint8_t>(results->views[2]) & 1, 1);
  EXPECT_EQ(read<int16_t>(results->views[3]), -2);
  EXPECT_EQ(read<uint16_t>(results->views[4]), 0x3e00);
  EXPECT_EQ(read<int64_t>(results->views[5]), 0x123456789a);
  EXPECT_EQ(read<float>(results->views[6]), 2.5f);
}

TEST_F(CPUProgramTest, OneScalarComesBackByValue) {
  auto program = compile("func.func @f(%a: f32) -> f32 { return %a : f32 }");
  ASSERT_TRUE(bool(program)) << toString(program.takeError());
  auto results = (*program)->run({uint64_t(0x40200000)});
  ASSERT_TRUE(bool(results)) << toString(results.takeError());
  EXPECT_EQ(read<float>(results->views[0]), 2.5f);
}

TEST_F(CPUProgramTest, RunsMoreThanOnce) {
  auto program = compile(R"mlir(
    func.func @f(%n: index) -> tensor<?xf32> {
      %one = arith.constant 1.0 : f32
      %e = tensor.empty(%n) : tensor<?xf32>
      %r = linalg.fill ins(%one : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
      return %r : tensor<?xf32>
    })mlir");
  ASSERT_TRUE(bool(program)) << toString(program.takeError());
  auto first = (*program)->run({uint64_t(3)});
  auto second = (*program)->run({uint64_t(5)});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->views[0].shape, SmallVector<int64_t>{3});
  EXPECT_EQ(second->views[0].shape, SmallVector<int64_t>{5});
  EXPECT_NE(first->views[0].base, second->views[0].base);
  EXPECT_EQ(read<float>(first->views[0]), 1.0f);
}

TEST_F(CPUProgramTest, MemoryThatIsNotItsOwnIsNotFreed) {
  // The leak is on purpose too: the sanitizers see that it goes away.
  auto program = compile(R"mlir(
    llvm.func @malloc(i64) -> !llvm.ptr
    llvm.func @free(!llvm.ptr)
    func.func @f(%m: memref<4xf32>) {
      %i = memref.extract_aligned_pointer_as_index %m : memref<4xf32> -> index
      %j = arith.index_cast %i : index to i64
      %p = llvm.inttoptr %j : i64 to !llvm.ptr
      %c = arith.constant 64 : i64
      %leak = llvm.call @malloc(%c) : (i64) -> !llvm.ptr
      llvm.store %j, %leak : i64, !llvm.ptr
      llvm.call @free(%p) : (!llvm.ptr) -> ()
      return
    })mlir");
  ASSERT_TRUE(bool(program)) << toString(program.takeError());
  HostBuffer buffer = cantFail(HostBuffer::create("m", DType::F32, {4}, {1}));
  auto results = (*program)->run({&buffer});
  ASSERT_FALSE(bool(results));
  EXPECT_EQ(toString(results.takeError()),
            "'f' frees memory that it does not own");
}

TEST_F(CPUProgramTest, NamesOfArgumentsAndResults) {
  auto program = compile(R"mlir(
    func.func @f(%a: f32 {attn.name = "scale"}, %b: memref<2x?xf32, strided<[?, 2], offset: ?>>)
        -> (f32, f32, f32, f32 {attn.name = "last"}) {
      return %a, %a, %a, %a : f32, f32, f32, f32
    })mlir");
  ASSERT_TRUE(bool(program)) << toString(program.takeError());
  const Signature &signature = (*program)->getSignature();
  EXPECT_EQ(signature.entry, "f");
  ASSERT_EQ(signature.args.size(), 2u);
  EXPECT_EQ(signature.args[0].name, "scale");
  EXPECT_EQ(signature.args[1].name, "arg1");
  EXPECT_EQ(signature.args[1].kind, ValueInfo::Kind::MemRef);
  int64_t dynamic = mlir::ShapedType::kDynamic;
  EXPECT_EQ(signature.args[1].shape, (SmallVector<int64_t>{2, dynamic}));
  EXPECT_EQ(signature.args[1].strides, (SmallVector<int64_t>{dynamic, 2}));
  EXPECT_EQ(signature.args[1].offset, dynamic);
  ASSERT_EQ(signature.results.size(), 4u);
  EXPECT_EQ(signature.results[0].name, "output");
  EXPECT_EQ(signature.results[1].name, "lse");
  EXPECT_EQ(signature.results[2].name, "result2");
  EXPECT_EQ(signature.results[3].name, "last");
  EXPECT_NE(signature.findResult("last"), nullptr);
  EXPECT_EQ(signature.findArg("last"), nullptr);
}

TEST_F(CPUProgramTest, Errors) {
  EXPECT_EQ(error("module {}"), "expects one public function or --entry=NAME, "
                                "but the public functions are: none");
  EXPECT_EQ(error("func.func private @f()", "f"),
            "expects a function called 'f', but the public functions are: "
            "none");
  EXPECT_EQ(error("func.func @f(%a: tensor<*xf32>) { return }"),
            "'arg0': expects a scalar, ranked tensor or ranked memref, but got "
            "tensor<*xf32>");
  EXPECT_EQ(
      error("func.func @f(%a: memref<4xf32, affine_map<(i) -> (i mod 2)>>)"
            " { return }"),
      "'arg0': expects a strided memref, but got memref<4xf32, "
      "affine_map<(d0) -> (d0 mod 2)>>");
  EXPECT_EQ(error("func.func @f(%a: memref<4xf32, 3>) { return }"),
            "'arg0': expects the default memory space, but got memref<4xf32, "
            "3>");
  EXPECT_EQ(error("func.func @f(%a: memref<4xf32, \"x\">) { return }"),
            "'arg0': expects the default memory space, but got memref<4xf32, "
            "\"x\">");
  EXPECT_EQ(error("func.func @f(%a: complex<f32>) { return }"),
            "'arg0': expects elements that a .npy file can hold, but got "
            "complex<f32>");
}

} // namespace
