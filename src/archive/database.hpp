// SQLite with errors for people: every failure is an Error with the file's path and SQLite's own words.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace cudal1 {

class Database {
 public:
  static constexpr std::chrono::milliseconds lock_limit{10'000};

  //! Opens the file or makes an empty one. Nothing is written yet.
  explicit Database(std::filesystem::path path);

  void execute(const std::string& sql);  //!< one or more statements without parameters
  //! The first column of the only row: "PRAGMA user_version".
  std::string query_text(const std::string& sql);
  std::int64_t query_number(const std::string& sql);
  std::int64_t last_insert_id() const;

  const std::filesystem::path& path() const { return path_; }
  sqlite3* handle() const { return handle_.get(); }
  [[noreturn]] void fail(const std::string& action, int code) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::filesystem::path path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

//! A prepared statement, used again and again: bind(…) in the order of its question marks, then step().
class Statement {
 public:
  Statement(Database& database, std::string_view sql);

  //! Starts anew with these parameters. Texts keep embedded zeros.
  template <class... Values>
  Statement& bind(const Values&... values) {
    reset();
    int index = 0;
    (bind_one(++index, values), ...);
    return *this;
  }
  bool step();  //!< true: there is a row
  //! For statements without rows.
  void run() {
    step();
    reset();
  }
  void reset();

  std::string text(int column) const;
  std::int64_t number(int column) const;
  std::optional<double> real(int column) const;
  std::optional<std::int64_t> optional_number(int column) const;

 private:
  void bind_one(int index, std::string_view value);
  void bind_one(int index, std::int64_t value);
  void bind_one(int index, int value) { bind_one(index, static_cast<std::int64_t>(value)); }
  void bind_one(int index, const std::optional<double>& value);
  void bind_one(int index, const std::optional<bool>& value);
  void bind_one(int index, const std::string& value) { bind_one(index, std::string_view(value)); }
  void check(int code, const char* action) const;

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

//! A write transaction; undone unless commit() was reached. Takes the lock at once, so that waiting for another
//! writer happens here and nowhere else.
class Transaction {
 public:
  explicit Transaction(Database& database);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace cudal1
