#include "base/sandbox.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "base/other_threads.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace cudal1 {
namespace {

// Declared here because the kernel headers of older distributions lack some or all of linux/landlock.h.
constexpr long syscall_landlock_create_ruleset = 444;
constexpr long syscall_landlock_add_rule = 445;
constexpr long syscall_landlock_restrict_self = 446;
constexpr std::uint32_t landlock_version_flag = 1;
constexpr int landlock_rule_path_beneath = 1;
constexpr std::uint64_t access_execute = 1u << 0, access_write_file = 1u << 1, access_read_file = 1u << 2,
                        access_read_directory = 1u << 3, access_ioctl_device = 1u << 15;

struct LandlockRuleset {
  std::uint64_t handled_file_access;
  std::uint64_t handled_network_access;
  std::uint64_t scoped;
};

struct LandlockPathRule {
  std::uint64_t allowed_access;
  std::int32_t parent_fd;
} __attribute__((packed));

std::uint64_t file_access_known_to(int abi) {
  constexpr std::array<int, 6> rights_by_abi = {0, 13, 14, 15, 15, 16};  // number of low bits, by version
  const std::size_t index = std::min<std::size_t>(static_cast<std::size_t>(abi), rights_by_abi.size() - 1);
  return (std::uint64_t{1} << rights_by_abi[index]) - 1;
}

std::size_t ruleset_bytes_known_to(int abi) {
  if (abi >= 6) return sizeof(LandlockRuleset);
  return abi >= 4 ? 2 * sizeof(std::uint64_t) : sizeof(std::uint64_t);
}

void allow_path(int ruleset, const std::filesystem::path& path, std::uint64_t access) {
  const UniqueFd place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!place) return;
  struct stat info {};
  if (::fstat(place.get(), &info) != 0) return;
  if (!S_ISDIR(info.st_mode)) access &= ~access_read_directory;
  const LandlockPathRule rule{access, place.get()};
  if (::syscall(syscall_landlock_add_rule, ruleset, landlock_rule_path_beneath, &rule, 0) != 0)
    throw Error(fmt::format("Landlock refuses a rule for {}: {}", path.string(), std::strerror(errno)));
}

UniqueFd make_ruleset(const SandboxPolicy& policy, int abi) {
  const std::uint64_t known = file_access_known_to(abi);
  // All TCP (two rights since version 4), and signals and abstract sockets to other processes (version 6).
  const LandlockRuleset rules{known, 3, 3};
  UniqueFd ruleset(
      static_cast<int>(::syscall(syscall_landlock_create_ruleset, &rules, ruleset_bytes_known_to(abi), 0)));
  if (!ruleset) throw Error(fmt::format("Landlock refuses its rule set: {}", std::strerror(errno)));
  const std::uint64_t read = access_read_file | access_read_directory;
  for (const auto& path : policy.readable) allow_path(ruleset.get(), path, (read | access_execute) & known);
  for (const auto& path : policy.writable)
    allow_path(ruleset.get(), path, (read | access_write_file | access_ioctl_device) & known);
  for (const auto& path : policy.scratch) allow_path(ruleset.get(), path, known);
  return ruleset;
}

//! Returns an errno; runs in signal handlers.
int restrict_this_thread(int ruleset) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  return ::syscall(syscall_landlock_restrict_self, ruleset, 0) == 0 ? 0 : errno;
}

void give_up_new_privileges() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    throw Error(fmt::format("cannot give up new privileges: {}", std::strerror(errno)));
}

// Denied whatever their arguments are. Names, because older libseccomp does not know the newest ones.
constexpr const char* denied_calls[] = {
    // network
    "socket", "connect", "bind", "listen", "accept", "accept4",
    // other processes
    "execveat", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_open", "pidfd_getfd",
    "pidfd_send_signal", "kcmp", "setns", "unshare", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "setpriority",
    "sched_setscheduler", "sched_setattr", "ioprio_set",
    // the file system
    "mknod", "mknodat", "chown", "fchown", "lchown", "fchownat", "setxattr", "lsetxattr", "fsetxattr", "removexattr",
    "lremovexattr", "fremovexattr", "open_by_handle_at", "name_to_handle_at", "inotify_init", "inotify_init1",
    "fanotify_init", "mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen", "fsmount",
    "fspick", "mount_setattr",
    // the kernel
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register", "keyctl",
    "add_key", "request_key", "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot",
    "swapon", "swapoff", "acct", "quotactl", "syslog", "settimeofday", "clock_settime", "adjtimex", "clock_adjtime",
    "sethostname", "setdomainname", "iopl", "ioperm", "personality", "modify_ldt", "vhangup", "nfsservctl", "setuid",
    "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "capset"};

// Denied unless there is a scratch folder, to which Landlock, or a file system of its own, then keeps them.
constexpr const char* file_changes[] = {"creat",     "truncate", "unlink",    "unlinkat", "rename",    "renameat",
                                        "renameat2", "link",     "linkat",    "symlink",  "symlinkat", "mkdir",
                                        "mkdirat",   "rmdir",    "chmod",     "fchmod",   "fchmodat",  "fchmodat2",
                                        "utime",     "utimes",   "utimensat", "futimesat"};

// Denied unless processes are allowed; tools that compile put theirs into groups.
constexpr const char* process_calls[] = {"fork", "vfork", "setpgid", "setsid"};

class SeccompFilter {
 public:
  SeccompFilter() : context_(::seccomp_init(SCMP_ACT_ALLOW), &::seccomp_release) {
    if (!context_) throw Error("cannot make a system call filter");
    // The compiler and the runner may already have threads; the filter is for all of them.
    check(::seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_TSYNC, 1));
  }

  template <class... Conditions>
  void deny(const char* name, int error_number, Conditions... conditions) {
    const int number = ::seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR) return;
    const std::array<scmp_arg_cmp, sizeof...(conditions)> list{conditions...};
    check(::seccomp_rule_add_array(context_.get(), SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error_number)), number,
                                   static_cast<unsigned>(list.size()), list.data()));
  }

  void load() { check(::seccomp_load(context_.get())); }

 private:
  static void check(int result) {
    if (result < 0) throw Error(fmt::format("cannot install a system call filter: {}", std::strerror(-result)));
  }
  std::unique_ptr<void, decltype(&::seccomp_release)> context_;
};

