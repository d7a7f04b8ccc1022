#include "archive/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <fstream>

#include "base/result.hpp"

namespace cudal1 {
namespace {

const char* advice_for(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "; another process has held the lock for over 10 s";
    case SQLITE_FULL:
      return "; free some space and try again";
    case SQLITE_READONLY:
      return "; the file or its folder cannot be written";
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return "; move the file away to start a new archive";
    case SQLITE_CANTOPEN:
      return "; does the folder exist, and may you write to it?";
    default:
      return "";
  }
}

//! SQLite takes a file of a few bytes for an empty one and would overwrite it.
void refuse_what_is_no_database(const std::filesystem::path& path) {
  constexpr std::string_view signature("SQLite format 3\0", 16);
  std::ifstream file(path, std::ios::binary);
  std::string start(signature.size(), '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  if (!start.empty() && start != signature)
    throw Error(fmt::format("{}: the file is not a database{}", path.string(), advice_for(SQLITE_NOTADB)));
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Database::Database(std::filesystem::path path) : path_(std::move(path)) {
  refuse_what_is_no_database(path_);
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path_.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) fail("cannot open the archive", code);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, static_cast<int>(lock_limit.count()));
}

void Database::fail(const std::string& action, int code) const {
  const char* reason = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
  throw Error(fmt::format("{}: {}: {}{}", path_.string(), action, reason, advice_for(code)));
}

void Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail("cannot use the archive", code);
}

std::string Database::query_text(const std::string& sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.text(0) : std::string();
}

std::int64_t Database::query_number(const std::string& sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.number(0) : 0;
}

std::int64_t Database::last_insert_id() const { return sqlite3_last_insert_rowid(handle()); }

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement::Statement(Database& database, std::string_view sql) : database_(&database) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(database.handle(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  statement_.reset(statement);
  check(code, "cannot read the archive");
}

void Statement::check(int code, const char* action) const {
  if (code != SQLITE_OK) database_->fail(action, code);
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  const bool reads = sqlite3_stmt_readonly(statement_.get()) != 0;
  reset();  // a statement that stays open would stand in the way of the rollback; the error's text survives it
  database_->fail(reads ? "cannot read the archive" : "cannot write to the archive", code);
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

void Statement::bind_one(int index, std::string_view value) {
  // An empty view may have no address, which SQLite would take for NULL.
  const char* text = value.empty() ? "" : value.data();
  check(sqlite3_bind_text64(statement_.get(), index, text, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8),
        "cannot store a text");
}

void Statement::bind_one(int index, std::int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), index, value), "cannot store a number");
}

void Statement::bind_one(int index, const std::optional<double>& value) {
  check(value ? sqlite3_bind_double(statement_.get(), index, *value) : sqlite3_bind_null(statement_.get(), index),
        "cannot store a number");
}

void Statement::bind_one(int index, const std::optional<bool>& value) {
  check(value ? sqlite3_bind_int(statement_.get(), index, *value ? 1 : 0) : sqlite3_bind_null(statement_.get(), index),
        "cannot store a flag");
}

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::int64_t Statement::number(int column) const { return sqlite3_column_int64(statement_.get(), column); }

std::optional<double> Statement::real(int column) const {
  if (sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) return {};
  return sqlite3_column_double(statement_.get(), column);
}

std::optional<std::int64_t> Statement::optional_number(int column) const {
  if (sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) return {};
  return number(column);
}

Transaction::Transaction(Database& database) : database_(database) { database_.execute("BEGIN IMMEDIATE"); }

Transaction::~Transaction() {
  // SQLite itself has rolled back after some errors, a full disk for one; then there is nothing left to undo.
  if (open_ && sqlite3_get_autocommit(database_.handle()) == 0)
    sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace cudal1
