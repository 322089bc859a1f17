# How this project declares and installs its libraries, tools and unit tests.
#
#   add_attn_library(name sources... [MLIR|LLVM] [DEPENDS targets...] [LINK_LIBS libs...])
#     A static library. MLIR: includes MLIR headers (links libMLIR, shares the
#     MLIR precompiled header). LLVM: LLVM headers only (the emulator).
#   add_attn_plugin(name sources... [MLIR|LLVM] [LINK_LIBS libs...])
#     NAME.so, which a host program loads that links libMLIR's shared object.
#   add_attn_tool(name sources... [MLIR|LLVM] [LINK_LIBS libs...])
#   add_attn_unittest(name sources... [MLIR|LLVM] [LINK_LIBS libs...])
#     A GoogleTest program, part of check-attn-unit.
#   attn_install(targets... COMPONENT component)
#     Installs targets as AttnMLIR::NAME; the first four functions call it.
#   attn_install_package()
#     Headers and the files of find_package(AttnMLIR); once, after all targets.
#
# Components: Development (libraries, headers, CMake files), Tools, Plugin.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
find_package(GTest REQUIRED)
find_package(Threads REQUIRED)

add_custom_target(AttnUnitTests)

# Installed programs find our shared objects next to them and libMLIR where it was.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
set(ATTN_INSTALL_CMAKEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/AttnMLIR")

function(attn_install)
  cmake_parse_arguments(ARG "" "COMPONENT" "" ${ARGN})
  install(TARGETS ${ARG_UNPARSED_ARGUMENTS} EXPORT AttnMLIR${ARG_COMPONENT}Targets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${ARG_COMPONENT}
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${ARG_COMPONENT}
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT ${ARG_COMPONENT})
endfunction()

function(attn_install_package)
  foreach(root "${PROJECT_SOURCE_DIR}/include/" "${PROJECT_BINARY_DIR}/include/")
    install(DIRECTORY "${root}" TYPE INCLUDE COMPONENT Development
      FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.def" PATTERN "*.inc"
      PATTERN "CMakeFiles" EXCLUDE)
  endforeach()
  configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/modules/AttnMLIRConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/cmake/AttnMLIRConfig.cmake"
    INSTALL_DESTINATION "${ATTN_INSTALL_CMAKEDIR}"
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR)
  # Before 1.0 a minor version may break its users.
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/AttnMLIRConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
  install(FILES
    "${PROJECT_BINARY_DIR}/cmake/AttnMLIRConfig.cmake"
    "${PROJECT_BINARY_DIR}/cmake/AttnMLIRConfigVersion.cmake"
    DESTINATION "${ATTN_INSTALL_CMAKEDIR}" COMPONENT Development)
  # A file a component: the targets of what is not installed are not there.
  foreach(component Development Tools Plugin)
    install(EXPORT AttnMLIR${component}Targets NAMESPACE AttnMLIR::
      DESTINATION "${ATTN_INSTALL_CMAKEDIR}" COMPONENT ${component})
  endforeach()
endfunction()

# A shared object that lacks something does not link, but for what a program
# brings along that is instrumented itself.
set(ATTN_NO_UNDEFINED LINKER:-z,defs)
if(ATTN_ENABLE_SANITIZERS OR ATTN_ENABLE_FUZZERS)
  set(ATTN_NO_UNDEFINED "")
endif()

# What every user of our headers needs of LLVM and MLIR. AttnMLIRConfig.cmake
# fills the installed one in from the LLVM it finds: no absolute path is exported.
add_library(AttnUpstream INTERFACE)
target_include_directories(AttnUpstream INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include;${PROJECT_BINARY_DIR}/include>"
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_compile_features(AttnUpstream INTERFACE cxx_std_20)
attn_install(AttnUpstream COMPONENT Development)

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
  target_compile_options(${target} PRIVATE -fno-exceptions -fPIC
    # What is installed must not depend on where it was built: __FILE__ in assertions.
    "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=" "-fmacro-prefix-map=${PROJECT_BINARY_DIR}/=")
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
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} AttnUpstream ${ARG_BASE})
  attn_install(${name} COMPONENT Development)
endfunction()

function(add_attn_plugin name)
  _attn_parse(${ARGN})
  add_library(${name} MODULE ${ARG_UNPARSED_ARGUMENTS})
  _attn_compile_options(${name})
  _attn_pch(${name} ${ARG_FLAVOUR})
  set_target_properties(${name} PROPERTIES PREFIX "")
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} ${ARG_BASE})
  # The host may carry its own copy of our archives, or of lld.
  target_link_options(${name} PRIVATE LINKER:--exclude-libs,ALL ${ATTN_NO_UNDEFINED})
  attn_install(${name} COMPONENT Plugin)
endfunction()

function(add_attn_tool name)
  _attn_parse(${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  _attn_compile_options(${name})
  _attn_pch(${name} ${ARG_FLAVOUR})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} ${ARG_BASE})
  attn_install(${name} COMPONENT Tools)
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
