// Certificates are verified: one that nobody vouches for ends the request before the key is sent.
#include "base/child_process.hpp"
#include "chat_server.hpp"
#include "client_fixture.hpp"

namespace cudal1 {
namespace {

#ifdef CPPHTTPLIB_OPENSSL_SUPPORT

class TlsTest : public ClientFixture {
 protected:
  void SetUp() override {
    const std::string openssl = "/usr/bin/openssl";
    if (::access(openssl.c_str(), X_OK) != 0) GTEST_SKIP() << "no " << openssl << " to make a certificate with";
    ChildOptions made;
    made.arguments = {openssl,
                      "req",
                      "-x509",
                      "-newkey",
                      "ec",
                      "-pkeyopt",
                      "ec_paramgen_curve:prime256v1",
                      "-nodes",
                      "-days",
                      "2",
                      "-subj",
                      "/CN=localhost",
                      "-addext",
                      "subjectAltName=DNS:localhost",
                      "-keyout",
                      key_file(),
                      "-out",
                      certificate_file()};
    made.environment = minimal_environment();
    auto child = ChildProcess::start(made);
    const auto exit = child.wait_for(std::chrono::seconds(30));
    ASSERT_TRUE(exit && exit->exited && exit->code == 0);
    server_ = std::make_unique<ChatServer>(
        std::make_unique<httplib::SSLServer>(certificate_file().c_str(), key_file().c_str()));
  }

  std::string key_file() const { return (folder_.path() / "key.pem").string(); }
  std::string certificate_file() const { return (folder_.path() / "certificate.pem").string(); }

  std::unique_ptr<ChatServer> server_;
};

TEST_F(TlsTest, AnUnknownCertificateIsNotTrustedAndNotTriedAgain) {
  ChatClient asking = client(options(server_->base("https", "localhost")));
  const auto outcomes = asking.complete(request(3));
  ASSERT_FALSE(outcomes.at(0).ok());
  EXPECT_EQ(outcomes[0].failure->kind, ChatFailureKind::untrusted);
  EXPECT_NE(outcomes[0].failure->message.find("--ca-file"), std::string::npos);
  EXPECT_EQ(outcomes[0].failure->attempts, 1);
  EXPECT_EQ(server_->requests(), 0);
}

TEST_F(TlsTest, ACertificateOfOnesOwnIsTrustedForItsHostOnly) {
  auto made = options(server_->base("https", "localhost"));
  made.ca_file = certificate_file();
  EXPECT_TRUE(client(made).complete(request()).at(0).ok());
  made.server = server_->base("https", "127.0.0.1");
  EXPECT_EQ(client(made).complete(request()).at(0).failure->kind, ChatFailureKind::untrusted);
  EXPECT_EQ(server_->requests(), 1);
}

#endif

}  // namespace
}  // namespace cudal1
