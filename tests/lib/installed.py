#!/usr/bin/env python3
"""Installs into a fresh folder and builds programs with what is there, as a user does: installed.py BUILD SOURCE URING [CC...].

Everything promised is installed; pkg-config's flags suffice for a program with the shared and one with the static library;
neither needs anything but the C library at run time (where liburing's archive was there to go into them). So do those of the
CMake package, where cmake is installed. What the program needs beside is there too, and `make uninstall` leaves nothing.
Skipped (77) without pkg-config, and where the build is another user's.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
WANTED = ["include/weir.h", "include/weir/method.h", "libweir.so", "libweir.so.0", "libweir.so.0.1.0", "libweir.a",
          "bin/weir", "man1/weir.1", "man1/weir-bench.1", "man7/weir-methods.7", "man7/weir-studies.7",
          "share/bash-completion/completions/weir", "share/zsh/site-functions/_weir", "share/fish/vendor_completions.d/weir.fish",
          "cmake/weir/weirConfig.cmake", "cmake/weir/weirConfigVersion.cmake", "pkgconfig/weir.pc", "man3/weir.3", "man3/weir_lines.3", "man3/weir_read_file.3", "man3/weir_lines_next.3"]

STRICT = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-D_FILE_OFFSET_BITS=64"]


def run(command, **options):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if result.returncode:
        sys.exit(f"{' '.join(command)}: status {result.returncode}\n{result.stdout}")
    return result.stdout


def needed(path):
    return sorted(re.findall(r"\(NEEDED\).*\[(.*)\]", run(["readelf", "-d", path])))


def beside_c_library(names):
    """Without the parts of the C library itself, its loader among them."""
    return [name for name in names if not re.match(r"(libc|libpthread|ld-linux\S*)\.so", name)]


def files_below(folder):
    return [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names]


def flags(package, root, *options):
    folder = os.path.dirname(package)
    environment = dict(os.environ, PKG_CONFIG_PATH=folder, PKG_CONFIG_SYSROOT_DIR=root, PKG_CONFIG_ALLOW_SYSTEM_CFLAGS="1",
                       PKG_CONFIG_ALLOW_SYSTEM_LIBS="1")
    return run(["pkg-config", *options, "--cflags", "--libs", "weir"], env=environment).split()


def example_of_readme(root, source, compiler, options):
    """The program in README.md, built and run as it stands there."""
    with open(os.path.join(source, "README.md"), encoding="utf-8") as file:
        text = re.search(r"^```c\n(.*?weir_lines_open.*?)^```$", file.read(), flags=re.DOTALL | re.MULTILINE).group(1)
    with open(os.path.join(root, "longest.c"), "w", encoding="utf-8") as file:
        file.write(text)
    with open(os.path.join(root, "big.log"), "w", encoding="utf-8") as file:
        file.write("one\nseventeen letters\ntwo")
    run([*compiler, "longest.c", "-o", "longest", *options], cwd=root)
    printed = run([os.path.join(root, "longest")], cwd=root)
    if printed != "17\n":
        sys.exit(f"the program of README.md prints {printed!r}")


CMAKE = """cmake_minimum_required(VERSION 3.13)
project(user C)
find_package(weir {version} REQUIRED)
add_executable(shared everything.c)
target_link_libraries(shared PRIVATE weir::weir)
add_executable(archive everything.c)
target_link_libraries(archive PRIVATE weir::static)
"""


def cmake_project(root, source, compiler):
    """A user's project with the package; one that wants another version is refused."""
    if not shutil.which("cmake"):
        print("SKIPPED the CMake package: cmake is not installed")
        return
    config = next(path for path in files_below(root) if path.endswith("/weirConfig.cmake"))
    data = os.path.join(root, "data")
    for version in ("0.1", "0.9"):
        folder = os.path.join(root, f"project-{version}")
        os.mkdir(folder)
        shutil.copy(os.path.join(source, "tests/lib/everything.c"), folder)
        with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write(CMAKE.format(version=version))
        made = subprocess.run(["cmake", "-S", folder, "-B", f"{folder}/build", f"-Dweir_DIR={os.path.dirname(config)}",
                               f"-DCMAKE_C_COMPILER={compiler[-1]}", "-DCMAKE_C_FLAGS=-D_FILE_OFFSET_BITS=64"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if (made.returncode == 0) != (version == "0.1"):
            sys.exit(f"cmake for weir {version}: status {made.returncode}\n{made.stdout}")
    built = os.path.join(root, "project-0.1/build")
    run(["cmake", "--build", built])
    for kind in ("shared", "archive"):
        os.mkdir(data)
        print(f"cmake, {kind}: {run([f'{built}/{kind}', data]) or 'fine'}".rstrip())
        shutil.rmtree(data)


def check(root, source, compiler, uring_inside):
    below = files_below(root)
    missing = [wanted for wanted in WANTED if not any(path.endswith("/" + wanted) for path in below)]
    if missing:
        sys.exit(f"not installed: {missing}\n" + "\n".join(below))
    package = next(path for path in below if path.endswith("/weir.pc"))
    shared = next(path for path in below if path.endswith("/libweir.so.0.1.0"))
    libraries = os.path.dirname(shared)
    if not re.search(r"\(SONAME\).*\[libweir\.so\.0\]", run(["readelf", "-d", shared])):
        sys.exit("libweir.so has no name of its own")
    program, data = os.path.join(root, "everything"), os.path.join(root, "data")
    text = os.path.join(source, "tests/lib/everything.c")
    build = [*compiler, *STRICT, "-o", program, text]
    for kind in ("shared", "static library", "static"):
        if kind == "static" and not uring_inside:
            print("SKIPPED a static program: liburing's archive is not here")
            continue
        if kind == "shared":
            run([*build, *flags(package, root), f"-Wl,-rpath,{libraries}"])
        else:  # as in a program that takes only this library's archive, and in one that is static altogether
            options = flags(package, root, "--static")
            whole = [] if kind == "static" else ["-Wl,-Bstatic"]
            options = [part for option in options
                       for part in ([*whole, option, "-Wl,-Bdynamic"] if whole and option == "-lweir" else [option])]
            run([*build, *options, *(["-static"] if kind == "static" else [])])
        os.mkdir(data)
        print(f"{kind}: {run([program, data]) or 'fine'}".rstrip())
        shutil.rmtree(data)
        libraries_needed = needed(program)
        print(f"{kind} program needs", *libraries_needed)
        uring = [] if uring_inside else ["liburing.so.2"]
        if beside_c_library(libraries_needed) != {"shared": ["libweir.so.0"], "static library": uring, "static": []}[kind]:
            sys.exit(f"a {kind} program needs {libraries_needed}")
    cmake_project(root, source, compiler)
    example_of_readme(root, source, [*compiler, *STRICT], [*flags(package, root), f"-Wl,-rpath,{libraries}"])
    if uring_inside and beside_c_library(needed(shared)):
        sys.exit(f"libweir.so needs {needed(shared)}")


def main(build, source, uring, *compiler):
    if not shutil.which("pkg-config"):
        print("SKIPPED: pkg-config is not installed")
        return SKIP
    if not os.access(os.path.join(build, "meson-logs"), os.W_OK):
        print(f"SKIPPED: {build} is another user's, and installing writes a log there")
        return SKIP
    with tempfile.TemporaryDirectory(prefix="weir-test-") as root:
        run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", root])
        installed = files_below(root)
        check(root, source, list(compiler), uring == "inside")
        print(run(["make", "-C", source, "--no-print-directory", "uninstall", f"BUILD={os.path.abspath(build)}"]), end="")
        left = [path for path in installed if os.path.lexists(path)]
        folders = [path for path in os.listdir(root) if path in ("usr", "opt")]
        if left or folders:
            sys.exit(f"uninstalled, but left: {left or folders}")
    return 0


sys.exit(main(*sys.argv[1:]))
