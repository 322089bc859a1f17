//===- Opts.td - Command line of attn-run ------------------*- tablegen -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

include "llvm/Option/OptParser.td"

// "--name=value" and "--name value".
multiclass Value<string name, string meta, string help> {
  def NAME : Separate<["--", "-"], name>, MetaVarName<meta>, HelpText<help>;
  def NAME#_eq : Joined<["--", "-"], name#"=">, Alias<!cast<Separate>(NAME)>,
                 HelpText<"">, Flags<[HelpHidden]>;
}

def help : Flag<["--", "-"], "help">, HelpText<"Show this text">;
def h : Flag<["-"], "h">, Alias<help>, HelpText<"Show this text">;

defm device : Value<"device", "<name>", "cpu, emulator or hip">;
defm manifest : Value<"manifest", "<file>", "Manifest of a code object (JSON)">;
defm entry : Value<"entry", "<name>",
                   "Function to run (default: the only public one)">;
defm chip : Value<"chip", "<name>", "gfx942 or gfx950, to compile a module for">;
defm optimize : Value<"optimize", "<level>",
                      "Optimization of the host's code, 0 to 3 (default: 3)">;
defm input : Value<"in", "<name>=<file.npy>", "Content of an argument">;
defm output : Value<"out", "<name>=<file.npy>",
                 "Where to write a result or a memref argument">;
