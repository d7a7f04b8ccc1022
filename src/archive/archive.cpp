#include "archive/archive.hpp"

#include <fmt/format.h>

#include <mutex>

#include "archive/database.hpp"
#include "archive/schema.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

// The order of these columns is the order of read_evaluation.
#define CUDAL1_EVALUATION_COLUMNS                                                                         \
  "task_hash, program_hash, plan_hash, device, gpu, target, status, reward, speedup, speedup_low, "       \
  "speedup_high, reference_ms, candidate_ms, deterministic, mode, precision, error_message, error_line, " \
  "error_column, json, version, evaluations.created"

constexpr const char* insert_task = "INSERT OR IGNORE INTO tasks (hash, name, graph_json, created) VALUES (?, ?, ?, ?)";
constexpr const char* insert_program = "INSERT OR IGNORE INTO programs (hash, text, created) VALUES (?, ?, ?)";
constexpr const char* insert_evaluation =
    "INSERT INTO evaluations (task_hash, program_hash, plan_hash, device, gpu, target, status, reward, speedup, "
    "speedup_low, speedup_high, reference_ms, candidate_ms, deterministic, mode, precision, error_message, "
    "error_line, error_column, json, version, created) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
// The newest evaluation of a program counts: a record that was measured again and dropped is no exemplar.
constexpr const char* select_best =
    "SELECT id, " CUDAL1_EVALUATION_COLUMNS
    ", text FROM evaluations JOIN programs ON programs.hash = program_hash "
    "WHERE task_hash = ?1 AND gpu = ?2 AND reward IS NOT NULL AND NOT EXISTS ("
    "  SELECT 1 FROM evaluations AS newer WHERE newer.task_hash = ?1 AND newer.gpu = ?2"
    "  AND newer.program_hash = evaluations.program_hash AND newer.id > evaluations.id) "
    "ORDER BY reward DESC, id LIMIT ?3";
constexpr const char* select_measurement =
    "SELECT id, " CUDAL1_EVALUATION_COLUMNS
    " FROM evaluations WHERE plan_hash = ?1 AND task_hash = ?2 AND gpu = ?3 AND (?4 = '' OR mode = ?4) "
    "AND (?5 = '' OR precision = ?5) AND status <> 'judge_error' ORDER BY id DESC LIMIT 1";
constexpr const char* select_of_task =
    "SELECT id, " CUDAL1_EVALUATION_COLUMNS " FROM evaluations WHERE task_hash = ? ORDER BY id";

EvaluationRecord read_evaluation(const Statement& row) {
  EvaluationRecord record;
  int column = 0;
  record.id = row.number(column++);
  for (std::string* text : {&record.task_hash, &record.program_hash, &record.plan_hash, &record.device, &record.gpu,
                            &record.target, &record.status})
    *text = row.text(column++);
  for (std::optional<double>* number : {&record.reward, &record.speedup, &record.speedup_low, &record.speedup_high,
                                        &record.reference_ms, &record.candidate_ms})
    *number = row.real(column++);
  if (const auto flag = row.optional_number(column++)) record.deterministic = *flag != 0;
  for (std::string* text : {&record.mode, &record.precision, &record.error_message}) *text = row.text(column++);
  record.error_line = static_cast<int>(row.number(column++));
  record.error_column = static_cast<int>(row.number(column++));
  for (std::string* text : {&record.json, &record.version, &record.created}) *text = row.text(column++);
  return record;
}

constexpr int column_after_evaluation = 23;

std::filesystem::path with_folder(const std::filesystem::path& path) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error) throw Error(fmt::format("{}: cannot make the archive's folder: {}", path.string(), error.message()));
  return path;
}

//! A file with its schema in order; before any statement is prepared.
Database open_database(const std::filesystem::path& path) {
  Database database(with_folder(path));
  open_schema(database);
  return database;
}

