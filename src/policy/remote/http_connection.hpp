// One HTTP POST at a time over libcurl, ended at any moment by whoever asks. Redirects are not followed, certificates
// are verified, nothing but HTTP is spoken.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1 {

struct HttpLimits {
  double connect_s = 15.0;
  double idle_s = 300.0;    //!< without a byte; reasoning models are silent for minutes where they do not stream
  double total_s = 1800.0;  //!< of one attempt
  std::size_t body_bytes = std::size_t{64} << 20;
  std::size_t header_bytes = std::size_t{256} << 10;
};

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;
  std::string body;
  std::string ca_file;         //!< certificates to trust; empty: the system's
  bool without_proxy = false;  //!< whatever the environment says
};

enum class HttpEnd {
  complete,     //!< the whole body arrived
  enough,       //!< the sink wanted no more
  unreachable,  //!< no connection
  untrusted,    //!< the certificate is not trusted, or TLS failed
  timed_out,
  cut,  //!< the connection ended too early
  too_large,
  cancelled,
};

struct HttpOutcome {
  HttpEnd end = HttpEnd::cut;
  int status = 0;  //!< 0: no answer came
  std::string content_type, retry_after, location;
  std::string detail;  //!< what libcurl or the limit says
};

class HttpConnection {
 public:
  //! Gets the body as it comes; false: no more is wanted.
  using BodySink = std::function<bool(int status, std::string_view bytes)>;

  HttpConnection();  //!< throws Error if libcurl has no memory
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  //! Passes on what `sink` throws. Looks at `cancelled` every 50 ms.
  HttpOutcome post(const HttpRequest& request, const HttpLimits& limits, const BodySink& sink,
                   const std::function<bool()>& cancelled);

 private:
  struct Handles;
  std::unique_ptr<Handles> handles_;
};

}  // namespace cudal1
