// The client against a real model behind a real server (llama.cpp's, from PyPI); docs/remote.md says how to run it.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/child_process.hpp"
#include "base/line_socket.hpp"
#include "base/result.hpp"
#include "base/seconds_since.hpp"
#include "client_fixture.hpp"

namespace cudal1 {
namespace {

using namespace std::chrono_literals;

std::string variable_or(const char* name, const std::string& otherwise) {
  const char* const value = std::getenv(name);
  return value && *value ? value : otherwise;
}

std::string python() { return variable_or("CUDAL1_MODEL_SERVER_PYTHON", CUDAL1_TEST_PYTHON); }

std::string model_file() {
  return variable_or("CUDAL1_MODEL", (cache_directory() / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf").string());
}

ChildProcess start_python(const std::vector<std::string>& arguments, int standard_output) {
  ChildOptions child;
  child.arguments = {python()};
  child.arguments.insert(child.arguments.end(), arguments.begin(), arguments.end());
  child.environment = minimal_environment();
  if (standard_output >= 0) child.descriptors = {{standard_output, STDOUT_FILENO}};
  return ChildProcess::start(child);
}

bool has_server_package() {
  try {
    const auto exit = start_python({"-c", "import xllamacpp"}, -1).wait_for(60s);
    return exit && exit->exited && exit->code == 0;
  } catch (const Error&) {
    return false;
  }
}

//! One server for all tests: it takes seconds to load the model.
class ModelServer {
 public:
  ModelServer() {
    UniqueFd theirs;
    output_ = LineSocket(theirs);
    child_ = start_python({CUDAL1_SOURCE_DIR "/tests/policy/remote/model_server.py", model_file()}, theirs.get());
    theirs.reset();
    const auto deadline = std::chrono::steady_clock::now() + 120s;
    constexpr std::string_view announcement = "address ";
    for (std::string line; output_.read(line, 1 << 16, deadline) == LineSocket::Heard::line;)
      if (line.starts_with(announcement)) {
        base_ = line.substr(announcement.size()) + "/v1";
        return;
      }
  }
  const std::string& base() const { return base_; }  //!< empty: it did not start

 private:
  LineSocket output_;
  ChildProcess child_;
  std::string base_;
};

class ModelServerTest : public ClientFixture {
 protected:
  static void SetUpTestSuite() {
    if (::access(model_file().c_str(), R_OK) == 0 && has_server_package()) server_ = std::make_unique<ModelServer>();
  }
  static void TearDownTestSuite() { server_.reset(); }

  void SetUp() override {
    if (::access(model_file().c_str(), R_OK) != 0)
      GTEST_SKIP() << "no model at " << model_file() << ": set CUDAL1_MODEL";
    if (!server_) GTEST_SKIP() << python() << " has no xllamacpp: pip install xllamacpp";
    ASSERT_FALSE(server_->base().empty()) << "the model server did not start";
  }

  ChatClientOptions real_options(bool stream = true) const {
    ChatClientOptions made = options(server_->base());
    made.model = {"smollm2", false, stream};
    made.limits = {5.0, 120.0, 240.0, std::size_t{16} << 20, std::size_t{64} << 10};
    return made;
  }

  static ChatRequest question(int samples, int max_tokens) {
    ChatRequest asked = request(samples, "Name the capital of France in one short sentence.");
    asked.parameters.max_tokens = max_tokens;
    asked.parameters.temperature = 0.0;
    asked.parameters.seed = 1;
    return asked;
  }

  static std::unique_ptr<ModelServer> server_;
};

std::unique_ptr<ModelServer> ModelServerTest::server_;

TEST_F(ModelServerTest, AnswersStreamedAndWhole) {
  for (const bool stream : {true, false}) {
    auto made = real_options(stream);
    made.cache_folder.clear();
    std::string streamed;
    ChatClient asking = client(made);
    const auto outcome =
        asking.complete(question(1, 40), [&](const TextPiece& piece) { streamed += piece.text; }).at(0);
    ASSERT_TRUE(outcome.ok()) << outcome.failure->message;
    EXPECT_NE(outcome.sample->text.find("France"), std::string::npos) << outcome.sample->text;
    EXPECT_EQ(streamed, outcome.sample->text);
    EXPECT_FALSE(outcome.sample->tokens.estimated);
    EXPECT_GT(outcome.sample->tokens.prompt, 5);
    EXPECT_GT(outcome.sample->tokens.completion, 1);
    EXPECT_LE(outcome.sample->tokens.completion, 40);
  }
}

TEST_F(ModelServerTest, SeveralSamplesAreCountedAndCutAtTheirLength) {
  ChatClient asking = client(real_options());
  const auto outcomes = asking.complete(question(2, 4));
  std::int64_t tokens = 0;
  for (const auto& outcome : outcomes) {
    ASSERT_TRUE(outcome.ok()) << outcome.failure->message;
    EXPECT_EQ(outcome.sample->finish, FinishReason::length);
    tokens += outcome.sample->tokens.completion;
  }
  EXPECT_EQ(tokens, 8);
  EXPECT_EQ(asking.totals().requests, 1);
}

TEST_F(ModelServerTest, AStopStringEndsAnAnswerAndASecondRunSendsNothing) {
  auto asked = question(1, 40);
  asked.parameters.stop = {" "};  // before its second word
  const auto first = client(real_options()).complete(asked).at(0);
  ASSERT_TRUE(first.ok()) << first.failure->message;
  EXPECT_EQ(first.sample->finish, FinishReason::stop);
  EXPECT_EQ(first.sample->text.find(' '), std::string::npos) << first.sample->text;
  EXPECT_LT(first.sample->tokens.completion, 10);
  ChatClient again = client(real_options());
  EXPECT_EQ(again.complete(asked).at(0).sample->text, first.sample->text);
  EXPECT_EQ(again.totals().requests, 0);
}

TEST_F(ModelServerTest, APromptBeyondTheContextIsRefusedInOneLine) {
  auto asked = request(1, std::string(60'000, 'x') + " and so on");
  const auto outcome = client(real_options()).complete(asked).at(0);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.failure->kind, ChatFailureKind::bad_request) << outcome.failure->message;
  EXPECT_NE(outcome.failure->message.find("context"), std::string::npos) << outcome.failure->message;
}

TEST_F(ModelServerTest, CancellationEndsAnAnswerThatIsBeingWritten) {
  auto asked = request(4, "Write a very long story about a lighthouse.");
  asked.parameters.max_tokens = 1500;
  std::chrono::steady_clock::time_point begin;
  const auto outcomes = client(real_options()).complete(asked, [&](const TextPiece&) {
    if (!cancelled_.exchange(true)) begin = std::chrono::steady_clock::now();
  });
  EXPECT_LT(seconds_since(begin), 1.0);
  for (const auto& outcome : outcomes) {
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.failure->kind, ChatFailureKind::cancelled);
  }
}

}  // namespace
}  // namespace cudal1
