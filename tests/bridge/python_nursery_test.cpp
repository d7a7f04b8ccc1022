// With the real nursery: programs that were forked behave as those that were started.
#include "bridge/python_nursery.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/result.hpp"
#include "bridge/bridge_process.hpp"

namespace cudal1 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
namespace fs = std::filesystem;

class PythonNurseryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("CUDAL1_PYTHON", CUDAL1_TEST_PYTHON, 1);
    setenv("PYTHONPATH", folder_.path().c_str(), 1);
    const std::string command = std::string(CUDAL1_TEST_PYTHON) + " -c 'import torch' 2> /dev/null";
    if (std::system(command.c_str()) != 0) GTEST_SKIP() << CUDAL1_TEST_PYTHON << " has no torch";
  }

  //! A Python module `name` whose main(arguments) is that.
  void write_module(const std::string& name, const std::string& body) const {
    std::ofstream(folder_.path() / (name + ".py")) << "import os, sys, time\ndef main(arguments):\n" << body;
  }

  ChildProcess start(const std::string& name, const std::vector<std::string>& arguments = {}) const {
    const UniqueFd output(::open((folder_.path() / "said").c_str(), O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0600));
    ChildOptions options = bridge_child(name, arguments);
    options.environment.emplace_back("CUDAL1_MARK", "given");
    options.descriptors = {{output.get(), 1}, {output.get(), 2}};
    return start_bridge_child(options);
  }

  std::string said() const { return read_file(folder_.path() / "said"); }

  TemporaryFolder folder_;
};

TEST_F(PythonNurseryTest, ForksProgramsWithTheirArgumentsEnvironmentAndOutput) {
  // Forked ones have what nobody here imported.
  write_module("speaks",
               "    print(arguments, os.environ['CUDAL1_MARK'], 'torch._dynamo' in sys.modules)\n    return 7\n");
  const PythonNursery nursery(1);
  ChildProcess child = start("speaks", {"a b", "c"});
  const auto ended = child.wait_for(seconds(60));
  ASSERT_TRUE(ended);
  EXPECT_TRUE(ended->exited);
  EXPECT_EQ(ended->code, 7);
  EXPECT_EQ(said(), "['a b', 'c'] given True\n");
}

TEST_F(PythonNurseryTest, ReportsSignalsAndExceptions) {
  write_module("dies", "    os.kill(os.getpid(), 11)\n");
  write_module("raises", "    raise RuntimeError('so it is')\n");
  const PythonNursery nursery(1);
  ChildProcess dies = start("dies"), raises = start("raises");
  const auto killed = dies.wait_for(seconds(60)), failed = raises.wait_for(seconds(60));
  ASSERT_TRUE(killed && failed);
  EXPECT_FALSE(killed->exited);
  EXPECT_EQ(killed->code, SIGSEGV);
  EXPECT_TRUE(failed->exited);
  EXPECT_EQ(failed->code, 1);
  EXPECT_NE(said().find("RuntimeError: so it is"), std::string::npos);
}

TEST_F(PythonNurseryTest, KillsPausesAndLetsGo) {
  write_module("waits", "    print('here', flush=True)\n    time.sleep(600)\n");
  const PythonNursery nursery(1);
  pid_t let_go = 0;
  {
    ChildProcess child = start("waits");
    EXPECT_FALSE(child.wait_for(milliseconds(100)));
    child.pause();
    child.resume();
    EXPECT_TRUE(child.running());
    EXPECT_EQ(child.kill().code, SIGKILL);
    let_go = start("waits").pid();  // dropped at once
  }
  for (int i = 0; i < 100 && ::kill(let_go, 0) == 0; ++i) std::this_thread::sleep_for(milliseconds(50));
  EXPECT_NE(::kill(let_go, 0), 0);
}

TEST_F(PythonNurseryTest, ProgramsEndWithTheirNursery) {
  write_module("waits", "    time.sleep(600)\n");
  auto nursery = std::make_unique<PythonNursery>(1);
  ChildProcess child = start("waits");
  nursery.reset();
  const auto ended = child.wait_for(seconds(10));
  ASSERT_TRUE(ended);
  EXPECT_FALSE(ended->exited);
  EXPECT_EQ(ended->code, SIGKILL);
}

TEST_F(PythonNurseryTest, WhereItDoesNotComeUpProgramsStartByThemselves) {
  write_module("speaks", "    pass\nif __name__ == '__main__':\n    print('alone', len(sys.argv))\n");
  const std::string nowhere = (folder_.path() / "nobody").string();
  setenv("CUDAL1_PYTHON_NURSERY", nowhere.c_str(), 1);
  ChildProcess child = start("speaks", {"x"});
  unsetenv("CUDAL1_PYTHON_NURSERY");
  const auto ended = child.wait_for(seconds(60));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->code, 0);
  EXPECT_EQ(said(), "alone 2\n");
}

TEST_F(PythonNurseryTest, FewProgramsDoNotPay) { EXPECT_EQ(nursery_for(1, 1), nullptr); }

}  // namespace
}  // namespace cudal1
