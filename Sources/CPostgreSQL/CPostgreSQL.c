#include "CPostgreSQL.h"
#include <dlfcn.h>
#include <stddef.h>

CPostgreSQLLoading CPostgreSQLLoad(const char *file, CPostgreSQLFunctions *functions) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return CPostgreSQLMissing;
    functions->handle = library;
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

int CPostgreSQLLoadsRevocationList(const CPostgreSQLFunctions *functions, const char *file) {
    if (functions->handle == NULL) return -1;
    // Found among what libpq has loaded with it.
    void *(*make)(void) = (void *(*)(void))dlsym(functions->handle, "X509_STORE_new");
    void (*drop)(void *) = (void (*)(void *))dlsym(functions->handle, "X509_STORE_free");
    int (*load)(void *, const char *, const char *) =
        (int (*)(void *, const char *, const char *))dlsym(functions->handle, "X509_STORE_load_locations");
    void (*forgetErrors)(void) = (void (*)(void))dlsym(functions->handle, "ERR_clear_error");
    if (make == NULL || drop == NULL || load == NULL || forgetErrors == NULL) return -1;
    void *store = make();
    if (store == NULL) return -1;
    int isLoaded = load(store, file, NULL) == 1;
    drop(store);
    forgetErrors();
    return isLoaded;
}
