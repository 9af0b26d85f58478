# Read at each project() of the engine's source (CMAKE_PROJECT_INCLUDE). Builds what Moat loads and
# nothing else, and reads the headers that most files share once. The kernels (ggml-cpu) stay as they are.

if(NOT PROJECT_NAME STREQUAL "llama.cpp")
    return()
endif()

# The Python package forces this on for the command-line tools, which are not built here.
set(LLAMA_BUILD_COMMON OFF CACHE BOOL "llama.cpp: common library" FORCE)

function(moat_lighten target)
    if(MSVC OR NOT TARGET ${target})
        return()
    endif()
    # It arranges the work and does none of it: more than -O1 takes longer to compile and gains nothing.
    target_compile_options(${target} PRIVATE
        $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-O1>)
    target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()

# Without the shared headers: GCC 12 crashes where those were read at another level.
function(moat_optimize target level)
    if(MSVC OR NOT TARGET ${target})
        return()
    endif()
    set(sources ${ARGN})
    get_target_property(folder ${target} SOURCE_DIR)
    list(TRANSFORM sources PREPEND "${folder}/")
    set_source_files_properties(${sources} TARGET_DIRECTORY ${target}
        PROPERTIES COMPILE_OPTIONS ${level} SKIP_PRECOMPILE_HEADERS ON)
endfunction()

function(moat_join_models target)
    if(MSVC OR NOT TARGET ${target})
        return()
    endif()
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources EXCLUDE REGEX "^models/")
    get_target_property(folder ${target} SOURCE_DIR)
    list(TRANSFORM sources PREPEND "${folder}/")
    set_source_files_properties(${sources} TARGET_DIRECTORY ${target}
        PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
endfunction()

set(moat_llama "${CMAKE_CURRENT_SOURCE_DIR}")
cmake_language(EVAL CODE "
    cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]] CALL moat_lighten llama
        <algorithm> <functional> <map> <regex> <sstream>
        [[${moat_llama}/src/models/models.h]])
    # These go over every token or pixel.
    cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]] CALL moat_optimize llama -O2
        llama-batch.cpp llama-context.cpp llama-graph.cpp llama-kv-cache.cpp
        llama-sampler.cpp llama-vocab.cpp unicode.cpp)
    cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]] CALL moat_lighten mtmd
        <algorithm> <functional> <map> <string> <vector>)
    cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]] CALL moat_optimize mtmd -O2
        mtmd-audio.cpp mtmd-image.cpp)
    # These read files and share work out.
    cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]] CALL moat_optimize ggml-base -O1
        gguf.cpp ggml-backend-meta.cpp ggml-opt.cpp)
    cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]] CALL moat_join_models mtmd)
")
