//===- Program.cpp - Compiled functions -----------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn-c/Program.h"
#include "Handles.h"
#include "attn/Pipelines.h"
#include "attn/Runtime/CompileModule.h"
#include "attn/Runtime/Diagnostics.h"
#include "attn/Target/ChipInfo.h"
#include "attn/Target/ParseJSON.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <mutex>

using namespace llvm;

namespace attn::capi {

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// lld resets the options of LLVM's command line library, which code generation
/// reads: one compilation at a time.
static std::mutex &getCompilerMutex() {
  static std::mutex mutex;
  return mutex;
}

namespace {
struct Options {
  std::string target;
  std::string entry;
  unsigned optLevel;

  bool isForCPU() const { return target == "cpu"; }
};

/// A module on its way down.
struct ParsedModule {
  Options options;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp entry;
};
} // namespace

static Expected<Options> readOptions(const attnCompileOptions *options) {
  if (!options || options->structSize < sizeof(attnCompileOptions))
    return fail(ATTN_INVALID_ARGUMENT,
                "expects options with structSize at least " +
                    Twine(sizeof(attnCompileOptions)));
  Options result{options->target ? options->target : "",
                 options->entry ? options->entry : "",
                 static_cast<unsigned>(options->optLevel)};
  if (options->optLevel < 0 || options->optLevel > 3)
    return fail(ATTN_INVALID_ARGUMENT, "optLevel: expects 0 to 3, but got " +
                                           Twine(options->optLevel));
  if (result.isForCPU())
    return result;
  if (auto chip = mlir::attn::lookupChip(result.target); !chip) {
    consumeError(chip.takeError());
    return fail(ATTN_INVALID_ARGUMENT,
                "target: expects cpu, gfx942 or gfx950, but got '" +
                    result.target + "'");
  }
  return result;
}

static Expected<ParsedModule> parse(StringRef text, Options options) {
  mlir::DialectRegistry registry;
  if (options.isForCPU())
    rt::registerCPUDialects(registry);
  else
    rt::registerGPUDialects(registry);
  ParsedModule parsed;
  parsed.context = std::make_unique<mlir::MLIRContext>(
      registry, mlir::MLIRContext::Threading::DISABLED);
  SourceMgr sources;
  sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(text, "module"),
                             SMLoc());
  rt::FirstError diagnostics(parsed.context.get());
  parsed.module =
      mlir::parseSourceFile<mlir::ModuleOp>(sources, parsed.context.get());
  if (!parsed.module)
    return withCode(ATTN_INVALID_ARGUMENT,
                    diagnostics.take("the text is not a module"));
  Expected<mlir::func::FuncOp> entry =
      rt::findEntry(*parsed.module, options.entry);
  if (!entry)
    return withCode(ATTN_INVALID_ARGUMENT, entry.takeError());
  parsed.entry = *entry;
  parsed.options = std::move(options);
  return parsed;
}

static Expected<ParsedModule> parse(StringRef text,
                                    const attnCompileOptions *compileOptions) {
  Expected<Options> options = readOptions(compileOptions);
  if (!options)
    return options.takeError();
  return parse(text, std::move(*options));
}

static Error compileForCPU(Program &program, ParsedModule &parsed) {
  rt::CPUOptions options;
  options.optLevel = program.optLevel;
  auto code = rt::compileForCPU(*parsed.module, program.entry, options);
  if (!code)
    return withCode(ATTN_UNSUPPORTED, code.takeError());
  program.code = std::move(code->object);
  program.manifest = program.interface;
  return Error::success();
}

static Error compileForChip(Program &program, ParsedModule &parsed) {
  auto compiled = rt::compileModule(*parsed.module, program.target,
                                    program.entry, program.optLevel);
  if (!compiled)
    return withCode(ATTN_UNSUPPORTED, compiled.takeError());
  program.code = std::move(compiled->code);
  program.manifest = std::move(compiled->manifest);
  return Error::success();
}

/// The texts that handles give out.
static void printTexts(Program &program) {
  raw_string_ostream interface(program.interfaceText);
  program.interface.print(interface);
  raw_string_ostream manifest(program.manifestText);
  program.manifest.print(manifest);
}

Expected<std::shared_ptr<const Program>>
compileProgram(StringRef text, const attnCompileOptions *compileOptions) {
  std::lock_guard<std::mutex> lock(getCompilerMutex());
  Expected<ParsedModule> parsed = parse(text, compileOptions);
  if (!parsed)
    return parsed.takeError();
  const Options &options = parsed->options;
  auto program = std::make_shared<Program>();
  program->target = options.target;
  program->entry = parsed->entry.getName().str();
  program->source = text.str();
  program->optLevel = options.optLevel;
  Expected<rt::Signature> signature = rt::getSignature(parsed->entry);
  if (!signature)
    return withCode(ATTN_UNSUPPORTED, signature.takeError());
  program->signature = std::move(*signature);
  Expected<manifest::Manifest> interface =
      rt::describeInterface(parsed->entry, program->signature, options.target);
  if (!interface)
    return withCode(ATTN_INVALID_ARGUMENT, interface.takeError());
  program->interface = std::move(*interface);
  if (Error error = options.isForCPU() ? compileForCPU(*program, *parsed)
                                       : compileForChip(*program, *parsed))
    return std::move(error);
  printTexts(*program);
  return program;
}

