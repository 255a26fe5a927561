#pragma once

/// Keeps the memory of this process out of core dumps and, on Linux, from debuggers of the same user.
///
/// Programs that it starts are not affected, but for the soft limit of their core dumps.
void CProcessForbidDumps(void);

/// Gives that limit the value back that it had, for the program that takes the place of this one.
///
/// On Linux this process stays without core dumps.
void CProcessRestoreDumpLimit(void);

/// A pipe whose ends no program inherits; where the system can, not even one that another thread starts just now.
///
/// Returns 0, or -1 with `errno` set.
int CProcessPipe(int ends[2]);

/// Adds to a `posix_spawn_file_actions_t` that the program gets none of this process's descriptors but the first three.
///
/// Returns 0 or an error number. On Darwin this is a flag of the start, and nothing is done here.
int CProcessCloseOthers(void *actions);

/// Has a group of processes get SIGINT, SIGTERM and SIGHUP too where these end this process, as nothing else has been
/// arranged for them.
///
/// Returns a number for `CProcessReleaseGroup`, or -1 where there are too many groups.
int CProcessHoldGroup(int group);
void CProcessReleaseGroup(int number);

/// Ends this process by a signal, which the groups get too. A handler of signals may call it.
void CProcessEnd(int number);

/// Whether so many more files, two or more, can be open at once.
///
/// The soft limit is raised for that where the hard one allows it, but no further than what `select` can take, as a
/// program that is started later inherits it.
int CProcessCanOpen(int count);

/// Whether so many more threads can run at once.
int CProcessCanStart(int count);

/// Whether the process may be dumped and debugged.
int CProcessIsDumpable(void);

/// Gives a file another name, which nothing may have.
///
/// Returns 0, or -1 with `errno` set: EEXIST if there is something under that name.
int CProcessRenameExclusively(const char *from, const char *to);

/// Has changes to an empty file written in its place, where the file system would write them elsewhere (btrfs).
///
/// Returns 0, or -1 with `errno` set.
int CProcessWriteInPlace(int file);
