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

defm device : Value<"device", "<name>", "cpu, emulator, hip or hip:<index>">;
defm manifest : Value<"manifest", "<file>", "Manifest of a code object (JSON)">;
defm entry : Value<"entry", "<name>",
                   "Function to run (default: the only public one)">;
defm chip : Value<"chip", "<name>", "gfx942 or gfx950, to compile a module for">;
defm optimize : Value<"optimize", "<level>",
                      "LLVM's optimization of the code, 0 to 3 (default: 3)">;
defm input : Value<"in", "<name>=<file.npy>", "Content of an argument">;
defm output : Value<"out", "<name>=<file.npy>",
                 "Where to write a result or a memref argument">;

def bisect : Flag<["--", "-"], "bisect">,
             HelpText<"Run a module at every level and name the first that differs">;

// The emulator.
defm check : Value<"check", "<checks>",
                   "none (default), all, or names: all,-hazards">;
defm schedule : Value<"schedule", "<order>",
                      "Order of waves: round-robin, reversed, random[:seed]">;
defm threads : Value<"threads", "<n>", "Host threads (default: all cores)">;
defm max_instructions
    : Value<"max-instructions", "<n>",
            "Instructions of one wave before it counts as endless">;
defm perturb : Value<"perturb", "<seed>",
                     "Perturb the last bit of transcendental and MFMA results">;
def disassemble : Flag<["--", "-"], "disassemble">,
                  HelpText<"Print the code instead of running it">;
def stats : Flag<["--", "-"], "stats">,
            HelpText<"Print statistics as text">;
def stats_eq : Joined<["--", "-"], "stats=">, MetaVarName<"<text|json>">,
               HelpText<"Print statistics">;
def trace : Flag<["--", "-"], "trace">,
            HelpText<"Print one line an instruction">;
defm trace_workgroup : Value<"trace-workgroup", "<n>",
                             "Trace one workgroup (linear id, x fastest)">;
defm trace_wave : Value<"trace-wave", "<n>", "Trace one wave of a workgroup">;
defm trace_pc : Value<"trace-pc", "<begin>:<end>",
                      "Trace addresses as the disassembly prints them">;
defm trace_lane : Value<"trace-lane", "<n>", "Lane whose values are shown">;

// The timing model.
def timing : Flag<["--", "-"], "timing">,
             HelpText<"Predict clocks instead of running (docs/Timing.md)">;
def timing_eq : Joined<["--", "-"], "timing=">, MetaVarName<"<text|json>">,
                HelpText<"Predict clocks">;
defm timing_set : Value<"timing-set", "<name>=<n>[,...]",
                        "Replace constants of the timing model">;
defm timing_period
    : Value<"timing-period", "<n>",
            "Workgroups after which the work repeats (those of one head)">;
defm timeline : Value<"timeline", "<file.svg>",
                      "Picture of the steady loop, with --timing">;
defm perfetto : Value<"perfetto", "<file.json>",
                      "Trace for Perfetto or chrome://tracing, with --timing">;
