"""Builds llama.cpp's own server on the libraries of the installed engine.

Only the benchmarks and the proof need it. Only the server's own files are compiled, from the source
of the same version. It is kept in the user's cache, once per engine build, with a copy of the
engine's libraries, because the clone that built it may be gone when another one uses it.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.bootstrap import engine, places
from scripts.bootstrap.build import jobs
from scripts.bootstrap.lock import held
from scripts.bootstrap.recipe import Recipe
from scripts.bootstrap.say import SetupFailed, say
from scripts.bootstrap.source import unpacked

TARGET = "llama-server"
PROJECT = """
cmake_minimum_required(VERSION 3.18)
project(llama_server C CXX)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_BUILD_RPATH ${LIBRARIES})
find_package(Threads REQUIRED)
execute_process(COMMAND ${CMAKE_COMMAND}
    -DUI_SOURCE_DIR=${SOURCE}/tools/ui -DUI_BINARY_DIR=${CMAKE_BINARY_DIR}
    -DLLAMA_SOURCE_DIR=${SOURCE} -DLLAMA_BUILD_NUMBER=0 -DHF_BUCKET= -DHF_VERSION=
    -DHF_ENABLED=OFF -DBUILD_UI=OFF -DLLAMA_UI_GZIP=OFF -P ${SOURCE}/scripts/ui-assets.cmake
    COMMAND_ERROR_IS_FATAL ANY)
# The engine is built without the library that the command-line tools share.
set(LLAMA_BUILD_NUMBER 0)
configure_file(${SOURCE}/common/build-info.cpp.in build-info.cpp)
file(GLOB_RECURSE common ${SOURCE}/common/*.cpp)
file(GLOB parts ${SOURCE}/tools/server/*.cpp)
list(APPEND parts ${common} ${CMAKE_BINARY_DIR}/build-info.cpp)
add_executable(llama-server ${parts} ${SOURCE}/vendor/cpp-httplib/httplib.cpp ui.cpp)
set_source_files_properties(ui.cpp PROPERTIES GENERATED TRUE)
target_compile_definitions(llama-server PRIVATE LLAMA_SUBPROCESS)
target_include_directories(llama-server PRIVATE ${SOURCE} ${SOURCE}/include
    ${SOURCE}/ggml/include ${SOURCE}/common ${SOURCE}/vendor ${SOURCE}/tools/server
    ${SOURCE}/tools/mtmd ${CMAKE_BINARY_DIR})
foreach(name mtmd llama ggml ggml-base)
    target_link_libraries(llama-server PRIVATE ${LIBRARIES}/lib${name}.so)
endforeach()
target_link_libraries(llama-server PRIVATE Threads::Threads)
"""
NICENESS = 10


def llama_server() -> Path:
    """Returns the program, which it builds if needed. MOAT_LLAMA_SERVER may name another one."""
    named = os.environ.get("MOAT_LLAMA_SERVER")
    if named:
        return Path(named)
    recipe = installed_recipe()
    folder = places.wheel_cache().parent / TARGET / recipe.key
    program = folder / "build" / TARGET
    with held(folder / "lock", f"another process builds {TARGET}"):
        if not starts(program):
            build(recipe, folder)
    return program


def starts(program: Path) -> bool:
    """Whether the program exists and finds its libraries. A cached program may have lost them."""
    if not program.exists():
        return False
    return subprocess.run([program, "--version"], capture_output=True, check=False).returncode == 0


def installed_recipe() -> Recipe:
    choices = engine.choose()
    mark = engine.MARK.read_text(encoding="utf-8") if engine.MARK.exists() else ""
    return next((recipe for recipe in choices if recipe.key == mark), choices[0])


def build(recipe: Recipe, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    source = unpacked(Path(sys.executable), recipe.version, folder) / "vendor" / "llama.cpp"
    libraries = folder / "libraries"
    shutil.rmtree(libraries, ignore_errors=True)
    shutil.copytree(Path(sysconfig.get_path("platlib")) / "lib", libraries)
    (folder / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
    say(f"bench: building {TARGET} once, on the libraries of the engine (some minutes)")
    made = folder / "build"
    places_of = [f"-DSOURCE={source}", f"-DLIBRARIES={libraries}", "-DCMAKE_BUILD_TYPE=Release"]
    configure = ["cmake", "-S", str(folder), "-B", str(made), *places_of]
    compile_it = ["cmake", "--build", str(made), "--target", TARGET, "-j", str(jobs())]
    environment = {**os.environ, **recipe.environment()}
    with (folder / "build.log").open("w", encoding="utf-8") as log:
        for command in (configure, compile_it):
            run = subprocess.run(
                [*gently(), *command], env=environment, stdout=log, stderr=log, check=False
            )
            if run.returncode:
                raise SetupFailed(f"{TARGET} could not be built; see {folder / 'build.log'}.")


def gently() -> list[str]:
    return [] if sys.platform == "win32" else ["nice", "-n", str(NICENESS)]


if __name__ == "__main__":
    say(str(llama_server()))
