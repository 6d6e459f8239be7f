# Gangway for CMake (3.18 or newer).
#
#   find_package(Gangway REQUIRED)
#   target_link_libraries(program PRIVATE Gangway::OpenMP)
#
# Gangway_OFFLOAD_ARCH says what target regions are compiled for, as `gangway cc --offload-arch=`:
# processors such as sm_80, and x86_64 for CPU devices, which is the default.
#
# The compilers are clang-22, clang++-22 and flang-22, or gangway-cc, gangway-c++ and gangway-fc.
# Fortran for GPUs needs gangway-fc: flang-22 has no flags for what that takes.

get_filename_component(Gangway_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(Gangway_COMMAND "${Gangway_PREFIX}/bin/gangway")
set(Gangway_OFFLOAD_ARCH "x86_64" CACHE STRING "What target regions are compiled for: sm_80, ..., x86_64")

set(Gangway_FOUND TRUE)
if(CMAKE_VERSION VERSION_LESS 3.18)
  set(Gangway_FOUND FALSE)
  set(Gangway_NOT_FOUND_MESSAGE "CMake ${CMAKE_VERSION} is too old: 3.18 or newer is needed")
endif()

# The flags of one step (compile, link), as one option that CMake neither splits nor merges.
function(_gangway_flags result subcommand step)
  string(REPLACE ";" "," architectures "${Gangway_OFFLOAD_ARCH}")
  execute_process(
    COMMAND "${Gangway_COMMAND}" "${subcommand}" "--print-flags=${step}" "--offload-arch=${architectures}"
    OUTPUT_VARIABLE flags ERROR_VARIABLE problem RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    set(flags "")
    string(STRIP "${problem}" problem)
    set(Gangway_NOT_FOUND_MESSAGE "${problem}" PARENT_SCOPE)
    set(Gangway_FOUND FALSE PARENT_SCOPE)
  endif()
  set(${result} "${flags}" PARENT_SCOPE)
endfunction()

if(Gangway_FOUND AND NOT TARGET Gangway::OpenMP)
  set(_gangway_compile "")
  set(_gangway_link "")
  foreach(_gangway_pair C:cc CXX:c++ Fortran:fc)
    string(REPLACE ":" ";" _gangway_pair "${_gangway_pair}")
    list(GET _gangway_pair 0 _gangway_language)
    list(GET _gangway_pair 1 _gangway_subcommand)
    if(NOT CMAKE_${_gangway_language}_COMPILER_LOADED)
      continue()
    endif()
    get_filename_component(_gangway_compiler "${CMAKE_${_gangway_language}_COMPILER}" NAME)
    if(_gangway_compiler STREQUAL "gangway-${_gangway_subcommand}")
      # It adds the rest itself.
      string(REPLACE ";" "," _gangway_architectures "${Gangway_OFFLOAD_ARCH}")
      set(_gangway_flags_compile "-fopenmp --offload-arch=${_gangway_architectures}")
      set(_gangway_flags_link "${_gangway_flags_compile}")
    elseif(NOT CMAKE_${_gangway_language}_COMPILER_ID MATCHES "Clang|Flang"
           OR NOT CMAKE_${_gangway_language}_COMPILER_VERSION VERSION_GREATER_EQUAL 22
           OR NOT CMAKE_${_gangway_language}_COMPILER_VERSION VERSION_LESS 23)
      set(Gangway_FOUND FALSE)
      set(Gangway_NOT_FOUND_MESSAGE
          "the ${_gangway_language} compiler is ${CMAKE_${_gangway_language}_COMPILER_ID} ${CMAKE_${_gangway_language}_COMPILER_VERSION}; Gangway works with LLVM 22: set CMAKE_${_gangway_language}_COMPILER to gangway-${_gangway_subcommand} or to LLVM's compiler")
      continue()
    else()
      _gangway_flags(_gangway_flags_compile "${_gangway_subcommand}" compile)
      _gangway_flags(_gangway_flags_link "${_gangway_subcommand}" link)
      if(Gangway_OFFLOAD_ARCH MATCHES "sm_|native" AND NOT _gangway_language STREQUAL "Fortran")
        # As `gangway cc -g` does: clang-22 makes wrong GPU code with descriptions of variables.
        list(APPEND _gangway_compile
             "$<$<AND:$<COMPILE_LANGUAGE:${_gangway_language}>,$<CONFIG:Debug>>:SHELL:-Xopenmp-target=nvptx64-nvidia-cuda -gline-tables-only>")
      endif()
    endif()
    list(APPEND _gangway_compile "$<$<COMPILE_LANGUAGE:${_gangway_language}>:SHELL:${_gangway_flags_compile}>")
    list(APPEND _gangway_link "$<$<LINK_LANGUAGE:${_gangway_language}>:SHELL:${_gangway_flags_link}>")
  endforeach()
  if(Gangway_FOUND)
    add_library(Gangway::OpenMP INTERFACE IMPORTED)
    set_target_properties(Gangway::OpenMP PROPERTIES
      INTERFACE_COMPILE_OPTIONS "${_gangway_compile}"
      INTERFACE_LINK_OPTIONS "${_gangway_link}")
  endif()
endif()
