# How this project declares its libraries, tools and unit tests.
#
#   add_attn_library(name sources... [MLIR|LLVM] [DEPENDS targets...] [LINK_LIBS libs...])
#     A static library. MLIR: includes MLIR headers (links libMLIR, shares the
#     MLIR precompiled header). LLVM: LLVM headers only (the emulator).
#   add_attn_tool(name sources... [MLIR|LLVM] [LINK_LIBS libs...])
#   add_attn_unittest(name sources... [MLIR|LLVM] [LINK_LIBS libs...])
#     A GoogleTest program, part of check-attn-unit.

find_package(GTest REQUIRED)
find_package(Threads REQUIRED)

add_custom_target(AttnUnitTests)
set_property(GLOBAL PROPERTY ATTN_LIBRARIES "")

# One precompiled header a flavour: a file full of MLIR headers compiles in 2 s, not 16.
function(_attn_pch target flavour)
  if(NOT TARGET AttnPCH${flavour})
    file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/pch/${flavour}.cpp" CONTENT "")
    add_library(AttnPCH${flavour} OBJECT "${PROJECT_BINARY_DIR}/pch/${flavour}.cpp")
    _attn_compile_options(AttnPCH${flavour})
    target_precompile_headers(AttnPCH${flavour} PRIVATE
      "${PROJECT_SOURCE_DIR}/cmake/pch/${flavour}.h")
  endif()
  target_precompile_headers(${target} REUSE_FROM AttnPCH${flavour})
endfunction()

function(_attn_compile_options target)
  # Executables too: -fPIE (CMake's choice there) does not match the PCH.
  target_compile_options(${target} PRIVATE -fno-exceptions -fPIC)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # Keeps ccache hits across checkouts: no time stamp inside the PCH.
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  else()
    # g++ 12 warns of overflows and overlaps in std::string that cannot be (GCC
    # PR105329, PR105651).
    target_compile_options(${target} PRIVATE -Wno-stringop-overflow -Wno-restrict)
  endif()
endfunction()

macro(_attn_parse)
  cmake_parse_arguments(ARG "MLIR;LLVM" "" "DEPENDS;LINK_LIBS" ${ARGN})
  if(ARG_MLIR)
    set(ARG_FLAVOUR MLIR)
    set(ARG_BASE MLIR LLVM)
  else()
    set(ARG_FLAVOUR LLVM)
    set(ARG_BASE LLVM)
  endif()
endmacro()

function(add_attn_library name)
  _attn_parse(${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  _attn_compile_options(${name})
  _attn_pch(${name} ${ARG_FLAVOUR})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} ${ARG_BASE})
  set_property(GLOBAL APPEND PROPERTY ATTN_LIBRARIES ${name})
endfunction()

function(add_attn_tool name)
  _attn_parse(${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  _attn_compile_options(${name})
  _attn_pch(${name} ${ARG_FLAVOUR})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} ${ARG_BASE})
endfunction()

# Writes unittests/programs.txt in the build tree: what utils/test runs.
function(attn_write_unittest_list)
  get_property(programs GLOBAL PROPERTY ATTN_UNITTESTS)
  list(JOIN programs "\n" lines)
  file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/unittests/programs.txt" CONTENT "${lines}\n")
endfunction()

function(add_attn_unittest name)
  _attn_parse(${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_UNPARSED_ARGUMENTS})
  _attn_compile_options(${name})
  _attn_pch(${name} ${ARG_FLAVOUR})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} GTest::gtest GTest::gtest_main
                        Threads::Threads ${ARG_BASE})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  add_dependencies(AttnUnitTests ${name})
  set_property(GLOBAL APPEND PROPERTY ATTN_UNITTESTS "$<TARGET_FILE:${name}>")
endfunction()

# add_attn_fuzzer(name sources... CORPUS folder [MLIR|LLVM] [LINK_LIBS libs...])
#   A libFuzzer program, with ATTN_ENABLE_FUZZERS only. The target fuzz-attn runs
#   each for ATTN_FUZZ_SECONDS, starting from the files in the corpus folder.
#   What it finds stays in the build tree.
function(add_attn_fuzzer name)
  if(NOT ATTN_ENABLE_FUZZERS)
    return()
  endif()
  cmake_parse_arguments(FUZZ "" "CORPUS" "" ${ARGN})
  _attn_parse(${FUZZ_UNPARSED_ARGUMENTS})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  _attn_compile_options(${name})
  _attn_pch(${name} ${ARG_FLAVOUR})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} ${ARG_BASE})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set(grown "${CMAKE_CURRENT_BINARY_DIR}/${name}.corpus")
  file(MAKE_DIRECTORY "${grown}")
  add_custom_target(fuzz-${name}
    COMMAND ${name} -max_total_time=${ATTN_FUZZ_SECONDS} -timeout=10
            -rss_limit_mb=2048 -print_final_stats=1
            "-artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/"
            "${grown}" "${CMAKE_CURRENT_SOURCE_DIR}/${FUZZ_CORPUS}"
    USES_TERMINAL VERBATIM)
  if(NOT TARGET fuzz-attn)
    add_custom_target(fuzz-attn)
  endif()
  add_dependencies(fuzz-attn fuzz-${name})
endfunction()