Error checkSupport(StringRef text, const attnCompileOptions *compileOptions) {
  std::lock_guard<std::mutex> lock(getCompilerMutex());
  Expected<ParsedModule> parsed = parse(text, compileOptions);
  if (!parsed)
    return parsed.takeError();
  const Options &options = parsed->options;
  rt::FirstError diagnostics(parsed->context.get());
  mlir::PassManager manager(parsed->context.get());
  if (options.isForCPU()) {
    mlir::attn::AttnToCPUOptions pipeline;
    mlir::attn::buildAttnToCPUPipeline(manager, pipeline);
  } else {
    mlir::attn::AttnToROCDLOptions pipeline;
    pipeline.chip = options.target;
    mlir::attn::buildAttnToROCDLPipeline(manager, pipeline);
  }
  if (failed(manager.run(*parsed->module)))
    return withCode(
        ATTN_UNSUPPORTED,
        diagnostics.take("the module cannot be lowered for " + options.target));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

namespace {
/// Records the whole module after every pass that changed it.
class StageRecorder : public mlir::PassInstrumentation {
public:
  StageRecorder(mlir::ModuleOp module, json::Array &stages)
      : module(module), stages(stages), last(print()) {}

  void runAfterPass(mlir::Pass *pass, mlir::Operation *) override {
    std::string text = print();
    // Passes without an argument only run others.
    if (pass->getArgument().empty() || text == last)
      return;
    last = text;
    stages.push_back(
        json::Object{{"name", pass->getArgument()}, {"text", std::move(text)}});
  }

private:
  std::string print() {
    std::string text;
    raw_string_ostream(text) << module;
    return text;
  }

  mlir::ModuleOp module;
  json::Array &stages;
  std::string last;
};
} // namespace

Expected<std::string> compileStages(const Program &program) {
  std::lock_guard<std::mutex> lock(getCompilerMutex());
  Expected<ParsedModule> parsed = parse(
      program.source, Options{program.target, program.entry, program.optLevel});
  if (!parsed)
    return parsed.takeError();
  json::Array stages;
  stages.push_back(json::Object{{"name", "source"}, {"text", program.source}});
  auto record = [&](mlir::PassManager &manager) {
    manager.addInstrumentation(
        std::make_unique<StageRecorder>(*parsed->module, stages));
  };
  Expected<std::string> assembly =
      program.isForCPU()
          ? rt::emitAssemblyForCPU(*parsed->module, program.entry,
                                   {.optLevel = program.optLevel}, record)
          : rt::emitAssembly(*parsed->module, program.target, program.optLevel,
                             record);
  if (!assembly)
    return assembly.takeError();
  stages.push_back(json::Object{{"name", "asm"}, {"text", *assembly}});
  return formatv("{0}", json::Value(std::move(stages))).str();
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

// "ATTNPRG" and a version; then, little endian, the sizes of header and code
// and a checksum of both; the header (JSON); the code.
static constexpr StringLiteral magic = StringLiteral("ATTNPRG1");
static constexpr size_t prefixBytes = 8 + 3 * sizeof(uint64_t);

std::string serialize(const Program &program) {
  json::Object header{{"build_id", attnGetBuildId()},
                      {"target", program.target},
                      {"entry", program.entry},
                      {"source", program.source},
                      {"opt_level", program.optLevel},
                      {"interface", program.interface.toJSON()},
                      {"manifest", program.manifest.toJSON()}};
  if (program.isForCPU())
    header["host"] = getHostName();
  std::string body = formatv("{0}", json::Value(std::move(header))).str();
  size_t headerBytes = body.size();
  body.append(program.code.data(), program.code.size());
  std::string bytes = magic.str();
  for (uint64_t word : {uint64_t(headerBytes), uint64_t(program.code.size()),
                        xxh3_64bits(body)}) {
    char raw[sizeof(word)];
    support::endian::write64le(raw, word);
    bytes.append(raw, sizeof(raw));
  }
  return bytes + body;
}

static Expected<std::shared_ptr<const Program>>
readHeader(const json::Object &header, ArrayRef<char> code) {
  auto getString = [&](StringRef name) {
    return header.getString(name).value_or("").str();
  };
  if (getString("build_id") != attnGetBuildId())
    return createStringError("the program comes from another build");
  auto program = std::make_shared<Program>();
  program->target = getString("target");
  program->entry = getString("entry");
  program->source = getString("source");
  program->optLevel = header.getInteger("opt_level").value_or(3);
  program->code.assign(code.begin(), code.end());
  if (program->isForCPU() && getString("host") != getHostName())
    return createStringError(
        formatv("the program is for another host: expects {0}, but got {1}",
                getHostName(), getString("host")));
  const json::Value *interface = header.get("interface");
  const json::Value *manifest = header.get("manifest");
  if (!interface || !manifest)
    return createStringError("the program has no interface");
  auto parsedInterface = manifest::Manifest::fromJSON(*interface);
  if (!parsedInterface)
    return parsedInterface.takeError();
  program->interface = std::move(*parsedInterface);
  auto parsedManifest = manifest::Manifest::fromJSON(*manifest);
  if (!parsedManifest)
    return parsedManifest.takeError();
  program->manifest = std::move(*parsedManifest);
  if (program->isForCPU()) {
    // The types of the arguments are read off the source again.
    Expected<ParsedModule> parsed = parse(
        program->source, Options{"cpu", program->entry, program->optLevel});
    if (!parsed)
      return parsed.takeError();
    Expected<rt::Signature> signature = rt::getSignature(parsed->entry);
    if (!signature)
      return signature.takeError();
    program->signature = std::move(*signature);
  }
  printTexts(*program);
  return program;
}

Expected<std::shared_ptr<const Program>> deserialize(StringRef bytes) {
  if (bytes.size() < prefixBytes || !bytes.starts_with(magic))
    return createStringError("expects a serialized program");
  auto word = [&](unsigned i) {
    return support::endian::read64le(bytes.data() + 8 + i * sizeof(uint64_t));
  };
  StringRef body = bytes.drop_front(prefixBytes);
  uint64_t headerBytes = word(0), codeBytes = word(1);
  if (headerBytes > body.size() || codeBytes != body.size() - headerBytes ||
      xxh3_64bits(body) != word(2))
    return createStringError("the serialized program is damaged");
  Expected<json::Value> header = parseJSON(body.take_front(headerBytes));
  if (!header)
    return header.takeError();
  const json::Object *object = header->getAsObject();
  if (!object)
    return createStringError("the serialized program is damaged");
  StringRef code = body.drop_front(headerBytes);
  return readHeader(*object, ArrayRef(code.data(), code.size()));
}

} // namespace attn::capi

//===----------------------------------------------------------------------===//
// The C functions
//===----------------------------------------------------------------------===//

using namespace attn::capi;

static attnResult giveProgram(Expected<std::shared_ptr<const Program>> compiled,
                              attnProgram *program) {
  if (!compiled)
    return toResult(compiled.takeError());
  *program = new attnProgramStorage{std::move(*compiled)};
  return nullptr;
}

attnResult attnCompile(const char *text, size_t size,
                       const attnCompileOptions *options,
                       attnProgram *program) {
  if (Error error = refuseNull({{"text", text}, {"program", program}}))
    return toResult(std::move(error));
  return giveProgram(compileProgram(StringRef(text, size), options), program);
}

attnResult attnCompileDescription(const char *json, size_t size,
                                  const attnCompileOptions *options,
                                  attnProgram *program) {
  if (Error error = refuseNull({{"json", json}, {"program", program}}))
    return toResult(std::move(error));
  Expected<std::string> text = describe(StringRef(json, size));
  if (!text)
    return toResult(withCode(ATTN_INVALID_ARGUMENT, text.takeError()));
  return giveProgram(compileProgram(*text, options), program);
}

attnResult attnCheckSupport(const char *text, size_t size,
                            const attnCompileOptions *options) {
  if (Error error = refuseNull({{"text", text}}))
    return toResult(std::move(error));
  return toResult(checkSupport(StringRef(text, size), options));
}

void attnProgramDestroy(attnProgram program) { delete program; }

const char *attnProgramGetTarget(attnProgram program) {
  return program ? program->program->target.c_str() : "";
}
const char *attnProgramGetEntry(attnProgram program) {
  return program ? program->program->entry.c_str() : "";
}
const char *attnProgramGetSource(attnProgram program) {
  return program ? program->program->source.c_str() : "";
}
const char *attnProgramGetManifest(attnProgram program) {
  return program ? program->program->manifestText.c_str() : "";
}
const char *attnProgramGetInterface(attnProgram program) {
  return program ? program->program->interfaceText.c_str() : "";
}
const char *attnProgramGetCode(attnProgram program, size_t *size) {
  if (size)
    *size = program ? program->program->code.size() : 0;
  return program ? program->program->code.data() : "";
}

attnResult attnProgramGetStages(attnProgram program, attnBlob *json) {
  if (Error error = refuseNull({{"program", program}, {"json", json}}))
    return toResult(std::move(error));
  Expected<std::string> stages = compileStages(*program->program);
  if (!stages)
    return toResult(stages.takeError());
  *json = makeBlob(*stages);
  return nullptr;
}

attnResult attnProgramSerialize(attnProgram program, attnBlob *blob) {
  if (Error error = refuseNull({{"program", program}, {"blob", blob}}))
    return toResult(std::move(error));
  *blob = makeBlob(serialize(*program->program));
  return nullptr;
}

attnResult attnProgramDeserialize(const char *data, size_t size,
                                  attnProgram *program) {
  if (Error error = refuseNull({{"data", data}, {"program", program}}))
    return toResult(std::move(error));
  auto read = deserialize(StringRef(data, size));
  if (!read)
    return toResult(withCode(ATTN_INVALID_ARGUMENT, read.takeError()));
  return giveProgram(std::move(read), program);
}
