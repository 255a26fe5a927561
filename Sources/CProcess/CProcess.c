// `prctl` takes a variable number of arguments, which Swift cannot pass.
#include "CProcess.h"
#include <sys/resource.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

void CProcessForbidDumps(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_CORE, &limit) == 0) {
        limit.rlim_cur = 0;
        (void)setrlimit(RLIMIT_CORE, &limit);
    }
#ifdef __linux__
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

int CProcessIsDumpable(void) {
#ifdef __linux__
    return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0;
#else
    struct rlimit limit;
    return getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_cur != 0;
#endif
}
