#include "policy/remote/http_connection.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <exception>

#include "base/result.hpp"
#include "base/seconds_since.hpp"

namespace cudal1 {
namespace {

constexpr int poll_ms = 50;

void initialise_curl_once() {
  static const CURLcode result = ::curl_global_init(CURL_GLOBAL_DEFAULT);
  if (result != CURLE_OK) throw Error(fmt::format("libcurl does not start: {}", ::curl_easy_strerror(result)));
}

long milliseconds(double seconds) { return std::max(1L, static_cast<long>(seconds * 1e3)); }

//! What libcurl's callbacks see of a POST.
struct Transfer {
  CURL* easy;
  const HttpLimits& limits;
  const HttpConnection::BodySink& sink;
  HttpOutcome outcome = {};
  std::size_t header_bytes = 0, body_bytes = 0;
  std::chrono::steady_clock::time_point last_byte = std::chrono::steady_clock::now();
  bool sink_has_enough = false;
  std::exception_ptr thrown = nullptr;
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

bool same_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

void keep_header(std::string_view line, HttpOutcome& outcome) {
  const std::size_t colon = line.find(':');
  if (line.starts_with("HTTP/")) outcome = {};  // 100 Continue and the like come before the answer
  if (colon == std::string_view::npos) return;
  const std::string_view name = line.substr(0, colon), value = trimmed(line.substr(colon + 1));
  if (same_ignoring_case(name, "content-type")) outcome.content_type = value;
  if (same_ignoring_case(name, "retry-after")) outcome.retry_after = value;
  if (same_ignoring_case(name, "location")) outcome.location = value;
}

std::size_t on_header(char* bytes, std::size_t, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  transfer.last_byte = std::chrono::steady_clock::now();
  transfer.header_bytes += count;
  if (transfer.header_bytes > transfer.limits.header_bytes) {
    transfer.outcome.end = HttpEnd::too_large;
    return 0;
  }
  keep_header({bytes, count}, transfer.outcome);
  return count;
}

std::size_t on_body(char* bytes, std::size_t, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  transfer.last_byte = std::chrono::steady_clock::now();
  transfer.body_bytes += count;
  if (transfer.body_bytes > transfer.limits.body_bytes) {
    transfer.outcome.end = HttpEnd::too_large;
    return 0;
  }
  long status = 0;
  ::curl_easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
  try {
    if (transfer.sink(static_cast<int>(status), {bytes, count})) return count;
    transfer.sink_has_enough = true;
  } catch (...) {  // not through C
    transfer.thrown = std::current_exception();
  }
  return 0;
}

HttpEnd end_of(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return HttpEnd::complete;
    case CURLE_OPERATION_TIMEDOUT:
      return HttpEnd::timed_out;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
      return HttpEnd::unreachable;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CERTPROBLEM:
      return HttpEnd::untrusted;
    default:
      return HttpEnd::cut;
  }
}

void set_options(CURL* easy, const HttpRequest& request, const HttpLimits& limits, curl_slist* headers) {
  ::curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  ::curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  ::curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
  ::curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  ::curl_easy_setopt(easy, CURLOPT_USERAGENT, "cudal1");
  ::curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  ::curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  ::curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  ::curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  ::curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(limits.connect_s));
  ::curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, milliseconds(limits.total_s));
  if (!request.ca_file.empty()) ::curl_easy_setopt(easy, CURLOPT_CAINFO, request.ca_file.c_str());
  if (request.without_proxy) ::curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
#if LIBCURL_VERSION_NUM >= 0x075500
  ::curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  ::curl_easy_setopt(easy, CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
#if LIBCURL_VERSION_NUM >= 0x075700
  ::curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);  // does not wait for a name server when it is cancelled
#endif
}

void set_callbacks(CURL* easy, Transfer& transfer) {
  ::curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
  ::curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
  ::curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
  ::curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
}

}  // namespace

struct HttpConnection::Handles {
  CURL* easy = ::curl_easy_init();
  CURLM* multi = ::curl_multi_init();  // keeps the connection between two POSTs

  ~Handles() {
    ::curl_easy_cleanup(easy);
    ::curl_multi_cleanup(multi);
  }

  //! Runs until the transfer has ended or has to.
  void run(Transfer& transfer, const std::function<bool()>& cancelled) {
    for (int running = 1;;) {
      if (const CURLMcode code = ::curl_multi_perform(multi, &running); code != CURLM_OK)
        throw Error(fmt::format("libcurl fails: {}", ::curl_multi_strerror(code)));
      if (running == 0) return note_end(transfer);
      if (cancelled()) return end_early(transfer, HttpEnd::cancelled, "cancelled");
      if (seconds_since(transfer.last_byte) > transfer.limits.idle_s)
        return end_early(transfer, HttpEnd::timed_out,
                         fmt::format("nothing came for {:.4g} s", transfer.limits.idle_s));
      ::curl_multi_poll(multi, nullptr, 0, poll_ms, nullptr);
    }
  }

  static void end_early(Transfer& transfer, HttpEnd end, std::string detail) {
    transfer.outcome.end = end;
    transfer.outcome.detail = std::move(detail);
  }

  void note_end(Transfer& transfer) {
    int left = 0;
    const CURLMsg* const message = ::curl_multi_info_read(multi, &left);
    const CURLcode code = message ? message->data.result : CURLE_RECV_ERROR;
    if (transfer.sink_has_enough)
      transfer.outcome.end = HttpEnd::enough;
    else if (transfer.outcome.end != HttpEnd::too_large)
      transfer.outcome.end = end_of(code);
    transfer.outcome.detail = code == CURLE_OK ? "" : ::curl_easy_strerror(code);
  }
};

HttpConnection::HttpConnection() {
  initialise_curl_once();
  handles_ = std::make_unique<Handles>();
  if (!handles_->easy || !handles_->multi) throw Error("libcurl has no memory for a connection");
}

HttpConnection::~HttpConnection() = default;

HttpOutcome HttpConnection::post(const HttpRequest& request, const HttpLimits& limits, const BodySink& sink,
                                 const std::function<bool()>& cancelled) {
  ::curl_easy_reset(handles_->easy);
  curl_slist* headers = nullptr;
  for (const auto& header : request.headers) headers = ::curl_slist_append(headers, header.c_str());
  const std::unique_ptr<curl_slist, decltype(&::curl_slist_free_all)> owned(headers, &::curl_slist_free_all);
  Transfer transfer{handles_->easy, limits, sink};
  set_options(handles_->easy, request, limits, headers);
  set_callbacks(handles_->easy, transfer);
  ::curl_multi_add_handle(handles_->multi, handles_->easy);
  struct Removal {  // also when something is thrown: the callbacks point to our stack
    Handles& handles;
    ~Removal() { ::curl_multi_remove_handle(handles.multi, handles.easy); }
  } const removal{*handles_};
  handles_->run(transfer, cancelled);
  long status = 0;
  ::curl_easy_getinfo(handles_->easy, CURLINFO_RESPONSE_CODE, &status);
  transfer.outcome.status = static_cast<int>(status);
  if (transfer.thrown) std::rethrow_exception(transfer.thrown);
  return transfer.outcome;
}

}  // namespace cudal1
