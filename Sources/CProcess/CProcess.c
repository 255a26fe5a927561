// `prctl`, `ioctl` and `syscall` take a variable number of arguments, which Swift cannot pass; `pipe2` and
// `posix_spawn_file_actions_addclosefrom_np` are not in Swift's view of the library.
#ifdef __linux__
#define _GNU_SOURCE
#endif
#include "CProcess.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

/// 0 where there is nothing to restore.
static rlim_t dumpLimit = 0;

void CProcessForbidDumps(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_CORE, &limit) == 0) {
        if (limit.rlim_cur != 0) dumpLimit = limit.rlim_cur;
        limit.rlim_cur = 0;
        (void)setrlimit(RLIMIT_CORE, &limit);
    }
#ifdef __linux__
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

void CProcessRestoreDumpLimit(void) {
    struct rlimit limit;
    if (dumpLimit == 0 || getrlimit(RLIMIT_CORE, &limit) != 0) return;
    limit.rlim_cur = dumpLimit;
    (void)setrlimit(RLIMIT_CORE, &limit);
}

int CProcessPipe(int ends[2]) {
#ifdef __linux__
    return pipe2(ends, O_CLOEXEC);
#else
    if (pipe(ends) != 0) return -1;
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
#endif
}

#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 34)
#define CPROCESS_CLOSES_FROM
#endif
#endif

#ifdef CPROCESS_CLOSES_FROM
int CProcessCloseOthers(void *actions) {
    return posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
}
#elif defined(__linux__)
int CProcessCloseOthers(void *actions) {
    int failure = 0;
    DIR *open = opendir("/proc/self/fd");
    if (open != NULL) {
        struct dirent *entry;
        while (failure == 0 && (entry = readdir(open)) != NULL) {
            int file = atoi(entry->d_name);
            if (file > STDERR_FILENO) failure = posix_spawn_file_actions_addclose(actions, file);
        }
        (void)closedir(open);
        return failure;
    }
    long limit = sysconf(_SC_OPEN_MAX);
    for (int file = STDERR_FILENO + 1; failure == 0 && file < limit; file++) {
        // The limit may be a million, and each action takes memory.
        if (fcntl(file, F_GETFD) >= 0) failure = posix_spawn_file_actions_addclose(actions, file);
    }
    return failure;
}
#else
int CProcessCloseOthers(void *actions) {
    (void)actions;
    return 0;
}
#endif

static _Atomic(pid_t) heldGroups[8];
static const int heldGroupCount = sizeof heldGroups / sizeof *heldGroups;
static const int endingSignals[] = {SIGINT, SIGTERM, SIGHUP};

void CProcessEnd(int number) {
    for (int index = 0; index < heldGroupCount; index++) {
        pid_t group = atomic_load(&heldGroups[index]);
        if (group > 1) (void)kill(-group, number);
    }
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

/// Puts one handler of the signals in the place of another, and leaves every third one alone.
static void replaceHandlers(void (*old)(int), void (*new)(int)) {
    for (size_t index = 0; index < sizeof endingSignals / sizeof *endingSignals; index++) {
        struct sigaction action;
        if (sigaction(endingSignals[index], NULL, &action) != 0) continue;
        if ((action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == old) (void)signal(endingSignals[index], new);
    }
}

int CProcessHoldGroup(int group) {
    for (int index = 0; index < heldGroupCount; index++) {
        pid_t none = 0;
        if (!atomic_compare_exchange_strong(&heldGroups[index], &none, group)) continue;
        replaceHandlers(SIG_DFL, CProcessEnd);
        return index;
    }
    return -1;
}

void CProcessReleaseGroup(int number) {
    if (number < 0) return;
    atomic_store(&heldGroups[number], 0);
    for (int index = 0; index < heldGroupCount; index++) {
        if (atomic_load(&heldGroups[index]) != 0) return;
    }
    replaceHandlers(CProcessEnd, SIG_DFL);
}

/// Opens so many files at once, and closes them.
static int tryFiles(int count) {
    int *files = calloc((size_t)count, sizeof *files);
    if (files == NULL || CProcessPipe(files) != 0) {
        free(files);
        return 0;
    }
    int opened = 2;
    while (opened < count && (files[opened] = fcntl(files[0], F_DUPFD_CLOEXEC, 0)) >= 0) opened++;
    for (int index = 0; index < opened; index++) (void)close(files[index]);
    free(files);
    return opened == count;
}

int CProcessCanOpen(int count) {
    if (tryFiles(count)) return 1;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    rlim_t wanted = limit.rlim_max < 1024 ? limit.rlim_max : 1024;
    if (limit.rlim_cur >= wanted) return 0;
    limit.rlim_cur = wanted;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 && tryFiles(count);
}

/// A thread that ends once the mutex is free.
static void *waitFor(void *mutex) {
    (void)pthread_mutex_lock(mutex);
    (void)pthread_mutex_unlock(mutex);
    return NULL;
}

int CProcessCanStart(int count) {
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    if (threads == NULL) return 0;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    (void)pthread_mutex_lock(&mutex);
    int started = 0;
    while (started < count && pthread_create(&threads[started], NULL, waitFor, &mutex) == 0) started++;
    (void)pthread_mutex_unlock(&mutex);
    for (int index = 0; index < started; index++) (void)pthread_join(threads[index], NULL);
    (void)pthread_mutex_destroy(&mutex);
    free(threads);
    return started == count;
}

int CProcessIsDumpable(void) {
#ifdef __linux__
    return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0;
#else
    struct rlimit limit;
    return getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_cur != 0;
#endif
}

int CProcessRenameExclusively(const char *from, const char *to) {
#if defined(__linux__) && defined(SYS_renameat2)
    // RENAME_NOREPLACE is 1.
    if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS && errno != EPERM) return -1;
#elif defined(RENAME_EXCL)
    if (renamex_np(from, to, RENAME_EXCL) == 0) return 0;
    if (errno != ENOTSUP && errno != EINVAL) return -1;
#endif
    // A file system that has no such renaming, as one on another machine, may still have a second name in one step.
    if (link(from, to) == 0) return unlink(from);
    if (errno == EEXIST) return -1;
    struct stat status;
    if (lstat(to, &status) == 0) {
        errno = EEXIST;
        return -1;
    }
    return errno == ENOENT ? rename(from, to) : -1;
}

int CProcessWriteInPlace(int file) {
#ifdef __linux__
    // FS_IOC_GETFLAGS, FS_NOCOW_FL and FS_IOC_SETFLAGS of the kernel's header.
    int flags = 0;
    if (ioctl(file, _IOR('f', 1, long), &flags) != 0) return -1;
    flags |= 0x00800000;
    return ioctl(file, _IOW('f', 2, long), &flags);
#else
    (void)file;
    errno = ENOTSUP;
    return -1;
#endif
}
