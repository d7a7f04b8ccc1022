// The start of a solution's process: the device first, with what its driver opens, then the restrictions, then nothing
// that the driver needed is in reach any more.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/sandbox.hpp"
#include "bridge/bridge_process.hpp"

namespace cudal1 {
namespace {

// Every script begins with this: the policy allows the system's folders and Python's, and `scratch`.
constexpr const char* prelude = R"(
import argparse, json, os, resource, socket, sys, threading, warnings
warnings.simplefilter("ignore")
from pathlib import Path
library, scratch, secret = sys.argv[1:]
readable = ["/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/sys", "/dev", sys.prefix, sys.base_prefix, *filter(None, sys.path)]
policy = json.dumps({"readable": readable, "writable": ["/dev/null"], "scratch": [scratch], "walled": False})

def refused(action):
    try:
        action()
        return False
    except OSError:
        return True

def listen():
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as made:
        made.bind(f"\0cudal1-test-{os.getpid()}")
        made.listen()

def read_secret():
    open(secret).close()
)";

class SolutionStart : public testing::Test {
 protected:
  void SetUp() override {
    if (landlock_abi() == 0) GTEST_SKIP() << "this kernel has no Landlock";
    write_file_atomically(folder_.path() / "secret", "x");
  }

  //! What the script writes; an exception in it ends there, with Python's words.
  std::string run(const std::string& script) {
    const auto said = folder_.path() / "said";
    const UniqueFd file(::open(said.c_str(), O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600));
    ChildOptions child = bridge_child("", {});
    std::filesystem::create_directories(folder_.path() / "scratch");
    child.arguments = {child.arguments.front(),
                       "-c",
                       prelude + script,
                       (executable_directory() / "libcudal1_restrict.so").string(),
                       (folder_.path() / "scratch").string(),
                       (folder_.path() / "secret").string()};
    child.descriptors = {{file.get(), 1}, {file.get(), 2}};
    ChildProcess::start(child).wait_for(std::chrono::seconds(120));
    return read_file(said);
  }

  TemporaryFolder folder_;
};

TEST_F(SolutionStart, TheDeviceStartsBeforeTheRestrictionsAndTheyHoldAfterwards) {
  EXPECT_EQ(run(R"(
from cudal1_solution import worker
started = []

def start_device(device):  # asks for what a driver does
    listen()
    read_secret()
    started.append(device)

worker.start_device = start_device
os.dup2(os.memfd_create("arena"), 4)
os.ftruncate(4, 4096)
worker.start(argparse.Namespace(restrict_library=library, policy=policy, device="cpu", arena_bytes=4096, largest_file=5000))
print(len(started), refused(listen), refused(read_secret), resource.getrlimit(resource.RLIMIT_FSIZE)[0], end="")
)"),
            "1 True True 5000");
}

TEST_F(SolutionStart, ThreadsOfTheStartAreRestrictedToo) {
  EXPECT_EQ(run(R"(
from cudal1_solution.restriction import Restriction
go, result = threading.Event(), []

def work():
    go.wait()
    result.append((refused(listen), refused(read_secret)))

thread = threading.Thread(target=work)
thread.start()
Restriction(library, policy).apply()
go.set()
thread.join()
print(*result, end="")
)"),
            "(True, True)");
}

TEST_F(SolutionStart, CompilersRunBehindTheRestrictions) {
  EXPECT_EQ(run(R"(
import subprocess
from cudal1_solution.restriction import Restriction
Restriction(library, policy).apply()
Path(scratch, "a.cpp").write_text("extern \"C\" int answer() { return 42; }")
subprocess.run(["g++", "-shared", "-fPIC", "a.cpp", "-o", "a.so"], cwd=scratch, check=True, env=os.environ | {"TMPDIR": scratch})
import ctypes
print(ctypes.CDLL(scratch + "/a.so").answer(), end="")
)"),
            "42");
}

TEST_F(SolutionStart, WhatTheSystemRefusesIsNamedWithItsErrno) {
  const std::string said = run(R"(
from cudal1_solution.refusals import refusals, restrictions_in_force
from cudal1_solution.restriction import Restriction
def report(when):  # devices are this machine's own
    print(when, [what for what in refusals() if "/dev/nvidia" not in what], restrictions_in_force())

report("before")
Restriction(library, policy).apply("calls")
report("calls")
Restriction(library, policy).apply("paths")
report("all")
)");
  EXPECT_EQ(said,
            "before [] NoNewPrivs 0, Seccomp 0\n"
            "calls ['a local socket (EPERM)'] NoNewPrivs 1, Seccomp 2\n"
            "all ['naming a thread below /proc (EACCES)', 'a local socket (EPERM)', 'a file in /dev/shm (EACCES)'] "
            "NoNewPrivs 1, Seccomp 2\n");
}

TEST_F(SolutionStart, AStartThatFailsSaysAtWhatAndWhatWasRefused) {
  const std::string said = run(R"(
import torch
from cudal1_solution import start
from cudal1_solution.restriction import Restriction

class Driver:
    def call(self, name, *arguments):
        listen()  # as the driver does

start.Driver = Driver
Restriction(library, policy).apply("calls")
try:
    start.start_device(torch.device("cuda:0"))
except start.StartFailure as failure:
    print(failure)
)");
  EXPECT_NE(said.find("CUDA does not start: cuInit: "), std::string::npos) << said;
  EXPECT_NE(said.find("a local socket (EPERM)"), std::string::npos) << said;
  EXPECT_NE(said.find("Seccomp 2"), std::string::npos) << said;
}

}  // namespace
}  // namespace cudal1