//! Leaves a statement reset, so that no reader holds the log back after the answer was read.
class ResetAtEnd {
 public:
  explicit ResetAtEnd(Statement& statement) : statement_(statement) {}
  ~ResetAtEnd() { statement_.reset(); }

 private:
  Statement& statement_;
};

}  // namespace

struct Archive::Content {
  explicit Content(const std::filesystem::path& path) : database(open_database(path)) {}

  std::mutex mutex;
  Database database;
  Statement add_task{database, insert_task};
  Statement add_program{database, insert_program};
  Statement add_evaluation{database, insert_evaluation};
  Statement best{database, select_best};
  Statement measurement{database, select_measurement};
  Statement of_task{database, select_of_task};
  Statement text_of_program{database, "SELECT text FROM programs WHERE hash = ?"};
  Statement count{database, "SELECT count(*) FROM evaluations"};
};

Archive::Archive(const std::filesystem::path& path) : content_(std::make_unique<Content>(path)) {}
Archive::~Archive() = default;

std::int64_t Archive::record(const TaskRecord& task, std::string_view program_text, const EvaluationRecord& e) {
  const std::string program_hash = sha256_hex(program_text);
  const std::lock_guard lock(content_->mutex);
  Transaction transaction(content_->database);
  content_->add_task.bind(task.hash, task.name, task.graph_json, e.created).run();
  content_->add_program.bind(program_hash, program_text, e.created).run();
  content_->add_evaluation
      .bind(task.hash, program_hash, e.plan_hash, e.device, e.gpu, e.target, e.status, e.reward, e.speedup,
            e.speedup_low, e.speedup_high, e.reference_ms, e.candidate_ms, e.deterministic, e.mode, e.precision,
            e.error_message, e.error_line, e.error_column, e.json, e.version, e.created)
      .run();
  const std::int64_t id = content_->database.last_insert_id();
  transaction.commit();
  return id;
}

std::vector<Exemplar> Archive::best(std::string_view task_hash, std::string_view gpu, int limit) {
  const std::lock_guard lock(content_->mutex);
  Statement& rows = content_->best.bind(task_hash, gpu, limit);
  const ResetAtEnd reset(rows);
  std::vector<Exemplar> exemplars;
  while (rows.step()) exemplars.push_back({read_evaluation(rows), rows.text(column_after_evaluation)});
  return exemplars;
}

std::optional<EvaluationRecord> Archive::find(const MeasurementKey& key) {
  if (key.plan_hash.empty()) return {};
  const std::lock_guard lock(content_->mutex);
  Statement& row = content_->measurement.bind(key.plan_hash, key.task_hash, key.gpu, key.mode, key.precision);
  const ResetAtEnd reset(row);
  if (!row.step()) return {};
  EvaluationRecord newest = read_evaluation(row);
  if (newest.status == "unstable") return {};
  return newest;
}

std::vector<EvaluationRecord> Archive::evaluations(std::string_view task_hash) {
  const std::lock_guard lock(content_->mutex);
  Statement& rows = content_->of_task.bind(task_hash);
  const ResetAtEnd reset(rows);
  std::vector<EvaluationRecord> records;
  while (rows.step()) records.push_back(read_evaluation(rows));
  return records;
}

std::optional<std::string> Archive::program_text(std::string_view program_hash) {
  const std::lock_guard lock(content_->mutex);
  Statement& row = content_->text_of_program.bind(program_hash);
  const ResetAtEnd reset(row);
  if (!row.step()) return {};
  return row.text(0);
}

std::int64_t Archive::count() {
  const std::lock_guard lock(content_->mutex);
  Statement& row = content_->count.bind();
  const ResetAtEnd reset(row);
  row.step();
  return row.number(0);
}

void Archive::check_integrity() {
  const std::lock_guard lock(content_->mutex);
  const std::string answer = content_->database.query_text("PRAGMA integrity_check");
  if (answer != "ok")
    throw Error(fmt::format("{}: the archive is damaged: {}", content_->database.path().string(), answer));
}

}  // namespace cudal1