scmp_arg_cmp has_bits(unsigned argument, std::uint64_t mask, std::uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

// Flags of open are argument 1, of openat argument 2.
void deny_opening(SeccompFilter& filter, bool allow_read_write) {
  for (const auto& [name, argument] : {std::pair{"open", 1u}, std::pair{"openat", 2u}}) {
    filter.deny(name, EACCES, has_bits(argument, O_CREAT, O_CREAT));
    filter.deny(name, EACCES, has_bits(argument, O_TRUNC, O_TRUNC));
    filter.deny(name, EACCES, has_bits(argument, O_TMPFILE & ~O_DIRECTORY, O_TMPFILE & ~O_DIRECTORY));
    if (allow_read_write) continue;
    filter.deny(name, EACCES, has_bits(argument, O_ACCMODE, O_WRONLY));
    filter.deny(name, EACCES, has_bits(argument, O_ACCMODE, O_RDWR));
  }
}

void deny_new_processes(SeccompFilter& filter, bool allow_threads, bool allow_processes) {
  filter.deny("clone3", ENOSYS);  // likewise: its flags lie in memory, and libc falls back to clone
  if (allow_processes) {
    for (const std::uint64_t space : {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET})
      filter.deny("clone", EPERM, has_bits(0, space, space));
    return;
  }
  for (const char* name : process_calls) filter.deny(name, EPERM);
  if (allow_threads) {
    filter.deny("clone", EPERM, has_bits(0, CLONE_THREAD, 0));
  } else {
    filter.deny("clone", EPERM);
  }
}

}  // namespace

int landlock_abi() {
  const long version = ::syscall(syscall_landlock_create_ruleset, nullptr, 0, landlock_version_flag);
  return version < 0 ? 0 : static_cast<int>(version);
}

SandboxReport restrict_paths(const SandboxPolicy& policy) {
  const SandboxReport report{landlock_abi()};
  if (report.landlock_abi == 0) return report;
  const UniqueFd ruleset = make_ruleset(policy, report.landlock_abi);
  // The others first: afterwards they would be outside this thread's reach.
  if (policy.every_thread) run_in_other_threads(&restrict_this_thread, ruleset.get());
  if (const int problem = restrict_this_thread(ruleset.get()))
    throw Error(fmt::format("Landlock cannot restrict this process: {}", std::strerror(problem)));
  return report;
}

void restrict_system_calls(const SandboxPolicy& policy) {
  give_up_new_privileges();
  SeccompFilter filter;
  for (const char* name : denied_calls) filter.deny(name, EPERM);
  if (!policy.allow_exec) filter.deny("execve", EPERM);
  if (policy.scratch.empty()) {
    for (const char* name : file_changes) filter.deny(name, EPERM);
    deny_opening(filter, !policy.writable.empty());
  }
  filter.deny("openat2", ENOSYS);  // its flags lie in memory, where a filter cannot look; libc falls back to openat
  deny_new_processes(filter, policy.allow_threads, policy.allow_processes);
  // Signals only to ourselves (abort), limits only read: the parent runs under the same user.
  const auto self = static_cast<scmp_datum_t>(::getpid());
  filter.deny("kill", EPERM, scmp_arg_cmp{0, SCMP_CMP_NE, self, 0});
  filter.deny("tgkill", EPERM, scmp_arg_cmp{0, SCMP_CMP_NE, self, 0});
  filter.deny("setrlimit", EPERM);
  filter.deny("prlimit64", EPERM, scmp_arg_cmp{2, SCMP_CMP_NE, 0, 0});
  filter.load();
}

SandboxReport restrict_this_process(const SandboxPolicy& policy) {
  const SandboxReport report = restrict_paths(policy);
  restrict_system_calls(policy);
  return report;
}

}  // namespace cudal1
