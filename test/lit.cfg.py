import os

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "AttnMLIR"
config.test_format = lit.formats.ShTest(not llvm_config.use_lit_shell)
config.suffixes = [".mlir", ".test", ".ll", ".s", ".json"]
config.excludes = ["Inputs", "Integration", "Mutation", "OpenCL", "lit.cfg.py", "lit.site.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.attn_obj_root, "test")

config.substitutions.append(("%python", f'"{config.attn_python}"'))
config.substitutions.append(("%attn_src", config.attn_src_root))
config.substitutions.append(("%hip_stand_in", f"{config.attn_obj_root}/test/HIP/lib"))
config.substitutions.append(("%mlir_runner_utils", f"{config.llvm_tools_dir}/../lib/libmlir_runner_utils.so"))
config.substitutions.append(("%host_cxx", config.attn_host_cxx))
# Stock tools cannot load instrumented libraries: they lack the run-time library.
if not config.attn_is_instrumented:
    config.available_features.add("plugin")
else:
    # Allocators of LLVM's headers would poison what LLVM's and lld's own code, which is
    # not instrumented, takes from them.
    config.environment["ASAN_OPTIONS"] = "allow_user_poisoning=0:detect_leaks=0"
# utils/test --quick leaves out the tests that require this.
if not lit_config.params.get("quick"):
    config.available_features.add("slow")
config.substitutions.append(("%attn_plugin", f"{config.attn_lib_dir}/AttnPlugin.so"))

llvm_config.with_system_environment(["HOME", "TMP", "TEMP", "TMPDIR"])
llvm_config.use_default_substitutions()
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
llvm_config.with_environment("PATH", config.attn_tools_dir, append_path=True)
llvm_config.with_environment("FILECHECK_OPTS", "-enable-var-scope --dump-input=fail")

llvm_config.add_tool_substitutions(
    [
        ToolSubst("attn-opt", unresolved="fatal"),
        ToolSubst("attn-lsp-server", unresolved="ignore"),
        ToolSubst("attn-run", unresolved="ignore"),
        ToolSubst("attn-compile", unresolved="ignore"),
        ToolSubst("attn-tune", unresolved="ignore"),
        ToolSubst("mlir-opt", unresolved="fatal"),
        ToolSubst("split-file", unresolved="fatal"),
    ],
    [config.attn_tools_dir, config.llvm_tools_dir],
)
