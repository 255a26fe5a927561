#include "include/FaultInjection.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    sqlite3_file head;
    sqlite3_file *real;
} FaultFile;

// One thread uses the store while faults are armed.
static struct {
    int count, target, kind, is_lasting, has_struck;
} plan;

static sqlite3_vfs *real_vfs;
static sqlite3_vfs fault_vfs;

void fault_arm(int n, int kind, int lasting) {
    plan.count = 0;
    plan.target = n;
    plan.kind = kind;
    plan.is_lasting = lasting;
    plan.has_struck = 0;
}

int fault_disarm(void) {
    plan.target = 0;
    return plan.count;
}

int fault_has_struck(void) { return plan.has_struck; }

/// SQLITE_OK, or what this operation fails with.
static int strike(int io_error) {
    if (!plan.target) return SQLITE_OK;
    plan.count++;
    if (plan.is_lasting ? plan.count < plan.target : plan.count != plan.target) return SQLITE_OK;
    plan.has_struck = 1;
    if (plan.kind == FAULT_DISK_FULL) return SQLITE_FULL;
    return plan.kind == FAULT_READ_ONLY ? SQLITE_READONLY : io_error;
}

static sqlite3_file *real(sqlite3_file *file) { return ((FaultFile *)file)->real; }

static int fault_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    int fault = strike(SQLITE_IOERR_WRITE);
    if (fault != SQLITE_OK) {
        // A disk that fails may have written a part.
        if (count > 1 && plan.kind != FAULT_READ_ONLY) real(file)->pMethods->xWrite(real(file), bytes, count / 2, offset);
        return fault;
    }
    return real(file)->pMethods->xWrite(real(file), bytes, count, offset);
}

static int fault_sync(sqlite3_file *file, int flags) {
    int fault = strike(SQLITE_IOERR_FSYNC);
    return fault != SQLITE_OK ? fault : real(file)->pMethods->xSync(real(file), flags);
}

static int fault_truncate(sqlite3_file *file, sqlite3_int64 size) {
    int fault = strike(SQLITE_IOERR_TRUNCATE);
    return fault != SQLITE_OK ? fault : real(file)->pMethods->xTruncate(real(file), size);
}

static int fault_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **memory) {
    // A real file system reports no other error here; SQLITE_READONLY would promise a mapping.
    int fault = strike(SQLITE_IOERR_SHMMAP) == SQLITE_OK ? SQLITE_OK : SQLITE_IOERR_SHMMAP;
    return fault != SQLITE_OK ? fault : real(file)->pMethods->xShmMap(real(file), page, size, extend, memory);
}

static int fault_close(sqlite3_file *file) {
    int result = real(file)->pMethods->xClose(real(file));
    sqlite3_free(real(file));
    return result;
}

static int fault_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    return real(file)->pMethods->xRead(real(file), bytes, count, offset);
}

static int fault_size(sqlite3_file *file, sqlite3_int64 *size) {
    return real(file)->pMethods->xFileSize(real(file), size);
}

static int fault_lock(sqlite3_file *file, int level) { return real(file)->pMethods->xLock(real(file), level); }

static int fault_unlock(sqlite3_file *file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }

static int fault_reserved(sqlite3_file *file, int *out) {
    return real(file)->pMethods->xCheckReservedLock(real(file), out);
}

static int fault_control(sqlite3_file *file, int operation, void *argument) {
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int fault_sector_size(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }

static int fault_characteristics(sqlite3_file *file) {
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static int fault_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}

static void fault_shm_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }

static int fault_shm_unmap(sqlite3_file *file, int delete) {
    return real(file)->pMethods->xShmUnmap(real(file), delete);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = fault_close,
    .xRead = fault_read,
    .xWrite = fault_write,
    .xTruncate = fault_truncate,
    .xSync = fault_sync,
    .xFileSize = fault_size,
    .xLock = fault_lock,
    .xUnlock = fault_unlock,
    .xCheckReservedLock = fault_reserved,
    .xFileControl = fault_control,
    .xSectorSize = fault_sector_size,
    .xDeviceCharacteristics = fault_characteristics,
    .xShmMap = fault_shm_map,
    .xShmLock = fault_shm_lock,
    .xShmBarrier = fault_shm_barrier,
    .xShmUnmap = fault_shm_unmap,
};

static int fault_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags) {
    (void)vfs;
    FaultFile *opened = (FaultFile *)file;
    opened->head.pMethods = NULL;
    opened->real = sqlite3_malloc(real_vfs->szOsFile);
    if (!opened->real) return SQLITE_NOMEM;
    memset(opened->real, 0, (size_t)real_vfs->szOsFile);
    int result = real_vfs->xOpen(real_vfs, name, opened->real, flags, out_flags);
    if (result != SQLITE_OK) {
        sqlite3_free(opened->real);
        return result;
    }
    opened->head.pMethods = &methods;
    return SQLITE_OK;
}

int fault_install(void) {
    if (real_vfs) return 1;
    sqlite3_vfs *found = sqlite3_vfs_find(NULL);
    if (!found) return 0;
    fault_vfs = *found;
    fault_vfs.zName = "fault";
    fault_vfs.szOsFile = (int)sizeof(FaultFile);
    fault_vfs.xOpen = fault_open;
    fault_vfs.pNext = NULL;
    real_vfs = found;
    return sqlite3_vfs_register(&fault_vfs, 1) == SQLITE_OK;
}
