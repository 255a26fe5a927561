#pragma once

/// Keeps the memory of this process out of core dumps and, on Linux, from debuggers of the same user.
///
/// Programs that it starts are not affected, but for the soft limit of their core dumps.
void CProcessForbidDumps(void);

/// Whether the process may be dumped and debugged.
int CProcessIsDumpable(void);
