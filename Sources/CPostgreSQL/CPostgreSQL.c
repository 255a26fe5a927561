#include "CPostgreSQL.h"
#include <dlfcn.h>
#include <stddef.h>

CPostgreSQLLoading CPostgreSQLLoad(const char *file, CPostgreSQLFunctions *functions) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return CPostgreSQLMissing;
#define CPOSTGRESQL_LOAD(result, name, arguments)                                                                      \
    {                                                                                                                  \
        void *address = dlsym(library, #name);                                                                         \
        if (address == NULL) return CPostgreSQLIncomplete;                                                             \
        functions->name = (result(*) arguments)address;                                                                \
    }
    CPOSTGRESQL_FUNCTIONS(CPOSTGRESQL_LOAD)
#undef CPOSTGRESQL_LOAD
    return CPostgreSQLLoaded;
}
